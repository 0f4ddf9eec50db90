import type { Outline, Points } from "./outline.ts";

/**
 * Step 6b: a closed chain of points as few lines and cubics, none missing a point by more than its tolerance. The chain
 * is cut at its corners; between them the curve is smooth. `shared` makes the result independent of the direction, so
 * that both areas along an edge get the same curve.
 *
 * Source: Schneider, "An Algorithm for Automatically Fitting Digitized Curves", Graphics Gems (1990).
 */
export function fitClosed(points: Points, shared = false): Outline {
  const { count: n, corner } = points;
  let first = 0;
  while (first < n && corner[first] === 0) first++;
  const smooth = first === n;
  if (smooth) first = shared ? leftmost(points) : 0;
  unroll(points, first);
  const outline: Outline = { x: X[0]!, y: Y[0]!, kinds: [], points: [] };
  out = outline;
  if (smooth) {
    // No corner at all: two halves that share their tangents.
    const half = n >> 1;
    tangentAround(0, n, 1);
    const sx = tx;
    const sy = ty;
    tangentAround(half, n, 1);
    const hx = tx;
    const hy = ty;
    fitOpen(0, half, sx, sy, -hx, -hy, 0);
    fitOpen(half, n, hx, hy, -sx, -sy, 0);
    return outline;
  }
  for (let from = 0; from < n; ) {
    let to = from + 1;
    while (to < n && C[to] === 0) to++;
    const back = shared && (X[to]! < X[from]! || (X[to] === X[from] && Y[to]! < Y[from]!));
    if (back) turnRound(from, to);
    const begun = outline.kinds.length;
    const at = outline.points.length;
    tangentFrom(from, to, 1);
    const ax = tx;
    const ay = ty;
    tangentFrom(to, from, -1);
    fitOpen(from, to, ax, ay, tx, ty, 0);
    if (back) {
      const [x, y] = [X[from]!, Y[from]!];
      turnRound(from, to);
      reverse(outline, begun, at, x, y);
    }
    from = to;
  }
  return outline;
}

function leftmost({ x, y, count }: Points): number {
  let best = 0;
  for (let i = 1; i < count; i++) if (x[i]! < x[best]! || (x[i] === x[best] && y[i]! < y[best]!)) best = i;
  return best;
}

/** Reverses the order of the points `from` to `to`. */
function turnRound(from: number, to: number): void {
  for (const values of [X, Y, T]) values.subarray(from, to + 1).reverse();
}

/** Turns the last segments of an outline round; (x, y) is where they shall end. */
function reverse({ kinds, points }: Outline, begun: number, at: number, x: number, y: number): void {
  kinds.push(...kinds.splice(begun).reverse());
  const old = points.splice(at);
  for (let i = old.length - 4; i >= 0; i -= 2) points.push(old[i]!, old[i + 1]!);
  points.push(x, y);
}

let X = new Float64Array(4097);
let Y = new Float64Array(4097);
let T = new Float64Array(4097);
let C = new Uint8Array(4097);
let U = new Float64Array(4097);
let out: Outline;
let tx = 0;
let ty = 0;

function unroll(points: Points, first: number): void {
  const n = points.count;
  if (X.length <= n) {
    const capacity = n * 2 + 1;
    X = new Float64Array(capacity);
    Y = new Float64Array(capacity);
    T = new Float64Array(capacity);
    C = new Uint8Array(capacity);
    U = new Float64Array(capacity);
  }
  for (let i = 0, j = first; i <= n; i++, j++) {
    if (j >= n) j -= n;
    X[i] = points.x[j]!;
    Y[i] = points.y[j]!;
    T[i] = points.tolerance[j]!;
    C[i] = points.corner[j]!;
  }
}

const tangentReach = 3;

/** Unit tangent leaving an end of an open piece, towards `to`. */
function tangentFrom(from: number, to: number, step: 1 | -1): void {
  const reach = Math.min(tangentReach, Math.abs(to - from));
  let dx = 0;
  let dy = 0;
  for (let k = 1; k <= reach; k++) {
    dx += (X[from + k * step]! - X[from]!) / k;
    dy += (Y[from + k * step]! - Y[from]!) / k;
  }
  unit(dx, dy);
}

/** Unit tangent at an inner point, wrapped round a closed chain of n points. */
function tangentAround(at: number, n: number, reachMin: number): void {
  const reach = Math.max(reachMin, Math.min(tangentReach, n >> 3));
  let dx = 0;
  let dy = 0;
  for (let k = 1; k <= reach; k++) {
    const a = (at + k) % n;
    const b = (at - k + n) % n;
    dx += (X[a]! - X[b]!) / k;
    dy += (Y[a]! - Y[b]!) / k;
  }
  unit(dx, dy);
}

function unit(dx: number, dy: number): void {
  const length = Math.sqrt(dx * dx + dy * dy);
  tx = length > 0 ? dx / length : 1;
  ty = length > 0 ? dy / length : 0;
}

/** A chord is taken for a line when it is this much closer than a curve need be: facets show, curves do not. */
const lineShare = 0.75;

function fitOpen(a: number, b: number, ax: number, ay: number, bx: number, by: number, level: number): void {
  if (b - a === 1 || isLine(a, b)) {
    out.kinds.push(1);
    out.points.push(X[b]!, Y[b]!);
    return;
  }
  chordLengths(a, b);
  solve(a, b, ax, ay, bx, by);
  let worst = farthest(a, b);
  for (let round = 0; round < 3 && worst > 1 && worst < 6; round++) {
    reparametrize(a, b);
    solve(a, b, ax, ay, bx, by);
    const next = farthest(a, b);
    if (next > worst * 0.95 && next > 1) {
      worst = next;
      break;
    }
    worst = next;
  }
  if (worst <= 1 || level > 40) {
    out.kinds.push(3);
    out.points.push(p1x, p1y, p2x, p2y, X[b]!, Y[b]!);
    return;
  }
  const split = Math.min(b - 1, Math.max(a + 1, farthestAt));
  const reach = Math.min(tangentReach, split - a, b - split);
  let dx = 0;
  let dy = 0;
  for (let k = 1; k <= reach; k++) {
    dx += (X[split + k]! - X[split - k]!) / k;
    dy += (Y[split + k]! - Y[split - k]!) / k;
  }
  unit(dx, dy);
  const cx = tx;
  const cy = ty;
  fitOpen(a, split, ax, ay, -cx, -cy, level + 1);
  fitOpen(split, b, cx, cy, bx, by, level + 1);
}

function isLine(a: number, b: number): boolean {
  const dx = X[b]! - X[a]!;
  const dy = Y[b]! - Y[a]!;
  const length = Math.sqrt(dx * dx + dy * dy);
  if (length < 1e-9) return false;
  for (let i = a + 1; i < b; i++) {
    const off = Math.abs((X[i]! - X[a]!) * dy - (Y[i]! - Y[a]!) * dx) / length;
    if (off > T[i]! * lineShare) return false;
  }
  return true;
}

function chordLengths(a: number, b: number): void {
  U[a] = 0;
  for (let i = a + 1; i <= b; i++) {
    const dx = X[i]! - X[i - 1]!;
    const dy = Y[i]! - Y[i - 1]!;
    U[i] = U[i - 1]! + Math.sqrt(dx * dx + dy * dy);
  }
  const total = U[b]! || 1;
  for (let i = a + 1; i <= b; i++) U[i] = U[i]! / total;
}

let p0x = 0;
let p0y = 0;
let p1x = 0;
let p1y = 0;
let p2x = 0;
let p2y = 0;
let p3x = 0;
let p3y = 0;
let farthestAt = 0;

/** Least squares for the two handle lengths along the given tangents. */
function solve(a: number, b: number, ax: number, ay: number, bx: number, by: number): void {
  p0x = X[a]!;
  p0y = Y[a]!;
  p3x = X[b]!;
  p3y = Y[b]!;
  let c00 = 0;
  let c01 = 0;
  let c11 = 0;
  let x0 = 0;
  let x1 = 0;
  const cross = ax * bx + ay * by;
  for (let i = a + 1; i < b; i++) {
    const u = U[i]!;
    const v = 1 - u;
    const b1 = 3 * u * v * v;
    const b2 = 3 * u * u * v;
    const start = v * v * v + b1;
    const end = u * u * u + b2;
    const rx = X[i]! - p0x * start - p3x * end;
    const ry = Y[i]! - p0y * start - p3y * end;
    c00 += b1 * b1;
    c01 += b1 * b2;
    c11 += b2 * b2;
    x0 += b1 * (rx * ax + ry * ay);
    x1 += b2 * (rx * bx + ry * by);
  }
  c01 *= cross;
  const det = c00 * c11 - c01 * c01;
  const length = Math.sqrt((p3x - p0x) ** 2 + (p3y - p0y) ** 2);
  let left = det !== 0 ? (x0 * c11 - x1 * c01) / det : 0;
  let right = det !== 0 ? (c00 * x1 - c01 * x0) / det : 0;
  const least = 0.01 * length;
  if (!(left > least && right > least && left < 3 * length + 2 && right < 3 * length + 2)) {
    left = length / 3;
    right = left;
  }
  p1x = p0x + ax * left;
  p1y = p0y + ay * left;
  p2x = p3x + bx * right;
  p2y = p3y + by * right;
}

/** The greatest distance from a point to its place on the curve, in tolerances; remembers where. */
function farthest(a: number, b: number): number {
  let worst = 0;
  farthestAt = (a + b) >> 1;
  for (let i = a + 1; i < b; i++) {
    const u = U[i]!;
    const v = 1 - u;
    const b0 = v * v * v;
    const b1 = 3 * u * v * v;
    const b2 = 3 * u * u * v;
    const b3 = u * u * u;
    const dx = p0x * b0 + p1x * b1 + p2x * b2 + p3x * b3 - X[i]!;
    const dy = p0y * b0 + p1y * b1 + p2y * b2 + p3y * b3 - Y[i]!;
    const off = (dx * dx + dy * dy) / (T[i]! * T[i]!);
    if (off > worst) {
      worst = off;
      farthestAt = i;
    }
  }
  return Math.sqrt(worst);
}

/** One Newton step per point towards the nearest place on the curve. */
function reparametrize(a: number, b: number): void {
  for (let i = a + 1; i < b; i++) {
    const u = U[i]!;
    const v = 1 - u;
    const qx = v * v * v * p0x + 3 * u * v * v * p1x + 3 * u * u * v * p2x + u * u * u * p3x - X[i]!;
    const qy = v * v * v * p0y + 3 * u * v * v * p1y + 3 * u * u * v * p2y + u * u * u * p3y - Y[i]!;
    const d1x = 3 * (v * v * (p1x - p0x) + 2 * u * v * (p2x - p1x) + u * u * (p3x - p2x));
    const d1y = 3 * (v * v * (p1y - p0y) + 2 * u * v * (p2y - p1y) + u * u * (p3y - p2y));
    const d2x = 6 * (v * (p2x - 2 * p1x + p0x) + u * (p3x - 2 * p2x + p1x));
    const d2y = 6 * (v * (p2y - 2 * p1y + p0y) + u * (p3y - 2 * p2y + p1y));
    const slope = d1x * d1x + d1y * d1y + qx * d2x + qy * d2y;
    if (slope === 0) continue;
    const next = u - (qx * d1x + qy * d1y) / slope;
    U[i] = Math.min(1, Math.max(0, next));
  }
}
