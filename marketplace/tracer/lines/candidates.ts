import type { Areas } from "../regions/areas.ts";

export interface Candidate {
  readonly area: number;
  /** Its pixels in the map of areas. */
  readonly places: Int32Array;
}

/** Areas of one opaque colour that are long for what they cover. */
export function thinAreas(
  { map, opaque, sloped, empty, background, paints }: Areas,
  widest: number,
): {
  candidates: Candidate[];
  /** 1 for areas too narrow to be anything's ground. */
  isNarrow: Uint8Array;
} {
  const { areas, stride, width, height, count, sizes } = map;
  const sides = new Int32Array(count);
  const least = new Int32Array(count * 2).fill(stride * height);
  const most = new Int32Array(count * 2).fill(-1);
  for (let y = 0; y < height; y++) {
    for (let x = 0, q = (y + 1) * stride + 1; x < width; x++, q++) {
      const area = areas[q];
      if (areas[q - 1] !== area) sides[area]++;
      if (areas[q + 1] !== area) sides[area]++;
      if (areas[q - stride] !== area) sides[area]++;
      if (areas[q + stride] !== area) sides[area]++;
      if (x < least[area * 2]) least[area * 2] = x;
      if (x > most[area * 2]) most[area * 2] = x;
      if (y < least[area * 2 + 1]) least[area * 2 + 1] = y;
      if (y > most[area * 2 + 1]) most[area * 2 + 1] = y;
    }
  }
  const boxes = { least, most };
  const isThin = new Uint8Array(count);
  const isNarrow = Uint8Array.from(sides, (n, a) => (2 * sizes[a] < narrowMax * n ? 1 : 0));
  let found = 0;
  for (let a = 0; a < count; a++) {
    if (opaque[a] === 0 || sloped[a] === 1 || empty[a] === 1 || background?.areas[a] === 1) continue;
    if (sides[a] ** 2 < longMin * sizes[a] || 2 * sizes[a] > widest * sides[a]) continue;
    if (Math.max(most[a * 2] - least[a * 2], most[a * 2 + 1] - least[a * 2 + 1]) < lengthMin - 1) continue;
    if (isLetter(a, boxes, paints, count)) continue;
    isThin[a] = 1;
    found++;
  }
  if (found === 0 || found > candidatesMax) return { candidates: [], isNarrow };
  const places = new Map<number, number[]>();
  for (let q = stride; q < areas.length - stride; q++) {
    const area = areas[q];
    if (area < 0 || isThin[area] === 0) continue;
    const list = places.get(area);
    if (list) list.push(q);
    else places.set(area, [q]);
  }
  return { candidates: Array.from(places, ([area, list]) => ({ area, places: Int32Array.from(list) })), isNarrow };
}

/** Whether areas of the same paint and about as high stand close beside it, on both sides or two on one. */
function isLetter(
  area: number,
  { least, most }: { readonly least: Int32Array; readonly most: Int32Array },
  paints: Int32Array,
  count: number,
): boolean {
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
    const gap = Math.max(l - right, left - r);
    if (gap < 0.45 * high) near += 1;
    else if (gap < 1.6 * high) near += 0.5;
  }
  return near >= 1.5;
}

/** Higher ones are no letters, px. */
const letterMax = 60;
const narrowMax = 3;
/** How long an area is: its sides, squared, by its pixels; 16 for a square, 21 for a disc, 36 for a bar of one to seven. */
const longMin = 32;
/** Shorter ones are letters, px. */
const lengthMin = 16;
/** With more of them than this it is no drawing of lines. */
const candidatesMax = 600;
