import type { Outline, Shape } from "../drawing.ts";
import { pathData } from "./path-data.ts";
import { outlinesOf } from "./read-outlines.ts";

/** From the left top to the right bottom, in units of the file. */
export type Box = readonly [left: number, top: number, right: number, bottom: number];

/**
 * The box around a shape as it is written, first as the standard has it, then as viewers take it that measure a curve by its handles.
 * Null where there is none to measure by.
 */
export function boxesOf(shape: Shape, unit: number): readonly [Box, Box] | null {
  const n = (v: number) => Math.round(v * unit);
  if (shape.kind === "path") {
    const outlines = outlinesOf(pathData(shape.outlines, unit));
    if (outlines.some(({ kinds }) => kinds.includes(2))) return null;
    const boxes = [
      around(outlines.flatMap(extremes)),
      around(outlines.flatMap(({ x, y, points }) => [x, y, ...points])),
    ];
    return boxes.every(isWide) ? (boxes as [Box, Box]) : null;
  }
  const box = boxOf(shape, n);
  return isWide(box) ? [box, box] : null;
}

function boxOf(shape: Exclude<Shape, { kind: "path" }>, n: (v: number) => number): Box {
  switch (shape.kind) {
    case "rect": {
      const [x, y] = [n(shape.x), n(shape.y)];
      return [x, y, x + n(shape.width), y + n(shape.height)];
    }
    case "circle":
    case "ellipse": {
      const { cx, cy } = shape;
      const [rx, ry] = shape.kind === "circle" ? [n(shape.r), n(shape.r)] : [n(shape.rx), n(shape.ry)];
      return [n(cx) - rx, n(cy) - ry, n(cx) + rx, n(cy) + ry];
    }
    case "line":
      return around([shape.x1, shape.y1, shape.x2, shape.y2].map(n));
    default:
      return around(shape.points.map(n));
  }
}

function isWide([left, top, right, bottom]: Box): boolean {
  return right > left && bottom > top;
}

/** x and y in turn. */
function around(points: readonly number[]): Box {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 2) {
    left = Math.min(left, points[i]);
    right = Math.max(right, points[i]);
    top = Math.min(top, points[i + 1]);
    bottom = Math.max(bottom, points[i + 1]);
  }
  return [left, top, right, bottom];
}

/** The ends of an outline's segments, and where its curves reach farthest. */
function extremes({ x, y, kinds, points }: Outline): number[] {
  const found = [x, y];
  let from = [x, y];
  let i = 0;
  for (const kind of kinds) {
    const segment = points.slice(i, i + 2 * kind);
    i += 2 * kind;
    if (kind === 3) {
      for (const axis of [0, 1]) {
        const values = [from[axis], segment[axis], segment[axis + 2], segment[axis + 4]];
        for (const t of turns(values))
          found.push(...[0, 1].map((c) => at([from[c], segment[c], segment[c + 2], segment[c + 4]], t)));
      }
    }
    from = segment.slice(-2);
    found.push(...from);
  }
  return found;
}

/** Where between its ends a cubic's coordinate turns. */
function turns([p, q, r, s]: readonly number[]): number[] {
  const [a, b, c] = [s - 3 * r + 3 * q - p, 2 * (r - 2 * q + p), q - p];
  const root = Math.sqrt(b * b - 4 * a * c);
  const all = Math.abs(a) < 1e-9 ? [-c / b] : [(-b + root) / (2 * a), (-b - root) / (2 * a)];
  return all.filter((t) => t > 0 && t < 1);
}

function at([p, q, r, s]: readonly number[], t: number): number {
  const u = 1 - t;
  return u * u * u * p + 3 * u * u * t * q + 3 * u * t * t * r + t * t * t * s;
}
