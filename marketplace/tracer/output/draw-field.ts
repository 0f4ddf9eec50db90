import { type Element, type Fill, fadedAt, straight } from "../drawing.ts";
import type { Areas } from "../regions/areas.ts";
import type { Field, Line } from "../regions/field.ts";

/** The ground of an opaque picture whose field does not reach everywhere: nothing can show between what lies on it. */
export function drawGround({ left, top, right, bottom }: Field, { map, empty, planes }: Areas): Element[] {
  const { width, height, sizes } = map;
  if (left === 0 && top === 0 && right === width && bottom === height) return [];
  let main = -1;
  for (let a = 0; a < map.count; a++) if (empty[a] === 0 && (main < 0 || sizes[a] > sizes[main])) main = a;
  if (main < 0) return [];
  const colour = straight(planes[main * 12], planes[main * 12 + 3], planes[main * 12 + 6], 255);
  return [{ fill: { kind: "flat", colour }, shape: { kind: "rect", x: 0, y: 0, width, height } }];
}

/**
 * A field as elements, passage by passage: the gradient of the line it comes from, and over it that of the line it leads to,
 * faded in. What has faded in goes on beyond its line, and the next passage begins beneath that: each ends where both sides of
 * its end are one colour, so that no seam shows at any scale.
 */
export function drawField(field: Field): Element[] {
  const { direction, left, top, right, bottom, lines } = field;
  const box = (from: number, to: number) =>
    direction === "across"
      ? { kind: "rect" as const, x: left, y: from, width: right - left, height: to - from }
      : { kind: "rect" as const, x: from, y: top, width: to - from, height: bottom - top };
  const fills = lines.map((line) => fillOf(line, field));
  const fade = direction === "across" ? "down-early" : "across-early";
  const elements: Element[] = [];
  let begin = lines[0].at;
  for (let i = 1; i < lines.length; i++) {
    const [from, to] = [lines[i - 1].at, lines[i].at];
    const beyond = ((to - from) / fadedAt) * (1 - fadedAt);
    elements.push({ fill: fills[i - 1], shape: box(begin, to + beyond) });
    elements.push({ fill: fills[i], shape: box(from, to + beyond), fade });
    begin = to + beyond / 2;
  }
  return elements;
}

function fillOf({ places, colours }: Line, { direction, left, top, right, bottom }: Field): Fill {
  const [begin, end] = direction === "across" ? [left, right] : [top, bottom];
  const stops = places.map((place, i) => ({
    offset: (place - begin) / (end - begin),
    colour: { r: colours[i * 3], g: colours[i * 3 + 1], b: colours[i * 3 + 2], opacity: 1 },
  }));
  const ends = direction === "across" ? { x1: begin, y1: 0, x2: end, y2: 0 } : { x1: 0, y1: begin, x2: 0, y2: end };
  return { kind: "linear", ...ends, stops };
}
