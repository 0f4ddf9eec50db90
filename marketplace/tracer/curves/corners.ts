import { lengthOf } from "./length.ts";
import type { Points } from "./points.ts";

/**
 * Step 6a: finds where an outline turns sharply and puts the corner back where its two sides meet; the chain of edge
 * midpoints always cuts it. Marks corners in place.
 *
 * Source: the wide-angle test of Teh & Chin (1989); the corner as the crossing of two fitted lines as in potrace
 * (Selinger 2003) §2.3.
 */
export function markCorners(points: Points): void {
  const n = points.count;
  if (n < 8) return;
  const reach = Math.min(4, n >> 2);
  const turn = turns(points, reach);
  for (let i = 0; i < n; i++) {
    const t = turn[i];
    if (t < turnMin || points.corner[i] === 1) continue;
    let peak = true;
    for (let k = 1; k <= reach && peak; k++) {
      const before = turn[(i - k + n) % n];
      const after = turn[(i + k) % n];
      if (before > t || after > t || before === t) peak = false;
      if (k > 2) continue;
      if (points.corner[(i - k + n) % n] === 1 || points.corner[(i + k) % n] === 1) peak = false;
    }
    if (peak && !(t > turnBack && squareEnd(points, i))) sharpen(points, i, t);
  }
}

/** 1 - cos of 45°. */
const turnMin = 0.3;
/** 1 - cos of 90°: a corner even when its sides are not straight. */
const turnSure = 1;
/** Less than a right angle over this reach is no end of a stroke. */
const turnBack = 0.8;
/** How straight both sides of a corner must be, and how far beyond the chain it may lie, px. */
const offMax = 0.18;
const beyondMax = 1;
let turnScratch = new Float64Array(4096);

function turns(points: Points, reach: number): Float64Array {
  const { x, y, count: n } = points;
  if (turnScratch.length < n) turnScratch = new Float64Array(n * 2);
  for (let i = 0; i < n; i++) {
    const a = i - reach < 0 ? i - reach + n : i - reach;
    const b = i + reach >= n ? i + reach - n : i + reach;
    const ux = x[i] - x[a];
    const uy = y[i] - y[a];
    const vx = x[b] - x[i];
    const vy = y[b] - y[i];
    const scale = Math.sqrt((ux * ux + uy * uy) * (vx * vx + vy * vy));
    turnScratch[i] = scale > 0 ? 1 - (ux * vx + uy * vy) / scale : 0;
  }
  return turnScratch;
}

/** A place on a line, and a unit vector along it. */
interface Line {
  x: number;
  y: number;
  dx: number;
  dy: number;
}

/** Scratch: the lines of two sides of a corner, and of what is between them. */
const [sideBefore, sideAfter, sideEnd] = Array.from({ length: 3 }, (): Line => ({ x: 0, y: 0, dx: 0, dy: 0 }));

function sharpen(points: Points, i: number, turn: number): void {
  const side = Math.min(5, (points.count >> 2) - 1);
  if (side >= 3 && meetAt(points, i, { side, offMax, beyondMax })) return;
  if (side >= shortSide.side && meetAt(points, i, shortSide)) return;
  if (turn >= turnSure) points.corner[i] = 1;
}

interface Sides {
  /** Points of each. */
  readonly side: number;
  readonly offMax: number;
  readonly beyondMax: number;
  /** They run along rows and columns of pixels. */
  readonly upright?: boolean;
}

/** Between other corners few points are left. So few lie on a line on small circles too, but neither so exactly nor upright. */
const shortSide: Sides = { side: 3, offMax: 0.05, beyondMax: 0.62, upright: true };
const uprightMin = 0.998;

/** Puts the corner where its two sides meet; false where they are not straight. */
function meetAt(points: Points, i: number, { side, offMax, beyondMax, upright = false }: Sides): boolean {
  const { count: n } = points;
  const before = line(points, i - 1 - side, side, offMax, sideBefore);
  const after = before && line(points, i + 2, side, offMax, sideAfter);
  if (!after || (upright && !(isUpright(before) && isUpright(after)))) return false;
  const meeting = crossing(before, after, 0.35);
  if (!meeting || !isFrom(points, i, meeting, beyondMax)) return false;
  setCorner(points, i, meeting);
  pull(points, (i - 1 + n) % n, before);
  pull(points, (i + 1) % n, after);
  return true;
}

function isUpright({ dx, dy }: Line): boolean {
  return Math.max(Math.abs(dx), Math.abs(dy)) > uprightMin;
}

/**
 * The end of a stroke a few pixels wide, cut off square: its two corners are too near each other to be found one by one.
 * `i` is somewhere on it. A round end is left alone: the lines of its sides and its end meet too far outside it.
 */
function squareEnd(points: Points, i: number): boolean {
  const { count: n } = points;
  for (let wide = endWideMin; wide <= endWideMax && n >= wide + 2 * endSide + 2; wide++) {
    for (let from = i - wide + 1; from <= i; from++) {
      // The outermost points lie in the corners' own pixels, whose coverage says little of either edge.
      const inset = wide > 3 ? 1 : 0;
      const end = line(points, from + inset, wide - 2 * inset, endOffMax, sideEnd);
      const before = end && line(points, from - endSide, endSide, offMax, sideBefore);
      const after = before && line(points, from + wide, endSide, offMax, sideAfter);
      if (!after) continue;
      const first = (from + n) % n;
      const last = (from + wide - 1 + n) % n;
      const one = crossing(before, end, squareMin);
      const two = crossing(end, after, squareMin);
      if (!one || !two || !isFrom(points, first, one, endNear) || !isFrom(points, last, two, endNear)) continue;
      setCorner(points, first, one);
      setCorner(points, last, two);
      return true;
    }
  }
  return false;
}

/** Ends of strokes, in points of the chain: widest and narrowest, and how much of each side must be straight. */
const endWideMin = 3;
const endWideMax = 6;
const endSide = 4;
const endOffMax = 0.12;
/** Farthest a corner may lie from the chain's point beside it; half a pixel is what a square one cuts off. */
const endNear = 0.6;

/** The sine of something like a right angle. */
const squareMin = 0.85;

/** Where two lines meet. */
interface Meeting {
  readonly x: number;
  readonly y: number;
  readonly one: Line;
  readonly other: Line;
}

/** Null where the sine of the angle between the lines is less than `sineMin`. */
function crossing(one: Line, other: Line, sineMin: number): Meeting | null {
  const cross = one.dx * other.dy - one.dy * other.dx;
  if (Math.abs(cross) < sineMin) return null;
  const s = ((other.x - one.x) * other.dy - (other.y - one.y) * other.dx) / cross;
  return { x: one.x + one.dx * s, y: one.y + one.dy * s, one, other };
}

/**
 * Whether a point of the chain is what became of a corner: it lies near, or has only moved along one of the sides, by as much as the
 * coverage of the corner's own pixel misleads.
 */
function isFrom({ x, y }: Points, i: number, corner: Meeting, nearMax: number): boolean {
  const [dx, dy] = [corner.x - x[i], corner.y - y[i]];
  const off = lengthOf(dx, dy);
  if (off < nearMax) return true;
  const isOn = (side: Line) => Math.abs(dx * side.dy - dy * side.dx) < movedOffMax;
  return off < movedMax && (isOn(corner.one) || isOn(corner.other));
}

const movedMax = 1.3;
const movedOffMax = 0.06;

function setCorner({ x, y, corner }: Points, i: number, to: Meeting): void {
  x[i] = to.x;
  y[i] = to.y;
  corner[i] = 1;
}

/** Lays a point beside a corner, which the chain had cut, onto its side. */
function pull(points: Points, i: number, side: Line): void {
  if (points.corner[i] === 1) return;
  const s = (points.x[i] - side.x) * side.dx + (points.y[i] - side.y) * side.dy;
  points.x[i] = side.x + side.dx * s;
  points.y[i] = side.y + side.dy * s;
}

/** Sets `out` to the least-squares line through `count` points of the chain; null where one misses it by more than `most`. */
function line(points: Points, from: number, count: number, most: number, out: Line): Line | null {
  const { x, y, count: n } = points;
  const first = from < 0 ? from + n : from < n ? from : from - n;
  let mx = 0;
  let my = 0;
  for (let k = 0, j = first; k < count; k++, j = j + 1 < n ? j + 1 : 0) {
    mx += x[j];
    my += y[j];
  }
  mx /= count;
  my /= count;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let k = 0, j = first; k < count; k++, j = j + 1 < n ? j + 1 : 0) {
    const u = x[j] - mx;
    const v = y[j] - my;
    xx += u * u;
    xy += u * v;
    yy += v * v;
  }
  // The farthest misses it by no less than all do on average.
  const missed = (xx + yy - Math.sqrt((xx - yy) * (xx - yy) + 4 * xy * xy)) / 2;
  if (missed > 1.001 * count * most * most) return null;
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const dx = Math.cos(angle);
  const dy = Math.sin(angle);
  for (let k = 0, j = first; k < count; k++, j = j + 1 < n ? j + 1 : 0) {
    if (Math.abs((x[j] - mx) * dy - (y[j] - my) * dx) > most) return null;
  }
  out.x = mx;
  out.y = my;
  out.dx = dx;
  out.dy = dy;
  return out;
}
