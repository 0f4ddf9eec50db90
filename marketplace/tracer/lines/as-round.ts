import type { Points } from "../curves/points.ts";
import { unsurePoints } from "../curves/primitives.ts";
import type { Shape } from "../drawing.ts";
import { roundShape } from "./round.ts";
import type { Place } from "./straight-line.ts";

/**
 * The ellipse or the rectangle with round corners that an outline is, if it is one. What little of it is hidden, or beneath
 * strokes, may be any way that encloses as much.
 */
export function asRound(points: Points, enclosed: number): Shape | null {
  const sure = surePlaces(points, enclosed);
  const shape = sure && roundShape(sure, roundMissMax);
  if (!shape || (shape.kind === "rect" && (shape.rx ?? 0) < 1.5)) return null;
  return sure.length === points.count || enclosesAbout(shape, enclosed) ? shape : null;
}

/** The points that tell where the edge of a large, full shape runs; null where it is none, or too few do. */
function surePlaces(points: Points, enclosed: number): Place[] | null {
  const { x, y, count } = points;
  if (count < 24 || enclosed < enclosedMin || !fillsBox(x, y, count, enclosed)) return null;
  const unsure = unsurePoints(points);
  if (!unsure) return null;
  const places: Place[] = [];
  for (let i = 0; i < count; i++) if (unsure[i] === 0) places.push({ x: x[i], y: y[i] });
  return places;
}

function enclosesAbout(shape: Shape, enclosed: number): boolean {
  return Math.abs(enclosedBy(shape) - enclosed) <= enclosedOffMax * enclosed;
}

function enclosedBy(shape: Shape): number {
  if (shape.kind === "circle") return Math.PI * shape.r ** 2;
  if (shape.kind === "ellipse") return Math.PI * shape.rx * shape.ry;
  return shape.kind === "rect" ? shape.width * shape.height - (4 - Math.PI) * (shape.rx ?? 0) ** 2 : 0;
}

const enclosedOffMax = 0.05;
/** Smaller ones are parts of letters, which are written as one path, px². */
const enclosedMin = 400;
const roundMissMax = 0.28;

/** Whether as much of the box around points is enclosed as of an ellipse's, a rectangle's or what is between them. */
function fillsBox(x: Float64Array, y: Float64Array, count: number, enclosed: number): boolean {
  let [left, top, right, bottom] = [x[0], y[0], x[0], y[0]];
  for (let i = 1; i < count; i++) {
    left = Math.min(left, x[i]);
    right = Math.max(right, x[i]);
    top = Math.min(top, y[i]);
    bottom = Math.max(bottom, y[i]);
  }
  return enclosed > 0.74 * (right - left) * (bottom - top);
}
