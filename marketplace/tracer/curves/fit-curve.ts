import type { Outline } from "../drawing.ts";
import { Chain, reversed } from "./chain.ts";
import { closedByLine } from "./closed-by-line.ts";
import { Cubic, type Ends } from "./cubic.ts";
import { fitLineJoints } from "./line-joints.ts";
import type { Points } from "./points.ts";

/**
 * Step 6b: a closed chain of points as few lines and cubics, none missing a point by more than its tolerance. The chain
 * is cut at its corners; between them the curve is smooth, and each segment goes as far as it may: that leaves
 * fewer than halving where one misses most.
 *
 * Source of the fit: Schneider, "An Algorithm for Automatically Fitting Digitized Curves", Graphics Gems (1990).
 */
export function fitClosed(points: Points): Outline {
  const corner = firstCorner(points);
  chain.load(points, corner ?? 0);
  ends.length = 0;
  const outline: Outline = { x: chain.x[0], y: chain.y[0], kinds: [], points: [] };
  if (corner === null) fitSmooth(points.count, outline);
  else fitBetweenCorners(points.count, outline);
  fitLineJoints(outline, chain, ends);
  return closedByLine(outline);
}

/** An open chain of points, which has no corner, as few lines and cubics. */
export function fitOpenChain(points: Points): Outline {
  chain.load(points, 0);
  const last = points.count - 1;
  ends.length = 0;
  const outline: Outline = { x: chain.x[0], y: chain.y[0], kinds: [], points: [], open: true };
  fitOpen({ a: 0, b: last, start: chain.tangentFrom(0, last), end: chain.tangentFrom(last, 0) }, outline);
  fitLineJoints(outline, chain, ends);
  return outline;
}

const chain = new Chain();
const cubic = new Cubic();
/** The point of the chain that each segment of the outline ends at. */
const ends: number[] = [];

function firstCorner({ corner, count }: Points): number | null {
  for (let i = 0; i < count; i++) if (corner[i] !== 0) return i;
  return null;
}

/** No corner at all: two halves that share their tangents. */
function fitSmooth(n: number, outline: Outline): void {
  const half = n >> 1;
  const start = chain.tangentAround(0, n);
  const middle = chain.tangentAround(half, n);
  fitOpen({ a: 0, b: half, start, end: reversed(middle) }, outline);
  fitOpen({ a: half, b: n, start: middle, end: reversed(start) }, outline);
}

function fitBetweenCorners(n: number, outline: Outline): void {
  const { corner } = chain;
  for (let from = 0; from < n; ) {
    let to = from + 1;
    while (to < n && corner[to] === 0) to++;
    if (isLine(from, to, sideMax.betweenFixed, sideOffMax)) addLine(to, outline);
    else fitOpen({ a: from, b: to, start: chain.tangentFrom(from, to), end: chain.tangentFrom(to, from) }, outline);
    from = to;
  }
}

/** A side from corner to corner is straight when a line misses it by no more, px: what is measured of an edge strays by that. */
const sideOffMax = 0.2;

function fitOpen({ a, b, start, end }: Ends, outline: Outline): void {
  for (let from = a, leaving = start; from < b; ) {
    const rest = { a: from, b, start: leaving, end };
    const isFromJoint = from > a && outline.kinds.at(-1) === 1;
    const line = farthest(rest, isFromJoint ? isLineFromJoint : isLineTo);
    const curve = line === b ? from : farthest(rest, isCubicTo);
    const to = line - from >= (curve - from) * lineWorth(curve - from) ? line : curve;
    if (to === line) addLine(to, outline);
    else {
      fitCubic(upTo(rest, to));
      const { handle1x, handle1y, handle2x, handle2y } = cubic;
      outline.kinds.push(3);
      ends.push(to);
      outline.points.push(handle1x, handle1y, handle2x, handle2y, chain.x[to], chain.y[to]);
    }
    if (to < b) leaving = chain.tangentBetween(to, from, b);
    from = to;
  }
}

/**
 * A line is taken where it reaches this share of what a curve over so many points does: it is three times shorter to write. On a
 * short curve facets are not seen.
 */
function lineWorth(points: number): number {
  return points <= shortMax ? 0.2 : 0.5;
}

const shortMax = 12;

function addLine(to: number, outline: Outline): void {
  ends.push(to);
  outline.kinds.push(1);
  outline.points.push(chain.x[to], chain.y[to]);
}

/** The last point of a piece that one segment from its beginning reaches; at least the next. */
function farthest(piece: Ends, reaches: (piece: Ends, to: number) => boolean): number {
  const { a, b } = piece;
  let near = a + 1;
  let far = b + 1;
  for (let step = 4; near < b && far > b; step *= 2) {
    const to = Math.min(b, near + step);
    if (reaches(piece, to)) near = to;
    else far = to;
  }
  while (far - near > 1 && near < b) {
    const middle = (near + far) >> 1;
    if (reaches(piece, middle)) near = middle;
    else far = middle;
  }
  return near;
}

function isLineTo({ a, b }: Ends, to: number): boolean {
  return isLine(a, to, to === b ? sideMax.betweenFixed : sideMax.fixedToJoint);
}

function isLineFromJoint({ a, b }: Ends, to: number): boolean {
  return isLine(a, to, to === b ? sideMax.fixedToJoint : sideMax.betweenJoints);
}

function isCubicTo(piece: Ends, to: number): boolean {
  return fitCubic(upTo(piece, to), true) <= 1;
}

/** A piece from its beginning to one of its points. */
function upTo({ a, b, start, end }: Ends, to: number): Ends {
  return { a, b: to, start, end: to === b ? end : reversed(chain.tangentBetween(to, a, b)) };
}

/**
 * Fits `cubic` to a piece; what it misses the worst point by, in tolerances. `untilNear` ends with the first that is near
 * enough.
 */
function fitCubic(piece: Ends, untilNear = false): number {
  const { a, b } = piece;
  cubic.placeByLength(chain, a, b);
  cubic.solve(chain, piece, false);
  let worst = cubic.farthest(chain, a, b);
  for (let round = 0; round < roundsMax && worst < hopeless; round++) {
    if (untilNear && worst <= 1) break;
    const { handle1x, handle1y, handle2x, handle2y } = cubic;
    cubic.solve(chain, piece, true);
    const next = cubic.farthest(chain, a, b);
    if (worst <= 1 && next > 1) {
      Object.assign(cubic, { handle1x, handle1y, handle2x, handle2y });
      break;
    }
    const settled = next > worst * 0.95 && next > 1;
    worst = next;
    if (settled) break;
  }
  return worst;
}

const roundsMax = 3;
/** Points that miss by more tolerances than this do not come near by moving along the curve. */
const hopeless = 6;

/**
 * Whether a line may stand for the points from `a` to `b`: none lies farther to one side of it than `most`, in tolerances, and all of
 * them in a band of `bandMax`. Points within `offMax`, px, are not asked.
 */
function isLine(a: number, b: number, most: number, offMax = 0): boolean {
  const { x, y, tolerance } = chain;
  const dx = x[b] - x[a];
  const dy = y[b] - y[a];
  const length = Math.sqrt(dx * dx + dy * dy);
  if (length < 1e-9) return false;
  let left = 0;
  let right = 0;
  for (let i = a + 1; i < b; i++) {
    const off = ((x[i] - x[a]) * dy - (y[i] - y[a]) * dx) / length;
    if (Math.abs(off) <= offMax) continue;
    const share = off / tolerance[i];
    if (share < left) left = share;
    else if (share > right) right = share;
    if (right > most || -left > most || right - left > bandMax) return false;
  }
  return true;
}

/**
 * By the ends of a line. Where two lines meet, the joint moves until both run through the middle of their points (line-joints.ts);
 * corners and the ends of curves stay.
 */
const sideMax = { betweenFixed: 0.75, fixedToJoint: 1, betweenJoints: 1.3 };
/** Tolerances from the points farthest out on one side of a line to those on the other. */
const bandMax = 1.3;
