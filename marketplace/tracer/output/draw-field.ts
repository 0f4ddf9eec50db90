import type { Element, Fill, Group } from "../drawing.ts";
import type { Field, Line } from "../regions/field.ts";

/**
 * A field as elements: between two of its lines the first's gradient, and over it the second's, faded in. All first
 * gradients come before all second ones and begin a pixel early, so that no seam shows at any scale.
 */
export function drawField(field: Field): Group {
  const { direction, left, top, right, bottom, lines } = field;
  const box = (from: number, to: number) =>
    direction === "across"
      ? { kind: "rect" as const, x: left, y: from, width: right - left, height: to - from }
      : { kind: "rect" as const, x: from, y: top, width: to - from, height: bottom - top };
  const fills = lines.map((line) => fillOf(line, field));
  const under: Element[] = [];
  const over: Element[] = [];
  const fade = direction === "across" ? "down" : "across";
  for (let i = 1; i < lines.length; i++) {
    const [from, to] = [lines[i - 1].at, lines[i].at];
    under.push({ fill: fills[i - 1], shape: box(i > 1 ? from - 1 : from, to) });
    over.push({ fill: fills[i], shape: box(from, to), fade });
  }
  return { id: "field", elements: [...under, ...over] };
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
