import { lengthOf } from "../curves/length.ts";
import type { Shape } from "../drawing.ts";
import type { Place } from "./straight-line.ts";

export interface Circle extends Place {
  readonly r: number;
}

/** The least-squares circle of points. Source: Kåsa (1976), see primitives.ts. */
export function circleThrough(points: readonly Place[]): Circle | null {
  const n = points.length;
  let mx = 0;
  let my = 0;
  for (const { x, y } of points) {
    mx += x / n;
    my += y / n;
  }
  let uu = 0;
  let uv = 0;
  let vv = 0;
  let uz = 0;
  let vz = 0;
  for (const { x, y } of points) {
    const [u, v] = [x - mx, y - my];
    const z = u * u + v * v;
    uu += u * u;
    uv += u * v;
    vv += v * v;
    uz += u * z;
    vz += v * z;
  }
  const det = uu * vv - uv * uv;
  if (det < 1e-6 * uu * vv || det === 0) return null;
  const cx = (uz * vv - vz * uv) / det / 2;
  const cy = (vz * uu - uz * uv) / det / 2;
  return { x: mx + cx, y: my + cy, r: Math.sqrt(cx * cx + cy * cy + (uu + vv) / n) };
}

/** How far outside a circle a point lies. */
export function offCircle({ x, y, r }: Circle, point: Place): number {
  return lengthOf(point.x - x, point.y - y) - r;
}

/** By how much points miss what was fitted to them: the root of the mean square. */
export function rootMeanSquare(points: readonly Place[], miss: (point: Place) => number): number {
  return Math.sqrt(points.reduce((sum, point) => sum + miss(point) ** 2, 0) / points.length);
}

/** Whether points lie near enough to what was fitted to them: all but a few strays within `missMax`. */
export function areNear(points: readonly Place[], missMax: number, miss: (point: Place) => number): boolean {
  let strays = 0;
  for (const point of points) {
    const off = Math.abs(miss(point));
    if (off <= missMax) continue;
    if (off > missMax * strayMax || ++strays > strayShareMax * points.length) return false;
  }
  return true;
}

const strayShareMax = 0.04;
const strayMax = 2.5;

/** The most that points miss by, or any that is no less than `enough`. */
function farthest(points: readonly Place[], miss: (point: Place) => number, enough: number): number {
  let most = 0;
  for (let i = 0; i < points.length && most < enough; i++) most = Math.max(most, Math.abs(miss(points[i])));
  return most;
}

/** The circle through points that make an arc; null where they do not. */
export function arcThrough(points: readonly Place[], missMax: number): Circle | null {
  const circle = circleThrough(points);
  if (!circle || points.length < 6 || circle.r > radiusMax) return null;
  const { x, y, r } = circle;
  if (!areNear(points, missMax, (p) => lengthOf(p.x - x, p.y - y) - r)) return null;
  return Math.abs(turnAround(circle, points)) > arcMax ? null : circle;
}

/** The point of a circle nearest to one. */
export function ontoCircle({ x, y, r }: Circle, point: Place): Place {
  const far = lengthOf(point.x - x, point.y - y) || 1;
  return { x: x + ((point.x - x) / far) * r, y: y + ((point.y - y) / far) * r };
}

/** The middle of a circle's arc that goes by way of all the points. */
export function middleOf(circle: Circle, points: readonly Place[]): Place {
  const { x, y, r } = circle;
  const half = Math.atan2(points[0].y - y, points[0].x - x) + turnAround(circle, points) / 2;
  return { x: x + r * Math.cos(half), y: y + r * Math.sin(half) };
}

/** By what angle points go round. */
function turnAround({ x, y }: Circle, points: readonly Place[]): number {
  const angle = (p: Place) => Math.atan2(p.y - y, p.x - x);
  let [turned, last] = [0, angle(points[0])];
  for (const point of points) {
    const next = angle(point);
    turned += Math.atan2(Math.sin(next - last), Math.cos(next - last));
    last = next;
  }
  return turned;
}

const radiusMax = 4000;
/** What turns further is closed. */
const arcMax = 1.98 * Math.PI;

/** What points all around lie on: a circle, an upright ellipse or a rectangle, its corners round or not. */
export function roundShape(points: readonly Place[], missMax: number): Shape | null {
  if (points.length < 8) return null;
  const every = Math.ceil(points.length / fewMax);
  // What a few points do not lie on, all do not.
  const few = every > 1 ? points.filter((_, i) => i % every === 0) : points;
  return few === points || shapeThrough(few, missMax * 1.3) ? shapeThrough(points, missMax) : null;
}

const fewMax = 64;

function shapeThrough(points: readonly Place[], missMax: number): Shape | null {
  const circle = circleThrough(points);
  const isAround = circle && circle.r <= longSide(boxOf(points));
  if (isAround && areNear(points, missMax, (p) => lengthOf(p.x - circle.x, p.y - circle.y) - circle.r))
    return { kind: "circle", cx: circle.x, cy: circle.y, r: circle.r };
  return ellipseThrough(points, missMax) ?? rectThrough(points, missMax);
}

type Box = ReturnType<typeof boxOf>;

/** What the points lie in. */
export function boxOf(points: readonly Place[]) {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return { left, top, right, bottom };
}

/**
 * No radius of what goes all around points is longer, though some of them be hidden. Points to and fro on one line also
 * lie on a circle or an ellipse, one as large as can be: nothing that walks along it would come to an end.
 */
const longSide = ({ left, top, right, bottom }: Box) => Math.max(right - left, bottom - top);

/** x² + b·y² + c·x + d·y = e by least squares. */
function ellipseThrough(points: readonly Place[], missMax: number): Shape | null {
  const box = boxOf(points);
  const [mx, my, scale] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2, longSide(box) / 2];
  const rows = points.map(({ x, y }) => {
    const [u, v] = [(x - mx) / scale, (y - my) / scale];
    return { terms: [v * v, u, v, 1], value: -u * u };
  });
  const solved = leastSquares(rows);
  if (!solved) return null;
  const [b, c, d, e] = solved;
  if (!(b > 0.01)) return null;
  const [u, v] = [-c / 2, -d / 2 / b];
  const square = u * u + b * v * v - e;
  if (!(square > 0)) return null;
  const [rx, ry] = [Math.sqrt(square) * scale, Math.sqrt(square / b) * scale];
  const [cx, cy] = [mx + u * scale, my + v * scale];
  // The distance, to the first order, from the gradient.
  const miss = ({ x, y }: Place) => {
    const [p, q] = [(x - cx) / rx, (y - cy) / ry];
    const level = p * p + q * q;
    return (level - 1) / (2 * lengthOf(p / rx, q / ry) || 1);
  };
  if (Math.min(rx, ry) < 2 || Math.max(rx, ry) > longSide(box) || !areNear(points, missMax, miss)) return null;
  return { kind: "ellipse", cx, cy, rx, ry };
}

function leastSquares(rows: readonly { readonly terms: readonly number[]; readonly value: number }[]): number[] | null {
  const size = rows[0].terms.length;
  const m = Array.from({ length: size }, () => new Array<number>(size + 1).fill(0));
  for (const { terms, value } of rows) {
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) m[i][j] += terms[i] * terms[j];
      m[i][size] += terms[i] * value;
    }
  }
  for (let i = 0; i < size; i++) {
    let pivot = i;
    for (let k = i + 1; k < size; k++) if (Math.abs(m[k][i]) > Math.abs(m[pivot][i])) pivot = k;
    if (Math.abs(m[pivot][i]) < 1e-9) return null;
    [m[i], m[pivot]] = [m[pivot], m[i]];
    for (let k = 0; k < size; k++) {
      if (k === i) continue;
      const share = m[k][i] / m[i][i];
      for (let j = i; j <= size; j++) m[k][j] -= share * m[i][j];
    }
  }
  return m.map((row, i) => row[size] / row[i]);
}

/** An upright rectangle: its sides are where the points along them lie, without those of its round corners. */
function rectThrough(points: readonly Place[], missMax: number): Shape | null {
  const box = boxOf(points);
  const rough = sidesNear(points, box, 0);
  if (rough.right - rough.left < 3 || rough.bottom - rough.top < 3) return null;
  const radius = radiusOf(points, rough, missMax);
  const sides = radius > 0 ? sidesNear(points, box, radius) : rough;
  const rx = radius > 0 ? radiusOf(points, sides, missMax) : 0;
  if (!areNear(points, missMax, (p) => offRect(sides, rx, p))) return null;
  const { left, top, right, bottom } = sides;
  return { kind: "rect", x: left, y: top, width: right - left, height: bottom - top, ...(rx > 0 && { rx }) };
}

/** Where the points near each side of their box lie on average, further from its corners than `radius` if enough are. */
function sidesNear(points: readonly Place[], box: Box, radius: number): Box {
  const isBetween = (v: number, from: number, to: number) => v >= from + radius && v <= to - radius;
  const across = points.filter(({ y }) => isBetween(y, box.top, box.bottom));
  const down = points.filter(({ x }) => isBetween(x, box.left, box.right));
  const side = (straight: readonly Place[], of: (p: Place) => number) => {
    const near = (some: readonly Place[]) => some.map(of).filter((v) => Math.abs(v) <= sideNear);
    const flat = near(straight);
    const used = flat.length < straightMin ? near(points) : flat;
    return used.reduce((sum, v) => sum + v, 0) / used.length;
  };
  return {
    left: box.left + side(across, ({ x }) => x - box.left),
    right: box.right + side(across, ({ x }) => x - box.right),
    top: box.top + side(down, ({ y }) => y - box.top),
    bottom: box.bottom + side(down, ({ y }) => y - box.bottom),
  };
}

/** The radius of the corners that fits best; 0 for sharp ones. */
function radiusOf(points: readonly Place[], sides: Box, missMax: number): number {
  const missed = (r: number, enough: number) => farthest(points, (p) => offRect(sides, r, p), enough);
  // Sharp corners first: a corner is sharp where even a small radius fits no better.
  if (areNear(points, missMax * 0.8, (p) => offRect(sides, 0, p))) return 0;
  let [best, least] = [0, missed(0, Number.POSITIVE_INFINITY)];
  // The miss begins to fall somewhere before the radius, and rises after it.
  // It is about that whose corner lies as far in as the farthest point.
  const about = least / (1 - Math.SQRT1_2);
  const most = Math.min(sides.right - sides.left, sides.bottom - sides.top, 2 * about + 8) / 2;
  const from = 0.5 + Math.max(0, Math.floor(about - 4));
  for (let r = from; r <= most && (best === 0 || r < best + 3); r += 0.25) {
    const miss = missed(r, least);
    if (miss >= least) continue;
    [best, least] = [r, miss];
  }
  return best;
}

function offRect({ left, top, right, bottom }: Box, r: number, { x, y }: Place): number {
  const dx = Math.abs(x - (left + right) / 2) - (right - left) / 2 + r;
  const dy = Math.abs(y - (top + bottom) / 2) - (bottom - top) / 2 + r;
  return lengthOf(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(0, Math.max(dx, dy)) - r;
}

const straightMin = 3;
const sideNear = 0.7;
