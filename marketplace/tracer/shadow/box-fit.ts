import { spline } from "../regions/least-squares.ts";
import type { Shadow } from "./field.ts";

/**
 * The rounded box a shadow is of: its opacity is one function of the distance from an inner box, which may be a line or a
 * point (an ellipse). Distances are measured in `rx` to the sides and in `ry` up and down, 1 at the rim.
 */
export interface BoxFit {
  readonly box: Box;
  readonly fade: Fade;
}

/** The inner box's sides x0, x1, y0, y1 in px of the picture, then rx and ry. */
export type Box = Float64Array;

/** Opacity, 0..255, at even distances from the least that is seen up to 1, where it is none. */
export interface Fade {
  readonly from: number;
  readonly values: readonly number[];
  /** What the samples miss it by, root mean square, levels. */
  readonly off: number;
}

/**
 * The plainest rounded box that gives the shadow, its inner sides on whole pixels; null where the shadow is of another
 * shape. Its size is found by pattern search (Hooke & Jeeves 1961), coarse and then fine, the fade is a least-squares
 * linear spline. Work is bounded by a number of samples, steps and rounds.
 */
export function fitBox(shadow: Shadow): BoxFit | null {
  const search = searchIn(shadow);
  let found: BoxFit | null = null;
  for (const family of families) {
    const box = nearest(family, search);
    const fade = box && fadeOf(aligned(box), search.many);
    if (box && fade && (!found || fade.off < found.fade.off)) found = { box: aligned(box), fade };
    if (found && found.fade.off <= offGood) break;
  }
  return found;
}

/** The ellipse that gives the shadow, as a box whose inner box is a point, whatever its fade; null where none is near it. */
export function fitEllipse(shadow: Shadow): Box | null {
  return nearest(families[0], searchIn(shadow));
}

/** A box moved by whole pixels to where another is. */
export function movedOnto({ box, fade }: BoxFit, { box: other }: BoxFit): BoxFit {
  const across = Math.round((other[0] + other[1] - box[0] - box[1]) / 2);
  const down = Math.round((other[2] + other[3] - box[2] - box[3]) / 2);
  const [x0, x1, y0, y1, rx, ry] = box;
  return { box: Float64Array.of(x0 + across, x1 + across, y0 + down, y1 + down, rx, ry), fade };
}

/** What a box misses a shadow by, root mean square, levels. */
export function missedBy({ box, fade: { from, values } }: BoxFit, shadow: Shadow): number {
  const { x, y, alpha } = sample(shadow, 400);
  const steps = values.length - 1;
  const sum = alpha.reduce((total, seen, i) => {
    const at = Math.max(0, Math.min(steps, ((distance(box, x[i], y[i]) - from) / (1 - from)) * steps));
    const k = Math.min(steps - 1, Math.floor(at));
    return total + (values[k] + (values[k + 1] - values[k]) * (at - k) - seen) ** 2;
  }, 0);
  return Math.sqrt(sum / alpha.length);
}

interface Search {
  readonly few: Samples;
  readonly many: Samples;
  readonly starts: readonly Box[];
  /** Px. */
  readonly size: number;
}

function searchIn(shadow: Shadow): Search {
  const size = Math.max(shadow.width, shadow.height);
  return { few: sample(shadow, 120), many: sample(shadow, 400), starts: startBoxes(shadow), size };
}

/** The nearest box of a family; null where it is far. */
function nearest({ across, down, moves }: Family, { few, many, starts, size }: Search): Box | null {
  const begun = starts.map((box) => narrowed(box, across, down));
  const start = begun.reduce((a, b) => (spread(b, few) < spread(a, few) ? b : a));
  const near = bettered(start, moves, few, size / 8, size / 256);
  if (spread(near, few) > offFar ** 2 * few.alpha.length) return null;
  return bettered(near, moves, many, size / 256, stepMin);
}

interface Samples {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly alpha: Float64Array;
  /** Sum of the opacities' squares. */
  readonly squares: number;
}

/**
 * Pixels at which the bare shadow is seen, or that there is none: one from each stretch of them, not at even steps, which
 * would fall in columns.
 */
function sample({ alpha, bare, x, y, width }: Shadow, most: number): Samples {
  let count = 0;
  for (let i = 0; i < bare.length; i++) count += bare[i];
  const n = Math.min(most, count);
  const samples = { x: new Float64Array(n), y: new Float64Array(n), alpha: new Float64Array(n) };
  for (let i = 0, passed = 0, k = 0; k < n; i++) {
    if (bare[i] === 0 || passed++ < Math.floor(((k + ((k * 0.618034) % 1)) * count) / n)) continue;
    samples.x[k] = x + (i % width) + 0.5;
    samples.y[k] = y + Math.floor(i / width) + 0.5;
    samples.alpha[k++] = alpha[i];
  }
  return { ...samples, squares: samples.alpha.reduce((sum, a) => sum + a * a, 0) };
}

/** Boxes to begin from, all as large as the shadow is seen to be. */
function startBoxes({ alpha, bare, x, y, width, height }: Shadow): Box[] {
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      if (bare[i] === 0 || alpha[i] === 0) continue;
      if (column < left) left = column;
      if (column >= right) right = column + 1;
      if (row < top) top = row;
      if (row >= bottom) bottom = row + 1;
    }
  }
  const halfWidth = (right - left) / 2;
  const halfHeight = (bottom - top) / 2;
  const round = Math.min(halfWidth, halfHeight);
  const box = (rx: number, ry: number) =>
    Float64Array.of(x + left + rx, x + right - rx, y + top + ry, y + bottom - ry, rx, ry);
  return [box(halfWidth, halfHeight), box(round, round), box(round / 2, round / 2)];
}

/** The inner box shrunk to a line, or to a point. */
function narrowed(box: Box, across: boolean, down: boolean): Box {
  const out = box.slice();
  for (const [near, radius, narrow] of [
    [0, 4, across],
    [2, 5, down],
  ] as const) {
    if (!narrow) continue;
    const middle = (box[near] + box[near + 1]) / 2;
    out[radius] = box[radius] + box[near + 1] - middle;
    out[near] = middle;
    out[near + 1] = middle;
  }
  return out;
}

/** How far a place lies from the inner box: 0 in it, 1 at the rim. */
export function distance(box: Box, x: number, y: number): number {
  const u = Math.max(box[0] - x, x - box[1], 0) / box[4];
  const v = Math.max(box[2] - y, y - box[3], 0) / box[5];
  return Math.sqrt(u * u + v * v);
}

const rings = 16;
const sums = new Float64Array(rings * 5);

/** Squared error of the samples about a line through each ring of one distance; beyond the rim, about nothing. */
function spread(box: Box, { x, y, alpha, squares }: Samples): number {
  sums.fill(0);
  const x0 = box[0];
  const x1 = box[1];
  const y0 = box[2];
  const y1 = box[3];
  const across = rings / box[4];
  const down = rings / box[5];
  let error = squares;
  for (let i = 0; i < x.length; i++) {
    const a = alpha[i];
    const u = (x[i] < x0 ? x0 - x[i] : x[i] > x1 ? x[i] - x1 : 0) * across;
    const v = (y[i] < y0 ? y0 - y[i] : y[i] > y1 ? y[i] - y1 : 0) * down;
    const d = Math.sqrt(u * u + v * v);
    if (d >= rings) continue;
    const ring = Math.floor(d);
    const at = ring * 5;
    const t = d - ring - 0.5;
    sums[at] += 1;
    sums[at + 1] += t;
    sums[at + 2] += t * t;
    sums[at + 3] += a;
    sums[at + 4] += a * t;
  }
  for (let at = 0; at < sums.length; at += 5) {
    const n = sums[at];
    if (n === 0) continue;
    const t = sums[at + 1] / n;
    const product = sums[at + 4] - t * sums[at + 3];
    error -= sums[at + 3] ** 2 / n + product ** 2 / (sums[at + 2] - t * sums[at + 1] + 0.003 * n);
  }
  return error;
}

/** How a box may change in one direction, as near side, far side, radius: alone, or so that a rim holds. */
const boxMoves = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
  [1, 0, 1],
  [0, -1, 1],
  [1, -1, 1],
] as const;
/** How a line may change, whose near and far side are one. */
const lineMoves = [
  [1, 1, 0],
  [0, 0, 1],
  [1, 1, 1],
  [-1, -1, 1],
] as const;
/** Boxes that are a point across and down, first; across; down; and all others. */
const families: readonly Family[] = [
  [true, true],
  [false, true],
  [true, false],
  [false, false],
].map(([across, down]) => ({
  across,
  down,
  moves: [
    ...(across ? lineMoves : boxMoves).map(([near, far, r]) => Float64Array.of(near, far, 0, 0, r, 0)),
    ...(down ? lineMoves : boxMoves).map(([near, far, r]) => Float64Array.of(0, 0, near, far, 0, r)),
  ],
}));

interface Family {
  /** Whether the inner box has no width, and no height. */
  readonly across: boolean;
  readonly down: boolean;
  readonly moves: readonly Float64Array[];
}

/** The best box that can be had by the moves, in ever smaller steps of `from` down to `to` px. */
function bettered(start: Box, moves: readonly Float64Array[], samples: Samples, from: number, to: number): Box {
  const best = start.slice();
  const box = start.slice();
  let least = spread(best, samples);
  const isBetter = (move: Float64Array, by: number) => {
    for (let k = 0; k < 6; k++) box[k] = best[k] + by * move[k];
    if (box[1] < box[0] || box[3] < box[2] || box[4] < 2 || box[5] < 2) return false;
    const error = spread(box, samples);
    if (error >= least) return false;
    least = error;
    best.set(box);
    return true;
  };
  for (let step = from; step >= to; step /= 2) {
    for (let moved = true, rounds = 0; moved && rounds < roundsMax; rounds++) {
      moved = false;
      for (const move of moves) if (isBetter(move, step) || isBetter(move, -step)) moved = true;
    }
  }
  return best;
}

const stepMin = 0.1;
const roundsMax = 6;

/** The inner box on whole pixels, so that its parts meet on them. */
function aligned(box: Box): Box {
  const out = box.slice();
  for (const near of [0, 2]) {
    if (box[near] === box[near + 1]) continue;
    out[near] = Math.round(box[near]);
    out[near + 1] = Math.round(box[near + 1]);
  }
  return out;
}

/** Most a fade may miss the samples by, root mean square, levels. */
const offMax = 2.5;
/** An error good enough to look no further, and one too large to better. */
const offGood = 1.2;
const offFar = 4;
/** What a stop must at least take off that, levels. */
const stopGain = 0.4;

function fadeOf(box: Box, { x, y, alpha }: Samples): Fade | null {
  const d = x.map((v, i) => distance(box, v, y[i]));
  const from = d.reduce((least, v) => Math.min(least, v), 1);
  const colours = new Float64Array(d.length * 4);
  for (let i = 0; i < d.length; i++) colours[i * 4] = alpha[i];
  let best: Fade | null = null;
  let least = offMax + stopGain;
  for (let knots = 2; knots <= 7; knots++) {
    const { stops, error } = spline(d, colours, { from, to: 1, count: knots }, 1);
    const off = Math.sqrt(error / d.length);
    if (off > least - stopGain) continue;
    least = off;
    const values = Array.from({ length: knots }, (_, k) => stops[k * 5 + 1]);
    values[knots - 1] = 0;
    best = { from, values, off };
  }
  return best;
}
