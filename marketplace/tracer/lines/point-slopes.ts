import type { Outline, Shape } from "../drawing.ts";
import { pointsAlong } from "./points-along.ts";
import { numbersOf, withMiddles, withNumbers } from "./shape-numbers.ts";
import type { Place } from "./straight-line.ts";

/** How points along a shape move with one of the shape's numbers: the points from `first` on; all others stay. */
export interface Slope {
  readonly first: number;
  readonly xs: Float64Array;
  readonly ys: Float64Array;
}

/** One slope for each of the shape's numbers. `counts`: how many of the points each part of the shape has. */
export function slopesOf(shape: Shape, points: readonly Place[], counts: readonly number[]): Slope[] {
  if (shape.kind === "polyline" || shape.kind === "polygon") return slopesOfVertices(shape, points.length, counts);
  const ofPart = shape.kind === "path" ? partSlopes(shape.outlines[0] as Outline, points, counts) : undefined;
  const numbers = numbersOf(shape);
  return numbers.map((value, k) => {
    const slope = ofPart?.(k);
    if (slope) return slope;
    const shifted = withNumbers(shape, numbers.with(k, value + small));
    return slopeBetween(points, pointsAlong(shifted, 1, [...counts]), 0);
  });
}

function slopeBetween(points: readonly Place[], shifted: readonly Place[], first: number): Slope {
  const [xs, ys] = [new Float64Array(shifted.length), new Float64Array(shifted.length)];
  for (let i = 0; i < shifted.length; i++) {
    xs[i] = (shifted[i].x - points[first + i].x) / small;
    ys[i] = (shifted[i].y - points[first + i].y) / small;
  }
  return { first, xs, ys };
}

/** A number of a path moves its own segment and, where it is of an end, the next; undefined for where a closed one begins. */
function partSlopes(
  { x, y, kinds, points: controls, open }: Outline,
  points: readonly Place[],
  counts: readonly number[],
) {
  const segmentOf: number[] = [];
  const begins: Array<{ control: number; point: number }> = [];
  let point = 0;
  for (const [segment, kind] of kinds.entries()) {
    begins.push({ control: segmentOf.length, point });
    for (let i = 0; i < kind * 2; i++) segmentOf.push(segment);
    point += counts[segment] as number;
  }
  return (number: number): Slope | undefined => {
    const at = number - 2;
    if (at < 0 && !open) return undefined;
    const first = at < 0 ? 0 : (segmentOf[at] as number);
    const isEnd = at >= 0 && segmentOf[at + 2] !== first;
    const last = isEnd ? Math.min(first + 1, kinds.length - 1) : first;
    const { control, point: begin } = begins[first] as { control: number; point: number };
    const numbers = [...(first === 0 ? [x, y] : controls.slice(control - 2, control))];
    numbers.push(...controls.slice(control, begins[last + 1]?.control));
    numbers[at < 0 ? number : at - control + 2] += small;
    const [startX, startY, ...moved] = numbers;
    const part = { x: startX, y: startY, kinds: kinds.slice(first, last + 1), points: moved, open: true };
    const shifted = pointsAlong({ kind: "path", outlines: [withMiddles(part)] }, 1, counts.slice(first, last + 1));
    return slopeBetween(points, shifted, begin);
  };
}

/** A vertex moves the points of the two lines that meet there, each by its share of the way. */
function slopesOfVertices(
  { kind, points: { length } }: Extract<Shape, { kind: "polyline" | "polygon" }>,
  total: number,
  counts: readonly number[],
): Slope[] {
  const vertices = length / 2;
  const slopes: Slope[] = [];
  let first = 0;
  for (let vertex = 0; vertex < vertices; vertex++) {
    const [before, after] = [counts[vertex - 1] ?? 0, counts[vertex] ?? 1];
    const shares = new Float64Array(before + after);
    for (let i = 1; i < before; i++) shares[i] = i / before;
    for (let i = 0; i < after; i++) shares[before + i] = 1 - i / after;
    const still = new Float64Array(shares.length);
    slopes.push({ first, xs: shares, ys: still }, { first, xs: still, ys: shares });
    first += before;
  }
  if (kind === "polygon") closeRing(slopes, total, counts[vertices - 1] as number);
  return slopes;
}

/** The line that closes a polygon is the first vertex's, too. */
function closeRing(slopes: Slope[], total: number, count: number): void {
  const [{ xs: begun }] = slopes as [Slope];
  const shares = new Float64Array(total);
  shares.set(begun);
  for (let i = 1; i < count; i++) shares[total - count + i] += i / count;
  const still = new Float64Array(total);
  slopes[0] = { first: 0, xs: shares, ys: still };
  slopes[1] = { first: 0, xs: still, ys: shares };
}

/** How far a number is moved to see what it does. */
const small = 0.05;
