import { lengthOf } from "../curves/length.ts";
import { areNear, type Circle, circleThrough, offCircle } from "./round.ts";
import { crossing, distanceTo, lineThrough, type Place, type StraightLine } from "./straight-line.ts";
import type { FoundStroke } from "./strokes-of.ts";

/** The way on from one stroke's end to another's: places from there to there, a fraction of a pixel apart. */
export interface WayOn {
  readonly places: readonly Place[];
  readonly length: number;
  /** The way turns a corner: only a marker on a polyline's corner hides such a way. */
  readonly bends: boolean;
}

/** A stroke, and the line from its end outwards. */
export interface Outgoing {
  readonly stroke: FoundStroke;
  readonly line: StraightLine;
}

/** How two strokes may go on as one: straight, round on one circle, or round a corner; null where they do not. */
export function wayOn(one: Outgoing, other: Outgoing): WayOn | null {
  return straightOn(one, other) ?? roundOn(one, other) ?? cornerOn(one, other);
}

const gapMax = 400;
/** Ends go on a little beneath what lies over them, from both sides. */
const overlapMax = 3;

function straightOn({ stroke, line: one }: Outgoing, { stroke: next, line: other }: Outgoing): WayOn | null {
  const facing = one.dx * other.dx + one.dy * other.dy;
  if (facing > -0.94) return null;
  const [x, y] = [other.x - one.x, other.y - one.y];
  const gap = x * one.dx + y * one.dy;
  if (gap < -overlapMax || gap > gapMax) return null;
  const aside = Math.max(Math.abs(x * one.dy - y * one.dx), Math.abs(x * other.dy - y * other.dx));
  if (aside > 0.6 + 0.06 * Math.min(gap, 30) || isKink(stroke, next)) return null;
  return { places: between(one, other), length: gap, bends: false };
}

/** Whether two straight lines meet at a slight angle, so that they are not one line. */
function isKink(one: FoundStroke, other: FoundStroke): boolean {
  if (one.shape.kind !== "line" || other.shape.kind !== "line") return false;
  const points = [...one.points, ...other.points];
  const line = lineThrough(points);
  return !areNear(points, missMax, (point) => distanceTo(line, point));
}

/** The way on along a circle, when both strokes are arcs of it. */
function roundOn({ stroke: one, line }: Outgoing, { stroke: other, line: end }: Outgoing): WayOn | null {
  if (!isArc(one) || !isArc(other) || lengthOf(end.x - line.x, end.y - line.y) > gapMax) return null;
  const points = one === other ? one.points : [...one.points, ...other.points];
  const circle = circleThrough(points);
  if (!circle || !areNear(points, missMax, (point) => offCircle(circle, point))) return null;
  const { x, y, r } = circle;
  const from = Math.atan2(line.y - y, line.x - x);
  const to = Math.atan2(end.y - y, end.x - x);
  const turn = (line.x - x) * line.dy - (line.y - y) * line.dx > 0 ? 1 : -1;
  const turnBack = (end.x - x) * end.dy - (end.y - y) * end.dx > 0 ? 1 : -1;
  const sweep = ((to - from) * turn + 4 * Math.PI) % (2 * Math.PI);
  const isPassed = (2 * Math.PI - sweep) * r < overlapMax;
  if (turn === turnBack || (sweep > sweepMax && !isPassed) || r * sweep > gapMax) return null;
  const places = isPassed ? [] : alongCircle(circle, from, sweep * turn);
  return { places, length: isPassed ? 0 : r * sweep, bends: false };
}

const missMax = 0.35;
function isArc({ shape }: FoundStroke): boolean {
  return shape.kind === "path" && shape.outlines[0].kinds.length === 1 && shape.outlines[0].kinds[0] === 2;
}

/** A third of the way round. */
const sweepMax = 2.1;

/** By way of where the lines meet, if that is near. */
function cornerOn({ stroke, line: one }: Outgoing, { line: other }: Outgoing): WayOn | null {
  const isLevel = one.dx * other.dx + one.dy * other.dy < -0.98;
  const met = isLevel ? { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 } : crossing(one, other);
  if (!met || (isLevel && Math.max(distanceTo(one, met), distanceTo(other, met)) > slightMax)) return null;
  const ahead = [one, other].map(({ x, y, dx, dy }) => (met.x - x) * dx + (met.y - y) * dy);
  const length = ahead[0] + ahead[1];
  if (Math.min(...ahead) < -overlapMax || length > cornerMax + cornerMax * stroke.width) return null;
  return { places: [...between(one, met), ...between(met, other)], length, bends: true };
}

/** How far beside both lines their middle may lie where they hardly turn, px. */
const slightMax = 1;
/** The longest way round a corner: px, plus as many widths of the stroke. */
const cornerMax = 6;

const apart = 0.7;

function between(from: Place, to: Place): Place[] {
  const n = Math.max(1, Math.ceil(lengthOf(to.x - from.x, to.y - from.y) / apart));
  return Array.from({ length: n }, (_, i) => ({
    x: from.x + ((to.x - from.x) * i) / n,
    y: from.y + ((to.y - from.y) * i) / n,
  }));
}

function alongCircle({ x, y, r }: Circle, from: number, sweep: number): Place[] {
  const n = Math.max(1, Math.ceil((Math.abs(sweep) * r) / apart));
  return Array.from({ length: n }, (_, i) => {
    const angle = from + (sweep * i) / n;
    return { x: x + r * Math.cos(angle), y: y + r * Math.sin(angle) };
  });
}
