import { fitOpenChain, fitClosed as fitOutline } from "../curves/fit-curve.ts";
import { lengthOf } from "../curves/length.ts";
import { Points } from "../curves/points.ts";
import type { Outline, Shape } from "../drawing.ts";
import { linesAndArcs, type Stretch } from "./lines-and-arcs.ts";
import { arcThrough, areNear, type Circle, middleOf, offCircle, ontoCircle, rootMeanSquare } from "./round.ts";
import { crossing, distanceTo, lineThrough, onto, type Place, type StraightLine } from "./straight-line.ts";
import { type Straights, straightsThrough } from "./straights.ts";

/** A stretch of a middle line, and what it is drawn as. */
type Piece =
  | { readonly kind: "line"; readonly line: StraightLine }
  | { readonly kind: "arc"; readonly circle: Circle; readonly points: readonly Place[] }
  | { readonly kind: "curves"; readonly outline: Outline };

interface Fitted {
  readonly pieces: readonly Piece[];
  /** Where each piece but the last ends. */
  readonly joints: readonly Place[];
  /** Numbers it takes to write. */
  readonly cost: number;
}

/** How far a line may miss where its middle was measured, px. */
export const missMax = 0.3;
/** How far a curve may miss, px: it follows the middle more closely than a line. */
const curveMissMax = 0.2;

/**
 * The plainest drawing of an open middle line: a line, a polyline, or a path of lines, arcs and curves. Its ends are not
 * measured as the points between them are, so they are brought to where these lead.
 */
export function fitOpen(points: readonly Place[], width: number, ends: Ends): Shape {
  const inner = fitChain(points, width);
  const [first, last] = [inner.pieces[0], inner.pieces[inner.pieces.length - 1]];
  const all = [
    ...(ends[0] && first.kind === "curves" ? [ends[0]] : []),
    ...points,
    ...(ends[1] && last.kind === "curves" ? [ends[1]] : []),
  ];
  const { pieces, joints } = all.length > points.length ? fitChain(all, width) : inner;
  const places = [
    endOf(ends[0] ?? all[0], pieces[0], width),
    ...joints,
    endOf(ends[1] ?? all[all.length - 1], pieces[pieces.length - 1], width),
  ];
  if (pieces.every((piece) => piece.kind === "line")) {
    const flat = places.flatMap(({ x, y }) => [x, y]);
    if (pieces.length > 1) return { kind: "polyline", points: flat };
    const [from, to] = upright(places[0], places[1]);
    return { kind: "line", x1: from.x, y1: from.y, x2: to.x, y2: to.y };
  }
  return { kind: "path", outlines: [outlineOf(pieces, places, true)] };
}

/** Where a stroke begins and ends, if that was found. */
export type Ends = readonly [Place | null, Place | null];

/** The plainest drawing of a closed middle line. */
export function fitClosed(points: readonly Place[], width: number): Shape {
  const reach = Math.max(5, 1.6 * width);
  const round = [...points, ...points.slice(0, Math.ceil(2 * reach))];
  const turn = sharpest(turnsOf(round, reach), 0, round.length);
  if (turn === null) return { kind: "path", outlines: [smooth(points)] };
  const first = (turn + 1) % points.length;
  const chain = [...points.slice(first), ...points.slice(0, first)];
  const { pieces, joints } = fitChain(chain, width);
  const start = jointOf(chain[chain.length - 1], chain[0], pieces[pieces.length - 1], pieces[0], reach);
  const places = [start, ...joints, start];
  if (pieces.every((piece) => piece.kind === "line") && pieces.length > 2)
    return { kind: "polygon", points: places.slice(0, -1).flatMap(({ x, y }) => [x, y]) };
  return { kind: "path", outlines: [outlineOf(pieces, places, false)] };
}

/** Any middle line as curves that follow it closely. */
export function fitCurves(points: readonly Place[], closed: boolean): Shape {
  if (closed) return { kind: "path", outlines: [smooth(points)] };
  scratch.clear();
  for (const { x, y } of points) scratch.add(x, y, curveMissMax);
  return { kind: "path", outlines: [{ ...fitOpenChain(scratch), open: true }] };
}

function smooth(points: readonly Place[]): Outline {
  scratch.clear();
  for (const { x, y } of points) scratch.add(x, y, curveMissMax);
  return fitOutline(scratch);
}

function endOf(point: Place, piece: Piece, width: number): Place {
  const on =
    piece.kind === "line" ? onto(piece.line, point) : piece.kind === "arc" ? ontoCircle(piece.circle, point) : point;
  return lengthOf(on.x - point.x, on.y - point.y) <= 0.6 + 0.6 * width ? on : point;
}

/** A line that is all but level or upright is just that. */
function upright(from: Place, to: Place): [Place, Place] {
  const [dx, dy] = [Math.abs(to.x - from.x), Math.abs(to.y - from.y)];
  const off = Math.min(0.35, 0.02 * (dx + dy));
  if (dy < off) return [from, to].map(({ x }) => ({ x, y: (from.y + to.y) / 2 })) as [Place, Place];
  if (dx < off) return [from, to].map(({ y }) => ({ x: (from.x + to.x) / 2, y })) as [Place, Place];
  return [from, to];
}

function outlineOf(pieces: readonly Piece[], places: readonly Place[], open: boolean): Outline {
  const [{ x, y }] = places;
  const kinds: number[] = [];
  const points: number[] = [];
  pieces.forEach((piece, i) => {
    const end = places[i + 1];
    if (piece.kind === "line") kinds.push(1);
    else if (piece.kind === "arc") {
      const middle = middleOf(piece.circle, [places[i], ...piece.points, end]);
      kinds.push(2);
      points.push(middle.x, middle.y);
    } else {
      for (const kind of piece.outline.kinds) kinds.push(kind);
      for (const value of piece.outline.points.slice(0, -2)) points.push(value);
    }
    points.push(end.x, end.y);
  });
  return { x, y, kinds, points, ...(open && { open }) };
}

function fitChain(points: readonly Place[], width: number): Fitted {
  const reach = Math.max(5, 1.6 * width);
  const found = fitted(points, { turns: turnsOf(points, reach), first: 0, reach, width }, 0);
  if (found.cost <= plainCost || width < roundedMin) return found;
  const stretches = linesAndArcs(points, width, missMax);
  const rounded = stretches && ofStretches(points, stretches, reach);
  return rounded && rounded.cost < found.cost ? rounded : found;
}

/** A fit that costs no more is plain enough: a line, an arc, or a corner. */
const plainCost = 5;
/** Bends of wider strokes are hardly larger than they are wide, and pass for corners. */
const roundedMin = 3.5;

function ofStretches(points: readonly Place[], stretches: readonly Stretch[], reach: number): Fitted {
  const pieces = stretches.map(
    ({ from, to, line, circle }): Piece =>
      circle ? { kind: "arc", circle, points: points.slice(from, to) } : { kind: "line", line: line as StraightLine },
  );
  const joints = stretches
    .slice(1)
    .map(({ from }, i) => jointOf(points[from - 1], points[from], pieces[i], pieces[i + 1], reach));
  return { pieces, joints, cost: stretches.reduce((sum, { circle }) => sum + (circle ? 4 : 2), 0) };
}

/** How the whole line turns, from which of its points on it is asked, and how wide it is. */
interface Course {
  readonly turns: Float64Array;
  readonly first: number;
  readonly reach: number;
  readonly width: number;
}

function fitted(points: readonly Place[], course: Course, level: number): Fitted {
  const line = lineThrough(points);
  if (areNear(points, missMax, (point) => distanceTo(line, point)))
    return { pieces: [{ kind: "line", line }], joints: [], cost: 2 };
  const { turns, first, reach, width } = course;
  const straights = straightsThrough(points, Math.max(shortestMin, 4 * width));
  const circle = arcThrough(points, missMax);
  // Two lines take as many numbers as an arc.
  if (
    circle &&
    !(
      straights?.lines.length === 2 &&
      straights.miss < arcMissShare * rootMeanSquare(points, (point) => offCircle(circle, point))
    )
  )
    return { pieces: [{ kind: "arc", circle, points }], joints: [], cost: 4 };
  const split = level < levelMax ? sharpest(turns, first, points.length) : null;
  const curved =
    straights && 2 * straights.lines.length < curves(points).cost
      ? polygonal(points, straights, reach)
      : curves(points);
  if (split === null) return curved;
  const { one, other, from } = apartFrom(points, split, 0.75 * width + 1);
  const before = fitted(one, course, level + 1);
  const after = fitted(other, { ...course, first: first + from }, level + 1);
  const cost = before.cost + after.cost + (turns[first + split] < slightMax ? 3 : 1);
  // A corner is worth as much as the curve that would hide it.
  if (cost > curved.cost + 2) return curved;
  const joint = jointOf(points[split], points[split + 1], before.pieces.at(-1)!, after.pieces[0], reach);
  return {
    pieces: [...before.pieces, ...after.pieces],
    joints: [...before.joints, joint, ...after.joints],
    cost,
  };
}

function polygonal(points: readonly Place[], { lines, splits }: Straights, reach: number): Fitted {
  const pieces = lines.map((line) => ({ kind: "line" as const, line }));
  const joints = splits.map((split, i) => jointOf(points[split - 1], points[split], pieces[i], pieces[i + 1], reach));
  return { pieces, joints, cost: 2 * lines.length };
}

/** Shorter straight stretches that hardly turn are a curve, px. */
const shortestMin = 14;
/** By how much less two lines miss than the arc that they are not. */
const arcMissShare = 0.75;

const levelMax = 8;

/** 1 - cos of some 35°: many bends that are slighter are a curve. */
const slightMax = 0.18;

/** The points before and after a corner, without those so near it that both its sides were measured at once. */
function apartFrom(points: readonly Place[], split: number, clear: number) {
  const [a, b] = [points[split], points[split + 1]];
  const [x, y] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  const isClear = (i: number) => lengthOf(points[i].x - x, points[i].y - y) > clear;
  let to = split + 1;
  while (to > 3 && !isClear(to - 1)) to--;
  let from = split + 1;
  while (from < points.length - 3 && !isClear(from)) from++;
  return { one: points.slice(0, to), other: points.slice(from), from };
}

function jointOf(before: Place, after: Place, one: Piece, other: Piece, reach: number): Place {
  const middle = { x: (before.x + after.x) / 2, y: (before.y + after.y) / 2 };
  if (one.kind === "line" && other.kind === "line") {
    const met = crossing(one.line, other.line);
    const gap = lengthOf(after.x - before.x, after.y - before.y);
    if (met && lengthOf(met.x - middle.x, met.y - middle.y) < reach + gap) return met;
  }
  return one.kind === "line" ? onto(one.line, middle) : other.kind === "line" ? onto(other.line, middle) : middle;
}

const scratch = new Points();

function curves(points: readonly Place[]): Fitted {
  scratch.clear();
  for (const { x, y } of points) scratch.add(x, y, curveMissMax);
  const outline = fitOpenChain(scratch);
  const { kinds } = outline;
  const bends = kinds.filter((kind, i) => i > 0 && kind === 1 && kinds[i - 1] === 1).length;
  return { pieces: [{ kind: "curves", outline }], joints: [], cost: outline.points.length + 3 * bends };
}

/** By how much a line turns after each of its points beyond how it bends there anyway, as 1 - cos. */
function turnsOf(points: readonly Place[], reach: number): Float64Array {
  const n = points.length;
  const angles = new Float64Array(n);
  for (let i = 1; i < n - 2; i++) {
    const before = window(points, i, -1, reach);
    const after = window(points, i + 1, 1, reach);
    if (before.length < 2 || after.length < 2) continue;
    const [one, other] = [lineThrough(before.reverse()), lineThrough(after)];
    angles[i] = Math.abs(Math.atan2(one.dx * other.dy - one.dy * other.dx, one.dx * other.dx + one.dy * other.dy));
  }
  const steps = points.map((p, i) => (i > 0 ? lengthOf(p.x - points[i - 1].x, p.y - points[i - 1].y) : 0));
  const away = (from: number, step: 1 | -1) => {
    let far = 0;
    for (let i = from; i >= 0 && i < n; i += step) {
      if (far > reach * 1.8) return angles[i];
      far += steps[step > 0 ? Math.min(n - 1, i + 1) : i];
    }
    return Number.POSITIVE_INFINITY;
  };
  return angles.map((angle, i) => {
    if (angle < cornerMin) return 0;
    const [one, other] = [away(i, -1), away(i + 1, 1)];
    const bend = Math.min(one, other);
    const sharp = angle - (Number.isFinite(bend) ? 1.3 * bend : 0);
    return sharp < cornerMin ? 0 : 1 - Math.cos(sharp);
  });
}

/** Some 10°. */
const cornerMin = 0.17;

/** Between which two points of a stretch the line turns most, if it turns at all: the first of them. */
function sharpest(turns: Float64Array, first: number, count: number): number | null {
  let best: number | null = null;
  let most = 0;
  for (let i = 2; i < count - 3; i++) {
    if (turns[first + i] <= most) continue;
    most = turns[first + i];
    best = i;
  }
  return best;
}

function window(points: readonly Place[], from: number, step: 1 | -1, reach: number): Place[] {
  const first = points[from];
  const found: Place[] = [];
  for (let i = from; i >= 0 && i < points.length; i += step) {
    if (lengthOf(points[i].x - first.x, points[i].y - first.y) > reach) break;
    found.push(points[i]);
  }
  return found;
}
