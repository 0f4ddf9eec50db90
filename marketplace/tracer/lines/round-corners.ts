import { lengthOf } from "../curves/length.ts";
import type { Outline, Shape } from "../drawing.ts";
import type { Place } from "./straight-line.ts";

/**
 * A stroke's shape with an arc in place of each corner between straight pieces: of a bend no larger than the stroke is wide
 * only the lines beside it are measured, and they meet in a corner. Null where there is none.
 */
export function withRoundCorners(shape: Shape, width: number): Shape | null {
  const outline = outlineOf(shape);
  if (!outline) return null;
  const pieces = piecesOf(outline);
  const count = pieces.length;
  const corners = pieces.map((piece, i): Corner | null => {
    const next = i + 1 < count ? pieces[i + 1] : outline.open ? null : pieces[0];
    return next && piece.kind === 1 && next.kind === 1 ? cornerOf(piece, next, width) : null;
  });
  if (corners.every((corner) => corner === null)) return null;
  const last = outline.open ? null : corners[count - 1];
  const start = last?.to ?? pieces[0].from;
  const kinds: number[] = [];
  const points: number[] = [];
  pieces.forEach((piece, i) => {
    const corner = corners[i];
    const end = corner?.from ?? piece.to;
    kinds.push(piece.kind);
    points.push(...piece.controls, end.x, end.y);
    if (!corner) return;
    kinds.push(2);
    points.push(corner.middle.x, corner.middle.y, corner.to.x, corner.to.y);
  });
  return { kind: "path", outlines: [{ ...start, kinds, points, ...(outline.open && { open: true }) }] };
}

/** An arc from a place on one line to a place on the next. */
interface Corner {
  readonly from: Place;
  readonly middle: Place;
  readonly to: Place;
}

interface Piece {
  readonly kind: number;
  readonly from: Place;
  readonly to: Place;
  /** Its numbers but those of its end. */
  readonly controls: readonly number[];
}

function outlineOf(shape: Shape): Outline | null {
  if (shape.kind === "path") return shape.outlines[0];
  if (shape.kind !== "polyline" && shape.kind !== "polygon") return null;
  const [x, y, ...points] = shape.points;
  if (shape.kind === "polyline")
    return { x, y, kinds: points.filter((_, i) => i % 2 === 0).map(() => 1), points, open: true };
  const closed = [...points, x, y];
  return { x, y, kinds: closed.filter((_, i) => i % 2 === 0).map(() => 1), points: closed };
}

function piecesOf({ x, y, kinds, points }: Outline): Piece[] {
  let from = { x, y };
  let at = 0;
  return kinds.map((kind) => {
    const to = { x: points[at + kind * 2 - 2], y: points[at + kind * 2 - 1] };
    const piece = { kind, from, to, controls: points.slice(at, at + kind * 2 - 2) };
    from = to;
    at += kind * 2;
    return piece;
  });
}

/** The arc that touches two lines, about as wide as the stroke; null where they hardly turn. */
function cornerOf(one: Piece, other: Piece, width: number): Corner | null {
  const at = one.to;
  const [long, longNext] = [
    lengthOf(at.x - one.from.x, at.y - one.from.y),
    lengthOf(other.to.x - at.x, other.to.y - at.y),
  ];
  if (Math.min(long, longNext) < 1) return null;
  const [ux, uy] = [(at.x - one.from.x) / long, (at.y - one.from.y) / long];
  const [vx, vy] = [(other.to.x - at.x) / longNext, (other.to.y - at.y) / longNext];
  const turn = Math.acos(Math.max(-1, Math.min(1, ux * vx + uy * vy)));
  if (turn < turnMin || turn > turnMax) return null;
  const cut = Math.min(width * Math.tan(turn / 2), cutMax * long, cutMax * longNext);
  const r = cut / Math.tan(turn / 2);
  // From the corner to the arc's middle, along the line that halves its angle.
  const deep = r / Math.cos(turn / 2) - r;
  const [bx, by] = [vx - ux, vy - uy];
  const b = lengthOf(bx, by);
  return {
    from: { x: at.x - ux * cut, y: at.y - uy * cut },
    middle: { x: at.x + (bx / b) * deep, y: at.y + (by / b) * deep },
    to: { x: at.x + vx * cut, y: at.y + vy * cut },
  };
}

/** Some 17° and 163°. */
const turnMin = 0.3;
const turnMax = 2.85;
/** The share of a line that the arc at its end may take. */
const cutMax = 0.45;
