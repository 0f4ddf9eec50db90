import type { Points } from "../curves/points.ts";
import type { Shape } from "../drawing.ts";
import { roundShape } from "./round.ts";

/** The ellipse or the rectangle with round corners that an outline is, if it is one and no part of it is hidden. */
export function asRound({ x, y, corner, push, count }: Points, enclosed: number): Shape | null {
  if (count < 24 || enclosed < enclosedMin || !fillsBox(x, y, count, enclosed)) return null;
  for (let i = 0; i < count; i++) if (corner[i] === 1 || push[i] > 0) return null;
  const places = Array.from({ length: count }, (_, i) => ({ x: x[i], y: y[i] }));
  const shape = roundShape(places, roundMissMax);
  return shape?.kind === "rect" && (shape.rx ?? 0) < 1.5 ? null : shape;
}

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
