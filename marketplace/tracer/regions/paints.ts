import { eachOverlap } from "../image/runs.ts";
import { stride } from "./colour-model.ts";
import type { AreaMap } from "./components.ts";
import { eachAlone, find, unite } from "./union-find.ts";

/**
 * Gives small flat areas the colour of a larger one nearby in colour where the loss is less than the bytes saved: they
 * become one element. Larger areas first, so that what is big keeps its colour. Changes the planes in place; opaque areas
 * of one flat colour share a number in the result, others have -1.
 */
export function sharePaints(
  sums: Float64Array,
  planes: Float64Array,
  sloped: Uint8Array,
  opaque: Uint8Array,
  worth: number,
): Int32Array {
  const paints = new Int32Array(sloped.length).fill(-1);
  const order = Array.from(sloped, (_, a) => a)
    .filter((a) => sloped[a] === 0 && opaque[a] === 1)
    .sort((a, b) => sums[b * stride] - sums[a * stride] || a - b);
  const bins: Bins = new Map();
  for (const a of order) {
    const distanceMax = Math.min(worth / sums[a * stride], paintDistanceMax ** 2);
    const nearest = nearestPaint(planes, bins, a, distanceMax);
    paints[a] = nearest;
    if (nearest < 0) {
      paints[a] = a;
      addPaint(planes, bins, a);
      continue;
    }
    for (let c = 0; c < 3; c++) planes[a * 12 + c * 3] = planes[nearest * 12 + c * 3];
  }
  return paints;
}

const paintDistanceMax = 20;

/** Paints by colour, in cubes of `paintDistanceMax` levels: the nearest is in an area's own cube or one beside it. */
type Bins = Map<number, number[]>;

const cubes = [-1, 0, 1].flatMap((r) => [-1, 0, 1].flatMap((g) => [-1, 0, 1].map((b) => [r, g, b] as const)));

function cubeOf(planes: Float64Array, area: number, channel: number): number {
  return Math.floor(planes[area * 12 + channel * 3] / paintDistanceMax);
}

function keyOf(r: number, g: number, b: number): number {
  return (r << 16) | (g << 8) | b;
}

/** The nearest of the paints, the last found of equals, at a squared distance of at most `distanceMax`; -1 if there is none. */
function nearestPaint(planes: Float64Array, bins: Bins, area: number, distanceMax: number): number {
  const r = cubeOf(planes, area, 0);
  const g = cubeOf(planes, area, 1);
  const b = cubeOf(planes, area, 2);
  let best = -1;
  let least = distanceMax;
  for (const [dr, dg, db] of cubes) {
    for (const other of bins.get(keyOf(r + dr, g + dg, b + db)) ?? []) {
      let distance = 0;
      for (let c = 0; c < 9; c += 3) distance += (planes[area * 12 + c] - planes[other * 12 + c]) ** 2;
      if (distance > least) continue;
      least = distance;
      best = other;
    }
  }
  return best;
}

function addPaint(planes: Float64Array, bins: Bins, area: number): void {
  const key = keyOf(cubeOf(planes, area, 0), cubeOf(planes, area, 1), cubeOf(planes, area, 2));
  const found = bins.get(key);
  if (found) found.push(area);
  else bins.set(key, [area]);
}

/**
 * A common number for areas that touch, if only at a corner, and share a paint; null if there are none. Not one for all
 * areas of a paint: where two diagonals cross the smaller label passes, and a letter is less than its ground.
 */
export function groupsOfOnePaint(map: AreaMap, paints: Int32Array): Int32Array | null {
  if (paints.every((paint, a) => paint < 0 || paint === a)) return null;
  const { flat, runs, areaOf, width, count } = map;
  const groups = eachAlone(count);
  let found = false;
  const touch = (a: number, b: number) => {
    if (a === b || paints[a] < 0 || paints[a] !== paints[b]) return;
    unite(groups, a, b);
    found = true;
  };
  for (let y = 0; y + 1 < runs.rows.length; y++) {
    for (let run = runs.rows[y] + 1; run < runs.rows[y + 1]; run++) touch(areaOf[run - 1], areaOf[run]);
  }
  eachOverlap(runs, width, (upper, lower, from, to) => {
    const here = areaOf[upper];
    if (areaOf[lower] === here) return;
    touch(here, areaOf[lower]);
    // Where one way round is the same area, the corner is met as a side elsewhere.
    if (to === runs.begins[upper + 1] && to % width > 0) touch(here, flat[to + width]);
    if (from === runs.begins[upper] && from % width > 0) touch(here, flat[from + width - 1]);
  });
  for (let a = 0; a < count; a++) groups[a] = find(groups, a);
  return found ? groups : null;
}
