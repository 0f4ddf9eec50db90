import type { Outline, Shape } from "../drawing.ts";
import { onArc } from "./points-along.ts";

/** The numbers that say where a stroke's shape lies: those of a path are of its one outline. */
export function numbersOf(shape: Shape): number[] {
  if (shape.kind === "line") return [shape.x1, shape.y1, shape.x2, shape.y2];
  if (shape.kind === "circle") return [shape.cx, shape.cy, shape.r];
  if (shape.kind === "ellipse") return [shape.cx, shape.cy, shape.rx, shape.ry];
  if (shape.kind === "rect") {
    const { x, y, width, height, rx } = shape;
    return rx ? [x, y, width, height, rx] : [x, y, width, height];
  }
  if (shape.kind !== "path") return [...shape.points];
  const [{ x, y, points, open }] = shape.outlines;
  // A closed one ends where it begins.
  return [x, y, ...(open ? points : points.slice(0, -2))];
}

/** The shape with other numbers. */
export function withNumbers(shape: Shape, numbers: readonly number[]): Shape {
  const [a, b, c, d] = numbers;
  if (shape.kind === "line") return { ...shape, x1: a, y1: b, x2: c, y2: d };
  if (shape.kind === "circle") return { ...shape, cx: a, cy: b, r: c };
  if (shape.kind === "ellipse") return { ...shape, cx: a, cy: b, rx: c, ry: d };
  if (shape.kind === "rect") return { ...shape, x: a, y: b, width: c, height: d, ...(shape.rx && { rx: numbers[4] }) };
  if (shape.kind !== "path") return { ...shape, points: [...numbers] };
  const [outline] = shape.outlines;
  const points = [...numbers.slice(2), ...(outline.open ? [] : [a, b])];
  return { ...shape, outlines: [withMiddles({ ...outline, x: a, y: b, points })] };
}

/** With the point of each arc half way along it. */
export function withMiddles(outline: Outline): Outline {
  const points = [...outline.points];
  let from = { x: outline.x, y: outline.y };
  let at = 0;
  for (const kind of outline.kinds) {
    const end = { x: points[at + kind * 2 - 2], y: points[at + kind * 2 - 1] };
    if (kind === 2) {
      const { x, y } = onArc([from, { x: points[at], y: points[at + 1] }, end], 0.5);
      points.splice(at, 2, x, y);
    }
    from = end;
    at += kind * 2;
  }
  return { ...outline, points };
}
