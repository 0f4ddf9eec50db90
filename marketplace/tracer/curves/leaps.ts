import type { AreaMap } from "../regions/components.ts";
import type { Contour, Contours } from "./contours.ts";
import { lengthOf } from "./length.ts";

/**
 * The steps of an outline that need not be followed, by 1: a stroke drawn later hides them, and the outline goes on beyond
 * it as it came. Null where there are none. `near` has 1 for each pixel beneath or beside a stroke.
 */
export function leapsOf(
  { x, y, from, to }: Contour,
  { steps }: Contours,
  { width, height }: AreaMap,
  near: Uint8Array,
): Uint8Array | null {
  const n = to - from;
  const xs = new Int32Array(n);
  const ys = new Int32Array(n);
  const hidden = new Uint8Array(n);
  let some = 0;
  for (let i = 0, px = x, py = y; i < n; i++) {
    xs[i] = px;
    ys[i] = py;
    const direction = steps[from + i];
    const inside = (direction < 2 ? py : py - 1) * width + (direction % 3 === 0 ? px : px - 1);
    const outside = inside + [-width, 1, width, -1][direction];
    const atEdge =
      (direction === 0 && py === 0) ||
      (direction === 1 && px === width) ||
      (direction === 2 && py === height) ||
      (direction === 3 && px === 0);
    if (!atEdge && (near[inside] === 1 || near[outside] === 1)) some += hidden[i] = 1;
    if (direction === 0) px++;
    else if (direction === 1) py++;
    else if (direction === 2) px--;
    else py--;
  }
  if (some === 0 || some === n) return null;
  const begin = hidden.indexOf(0);
  const at = (i: number) => (i + begin + 2 * n) % n;
  for (let i = 0; i < n; ) {
    let end = i;
    while (end < n && hidden[at(end)] === 1) end++;
    const leaps = end > i && (isNick(xs, ys, at(i), at(end), end - i) || goesOn(xs, ys, at(i), at(end), end - i));
    if (!leaps) for (let k = i; k < end; k++) hidden[at(k)] = 0;
    i = end + 1;
  }
  return hidden;
}

/** Whether a leap is the short way where a line begins in a marker or an arrow's head. */
function isNick(xs: Int32Array, ys: Int32Array, a: number, b: number, length: number): boolean {
  return (
    xs.length <= smallMax && length <= xs.length * nickMax && lengthOf(xs[b] - xs[a], ys[b] - ys[a]) <= nickWidthMax
  );
}

/** Steps around a marker or an arrow's head. */
const smallMax = 90;
/** Width of a nick, as a share of the steps around it. */
const nickMax = 0.34;
/** A line of 6 px, and a pixel on each side. */
const nickWidthMax = 9;

const reach = 5;

/**
 * Whether an outline comes to `a`, goes from there to `b` in `length` steps, and goes on from `b`, all in one direction. What
 * takes much longer than the straight way goes round something: the rest of a shape that a stroke divides.
 */
function goesOn(xs: Int32Array, ys: Int32Array, a: number, b: number, length: number): boolean {
  if (length > detourMin + detourMax * lengthOf(xs[b] - xs[a], ys[b] - ys[a])) return false;
  const n = xs.length;
  const before = (a - reach + n) % n;
  const after = (b + reach) % n;
  const along = (from: number, to: number, other: number, end: number) => {
    const [ux, uy, vx, vy] = [xs[to] - xs[from], ys[to] - ys[from], xs[end] - xs[other], ys[end] - ys[other]];
    return (ux * vx + uy * vy) / (lengthOf(ux, uy) * lengthOf(vx, vy) || 1);
  };
  return along(before, a, a, b) > alongMin && along(a, b, b, after) > alongMin && along(before, a, b, after) > alongMin;
}

const alongMin = 0.85;
/** A leap's steps, as a multiple of the straight way. A slanted way has up to 1.42 steps a pixel. */
const detourMax = 1.6;
const detourMin = 6;
