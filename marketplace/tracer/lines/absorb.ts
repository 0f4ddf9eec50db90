import type { AreaMap } from "../regions/components.ts";
import { coverPicture } from "./cover.ts";
import type { LiftedStroke } from "./lines.ts";
import type { State } from "./state.ts";

/** Gives small areas that lie wholly on a stroke, in its colour, to it: pieces of it between things that lie over it. */
export function absorb(
  { areas: { map, planes, opaque, sloped, paints }, at }: State,
  strokes: readonly LiftedStroke[],
  source: Uint8Array,
): boolean {
  const { nearest: cover, distance } = coverPicture(strokes, map.width, map.height);
  const colourOff = (stroke: number, levelOf: (channel: number) => number) => {
    const { r, g, b } = strokes[stroke].stroke.colour;
    return Math.max(...[r, g, b].map((level, c) => Math.abs(level - levelOf(c))));
  };
  const covered = new Int32Array(map.count);
  const owner = new Int32Array(map.count).fill(-1);
  for (let p = 0; p < at.length; p++) {
    const area = map.flat[p];
    // Between the dashes of a line lies none of it.
    if (cover[p] >= 0 && strokes[cover[p]].stroke.dashes) continue;
    if (at[p] >= 0 || cover[p] < 0 || map.sizes[area] > pieceMax || opaque[area] === 0 || sloped[area] === 1) continue;
    if (colourOff(cover[p], (c) => planes[area * 12 + c * 3]) > pieceOffMax) continue;
    covered[area]++;
    owner[area] = cover[p];
  }
  // A marker is of the line's colour beside the line, too.
  const beside = new Int32Array(map.count);
  for (let p = 0; p < at.length; p++) {
    const stroke = owner[map.flat[p]];
    if (stroke >= 0 && at[p] < 0 && distance[p] > besideMin && colourOff(stroke, (c) => source[p * 4 + c]) <= inkOffMax)
      beside[map.flat[p]]++;
  }
  let some = giveSlivers(map, paints, at, cover);
  for (let p = 0; p < at.length; p++) {
    const area = map.flat[p];
    if (at[p] >= 0 || owner[area] < 0 || covered[area] < pieceShareMin * map.sizes[area] || beside[area] > 2) continue;
    at[p] = cover[p] >= 0 ? cover[p] : owner[area];
    some = true;
  }
  return some;
}

/** Gives slivers between strokes to these: areas of a few pixels, all of them blends at the edges of two or more. */
function giveSlivers(
  { flat, sizes, count, width }: AreaMap,
  paints: Int32Array,
  at: Int32Array,
  cover: Int32Array,
): boolean {
  // An area with the paint of something large is no blend, but the inside of a ring.
  const isPaint = new Set(paints.filter((paint, area) => paint >= 0 && sizes[area] > sliverMax));
  const beside = Array.from({ length: count }, () => new Set<number>());
  const isClear = new Uint8Array(count);
  for (let p = 0; p < at.length; p++) {
    const area = flat[p];
    if (sizes[area] > sliverMax || isClear[area] === 1) continue;
    if (cover[p] < 0 || isPaint.has(paints[area])) isClear[area] = 1;
    for (const q of [p, p - 1, p + 1, p - width, p + width]) if (cover[q] >= 0) beside[area].add(cover[q]);
  }
  let some = false;
  for (let p = 0; p < at.length; p++) {
    const area = flat[p];
    if (at[p] >= 0 || cover[p] < 0 || sizes[area] > sliverMax || isClear[area] === 1 || beside[area].size < 2) continue;
    at[p] = cover[p];
    some = true;
  }
  return some;
}

const sliverMax = 40;

/** How far from a stroke's edge nothing of a pixel is its, px. */
const besideMin = 0.55;
/** How far the colour of a pixel may be from a stroke's that is no blend, levels. */
const inkOffMax = 16;
/** How much of a piece must lie on the stroke: what lies over its ends leaves blends beside it. */
const pieceShareMin = 0.6;
/** How far its colour may be from the stroke's, levels: it may be mostly blends. */
const pieceOffMax = 40;
/** Largest piece of a stroke that is not found by itself, px. */
const pieceMax = 200;
