import { type Colour, type Fill, type Stop, straight } from "../drawing.ts";
import type { Radial } from "../regions/radial-fit.ts";

/**
 * Step 7: an area's plane as something SVG can draw: one colour, or a linear gradient along the direction in which the
 * four channels together change most, from one end of the area to the other.
 *
 * `extent` is the area's outline as x, y pairs in px, relative to the picture's centre like the plane.
 */
export function planeFill(planes: Float64Array, area: number, sloped: boolean, extent: Extent): Fill {
  const at = area * 12;
  if (!sloped) {
    return { kind: "flat", colour: straight(planes[at], planes[at + 3], planes[at + 6], planes[at + 9]) };
  }
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let i = at; i < at + 12; i += 3) {
    xx += planes[i + 1] ** 2;
    xy += planes[i + 1] * planes[i + 2];
    yy += planes[i + 2] ** 2;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const dx = Math.cos(angle);
  const dy = Math.sin(angle);
  const { from, to, mx, my } = extent(dx, dy);
  const base = mx * dx + my * dy;
  const end = (t: number) => {
    const value = (i: number) => {
      const c = planes[i] + planes[i + 1] * mx + planes[i + 2] * my;
      return c + (planes[i + 1] * dx + planes[i + 2] * dy) * (t - base);
    };
    return straight(value(at), value(at + 3), value(at + 6), Math.max(0, Math.min(255, value(at + 9))));
  };
  const x = (t: number) => mx + dx * (t - base);
  const y = (t: number) => my + dy * (t - base);
  return {
    kind: "linear",
    x1: x(from),
    y1: y(from),
    x2: x(to),
    y2: y(to),
    stops: inSeenColours([
      { offset: 0, colour: end(from) },
      { offset: 1, colour: end(to) },
    ]),
  };
}

/** A radial gradient, or a linear one of several stops, as SVG can draw it, in px of the picture. */
export function radialFill({ cx, cy, r, stops: places, towards }: Radial): Fill {
  const all = Array.from({ length: places.length / 5 }, (_, k) => {
    const [offset, red, green, blue, alpha] = places.subarray(k * 5, k * 5 + 5);
    return { offset: offset, colour: straight(red, green, blue, alpha) };
  });
  const stops = needed(inSeenColours(all));
  const [{ colour }] = stops;
  if (stops.every((stop) => apart(stop.colour, (of) => of(colour)) < levelsMin)) return { kind: "flat", colour };
  if (!towards) return { kind: "radial", cx, cy, r, stops };
  return { kind: "linear", x1: cx, y1: cy, x2: cx + towards.dx * r, y2: cy + towards.dy * r, stops };
}

/**
 * Stops that show nothing in the colour of the next that does: gradients are mixed by straight colour, so a fade towards
 * a transparent black would darken on its way.
 */
function inSeenColours(stops: readonly Stop[]): Stop[] {
  return stops.map((stop, i) => {
    if (stop.colour.opacity > 0) return stop;
    const next = stops[i + 1]?.colour.opacity ? stops[i + 1] : stops[i - 1];
    return { ...stop, colour: { ...(next ?? stop).colour, opacity: 0 } };
  });
}

/** The stops without those that are what lies between their neighbours anyhow. */
function needed(stops: readonly Stop[]): Stop[] {
  const kept = [...stops];
  for (let k = kept.length - 2; k > 0; k--) if (isBetween(kept[k - 1], kept[k], kept[k + 1])) kept.splice(k, 1);
  return kept;
}

function isBetween(before: Stop, stop: Stop, after: Stop): boolean {
  const share = (stop.offset - before.offset) / (after.offset - before.offset);
  return apart(stop.colour, (of) => of(before.colour) * (1 - share) + of(after.colour) * share) < levelsMin;
}

/** How far a colour is from another, of which each channel is known, levels. */
function apart(colour: Colour, other: (of: (colour: Colour) => number) => number): number {
  const off = (of: (colour: Colour) => number) => Math.abs(of(colour) - other(of));
  return Math.max(
    off(({ r }) => r),
    off(({ g }) => g),
    off(({ b }) => b),
    255 * off((c) => c.opacity),
  );
}

/** What a stop must add to be seen, levels. */
const levelsMin = 0.75;

/** Along a unit direction: the least and the greatest reach of the area; and its middle. */
export type Extent = (dx: number, dy: number) => { from: number; to: number; mx: number; my: number };
