import type { Outline, Shape } from "../drawing.ts";
import { lengthOf } from "./length.ts";
import type { Points } from "./points.ts";

/**
 * The circle the points lie on, within half their tolerance. Some may be hidden or beneath strokes, and of a large one a few
 * a little off: where a line ends beneath a disc, the pixels that three colours share do not tell where its edge runs.
 */
export function asCircle(points: Points): Shape | null {
  const { x, y, tolerance, push, beneath, count: n } = points;
  if (n < 16) return null;
  const astray = unsurePoints(points);
  if (!astray) return null;
  let straysLeft = n < strayingFrom ? 0 : Math.min(straysMax, n * strayShareMax);
  for (;;) {
    const circle = circleThrough(points, astray);
    if (!circle) return null;
    const strays = straysLeft;
    for (let i = 0; i < n; i++) {
      const off = Math.abs(lengthOf(x[i] - circle.cx, y[i] - circle.cy) - circle.r);
      if (off - push[i] > (beneath[i] === 1 ? beneathStrayMax : strayMax)) return null;
      if (astray[i] === 1 || off <= Math.min(circleOffMax, Math.max(circleOffMin, tolerance[i] * 1.2))) continue;
      astray[i] = 1;
      if (--straysLeft < 0) return null;
    }
    if (strays === straysLeft) return { kind: "circle", ...circle };
  }
}

/** 1 for points that do not tell where an edge runs: they are hidden, or beneath a stroke; null where too few tell it. */
export function unsurePoints({ corner, push, beneath, count: n }: Points): Uint8Array | null {
  const unsure = new Uint8Array(n);
  let hiddenLeft = n < strayingFrom ? 0 : n * hiddenShareMax;
  let beneathLeft = n * beneathShareMax;
  for (let i = 0; i < n; i++) {
    if (corner[i] === 1) return null;
    if (beneath[i] === 0 && push[i] === 0) continue;
    unsure[i] = 1;
    if (beneath[i] === 1 ? --beneathLeft < 0 : --hiddenLeft < 0) return null;
  }
  return unsure;
}

const circleOffMin = 0.24;
const circleOffMax = 0.35;
/** With at least this many points, a share of them may be hidden, and some may stray: fewer than on a side that is flat by a pixel. */
const strayingFrom = 60;
const hiddenShareMax = 0.12;
const strayShareMax = 0.05;
const straysMax = 12;
/** How far they may stray, px; what is hidden was pushed besides. */
const strayMax = 1.6;
/** A line that comes to a chart's marker and goes on hides a good part of it. */
const beneathShareMax = 0.5;
const beneathStrayMax = 2.6;

/** The circle through the points that are not astray. Source: Kåsa, "A Circle Fitting Procedure and Its Error Analysis" (1976). */
function circleThrough({ x, y, count: n }: Points, astray: Uint8Array): { cx: number; cy: number; r: number } | null {
  let mx = 0;
  let my = 0;
  let used = 0;
  for (let i = 0; i < n; i++) {
    if (astray[i] === 1) continue;
    mx += x[i];
    my += y[i];
    used++;
  }
  mx /= used;
  my /= used;
  let uu = 0;
  let uv = 0;
  let vv = 0;
  let uz = 0;
  let vz = 0;
  for (let i = 0; i < n; i++) {
    if (astray[i] === 1) continue;
    const u = x[i] - mx;
    const v = y[i] - my;
    const z = u * u + v * v;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    uz += u * z;
    vz += v * z;
  }
  const det = uu * vv - uv * uv;
  if (det < 1e-6) return null;
  const cx = (uz * vv - vz * uv) / det / 2;
  const cy = (vz * uu - uz * uv) / det / 2;
  return { cx: mx + cx, cy: my + cy, r: Math.sqrt(cx * cx + cy * cy + (uu + vv) / used) };
}

/** The upright rectangle an outline is, if it is one to a tenth of a pixel. */
export function asRect({ x, y, kinds, points }: Outline): Shape | null {
  if (kinds.length !== 4 || kinds.some((kind) => kind !== 1)) return null;
  const xs = [x, points[0], points[2], points[4]];
  const ys = [y, points[1], points[3], points[5]];
  const upright = (a: number, b: number) => Math.abs(a - b) <= 0.1;
  const first = upright(ys[0], ys[1]) && upright(xs[1], xs[2]) && upright(ys[2], ys[3]) && upright(xs[3], xs[0]);
  const second = upright(xs[0], xs[1]) && upright(ys[1], ys[2]) && upright(xs[2], xs[3]) && upright(ys[3], ys[0]);
  if (!first && !second) return null;
  const left = (Math.min(...xs) + second3(xs)) / 2;
  const top = (Math.min(...ys) + second3(ys)) / 2;
  const right = (Math.max(...xs) + third(xs)) / 2;
  const bottom = (Math.max(...ys) + third(ys)) / 2;
  return { kind: "rect", x: left, y: top, width: right - left, height: bottom - top };
}

function second3(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[1];
}

function third(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[2];
}
