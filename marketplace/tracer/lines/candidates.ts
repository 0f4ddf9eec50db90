import type { Areas } from "../regions/areas.ts";
import type { AreaMap } from "../regions/components.ts";
import type { Measures } from "./measure.ts";

type Boxes = Pick<Measures, "least" | "most">;

export interface Candidate {
  readonly area: number;
  /** Its pixels in the map of areas. */
  readonly places: Int32Array;
}

/** 1 for areas too narrow to be anything's ground. */
export function narrowAreas({ map: { sizes } }: Areas, { sides }: Measures): Uint8Array {
  return Uint8Array.from(sides, (n, a) => (2 * sizes[a] < narrowMax * n ? 1 : 0));
}

/** What is known of areas: those in a run of text are no strokes, and pieces of one line are no letters beside each other. */
interface Known {
  readonly isText: (area: number) => boolean;
  readonly isPiece: (area: number) => boolean;
}

export interface Sizes {
  /** px. */
  readonly widest: number;
  /** Least length, counted as for `longMin`. */
  readonly shortest?: number;
}

/** Areas of one opaque colour that are long for what they cover, in the order in which they begin. */
export function thinAreas(
  { map, opaque, sloped, empty, background, paints }: Areas,
  measures: Measures,
  { widest, shortest = longMin }: Sizes,
  { isText, isPiece }: Known,
): Candidate[] {
  const { sides, least, most } = measures;
  const { count, sizes } = map;
  const found: number[] = [];
  for (let a = 0; a < count; a++) {
    if (opaque[a] === 0 || sloped[a] === 1 || empty[a] === 1 || background?.areas[a] === 1) continue;
    if (sides[a] ** 2 < shortest * sizes[a] || 2 * sizes[a] > widest * sides[a]) continue;
    const [wide, high] = [most[a * 2] - least[a * 2] + 1, most[a * 2 + 1] - least[a * 2 + 1] + 1];
    if (Math.max(wide, high) < lengthMin) continue;
    // A wide bar is a rectangle.
    if (wide * high === sizes[a] && Math.min(wide, high) > barMax) continue;
    if (isText(a) || (!isPiece(a) && isLetter(a, measures, paints, count))) continue;
    found.push(a);
  }
  if (found.length > candidatesMax) return [];
  return found.map((area) => ({ area, places: placesOf(map, area, measures) }));
}
/** Whether areas of the same paint and about as high stand close beside it, on both sides or two on one. */
function isLetter(area: number, { least, most }: Boxes, paints: Int32Array, count: number): boolean {
  const [left, top, right, bottom] = [least[area * 2], least[area * 2 + 1], most[area * 2], most[area * 2 + 1]];
  const high = bottom - top + 1;
  if (paints[area] < 0 || high > letterMax || right - left > 3 * high) return false;
  let near = 0;
  for (let a = 0; a < count; a++) {
    if (a === area || paints[a] !== paints[area]) continue;
    const [l, t, r, b] = [least[a * 2], least[a * 2 + 1], most[a * 2], most[a * 2 + 1]];
    const tall = b - t + 1;
    if (tall < 0.5 * high || tall > 2 * high || Math.min(b, bottom) - Math.max(t, top) < 0.6 * Math.min(tall, high))
      continue;
    // Letters of a line stand on it or reach up to it.
    if (Math.min(Math.abs(b - bottom), Math.abs(t - top)) > 0.12 * high) continue;
    const gap = Math.max(l - right, left - r);
    if (gap < 0.3 * high) near += 1;
    else if (gap < 0.8 * high) near += 0.5;
  }
  return near >= 1.5;
}

/** An area's pixels; only its box is searched. */
function placesOf({ areas, stride, sizes }: AreaMap, area: number, { least, most }: Boxes): Int32Array {
  const places = new Int32Array(sizes[area]);
  for (let y = least[area * 2 + 1], n = 0; y <= most[area * 2 + 1]; y++) {
    const row = (y + 1) * stride + 1;
    const end = row + most[area * 2];
    for (let q = row + least[area * 2]; q <= end; q++) if (areas[q] === area) places[n++] = q;
  }
  return places;
}

/** Higher ones are no letters, px. */
const letterMax = 60;
const narrowMax = 3;
/** The widest bar that may be a stroke by itself, px. */
const barMax = 8;
/** How long an area is: its sides, squared, by its pixels; 16 for a square, 21 for a disc, 36 for a bar of one to seven. */
const longMin = 25;
/** The least length of strokes where others of their width and paint are. */
export const shortMin = 18;
/** Shorter ones are letters, px. */
const lengthMin = 16;
/** With more of them than this it is no drawing of lines. */
const candidatesMax = 600;
