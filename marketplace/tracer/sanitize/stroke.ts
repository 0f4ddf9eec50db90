import type { Outline } from "../drawing.ts";
import type { Curve } from "./path-data.ts";

export type Cap = "butt" | "round" | "square";

/**
 * A stroke as outlines to be filled together, nonzero: a ribbon per smooth stretch, a disc at each corner (joins are
 * round) and round end. `scale` is how many pixels of the picture a unit becomes: curves are flattened to a tenth of one.
 */
export function strokeOutlines(curve: Curve, width: number, cap: Cap, scale: number): Outline[] {
  const points = flatten(curve, scale);
  const half = width / 2;
  const outlines: Outline[] = [];
  const n = points.length;
  if (n < 2) return cap === "butt" || n === 0 ? [] : [disc(points[0], half)];
  let begin = 0;
  for (let i = 1; i < n; i++) {
    const corner = i === n - 1 || turn(points[i - 1], points[i], points[i + 1]) > cornerTurn;
    if (!corner) continue;
    outlines.push(ribbon(points.slice(begin, i + 1), half));
    if (i < n - 1 || curve.closed) outlines.push(disc(points[i], half));
    begin = i;
  }
  if (!curve.closed) outlines.push(...ends(points, half, cap));
  return outlines;
}

type Point = readonly [number, number];

/** Where a line turns by more than this many radians it has a corner. */
const cornerTurn = 0.35;

function ends(points: readonly Point[], half: number, cap: Cap): Outline[] {
  if (cap === "butt") return [];
  const tips = [
    [points[1], points[0]],
    [points[points.length - 2], points[points.length - 1]],
  ] as const;
  return tips.map(([from, tip]) => {
    if (cap === "round") return disc(tip, half);
    const [dx, dy] = direction(from, tip);
    return ribbon([tip, [tip[0] + dx * half, tip[1] + dy * half]], half);
  });
}

/** Both sides of a line, half a width away. */
function ribbon(points: readonly Point[], half: number): Outline {
  const left: number[] = [];
  const right: number[] = [];
  for (let i = 0; i < points.length; i++) {
    const [x, y] = points[i];
    const [ax, ay] = i > 0 ? direction(points[i - 1], points[i]) : [0, 0];
    const [bx, by] = i + 1 < points.length ? direction(points[i], points[i + 1]) : [0, 0];
    const [dx, dy] = direction([0, 0], [ax + bx, ay + by]);
    left.push(x + dy * half, y - dx * half);
    right.unshift(x - dy * half, y + dx * half);
  }
  return {
    x: left[0],
    y: left[1],
    kinds: Array(points.length * 2 - 1).fill(1),
    points: [...left.slice(2), ...right],
  };
}

/** A circle of four cubics, going round the same way as a ribbon. */
function disc([cx, cy]: Point, r: number): Outline {
  const k = r * 0.5523;
  return {
    x: cx + r,
    y: cy,
    kinds: [3, 3, 3, 3],
    points: [
      ...[cx + r, cy + k, cx + k, cy + r, cx, cy + r],
      ...[cx - k, cy + r, cx - r, cy + k, cx - r, cy],
      ...[cx - r, cy - k, cx - k, cy - r, cx, cy - r],
      ...[cx + k, cy - r, cx + r, cy - k, cx + r, cy],
    ],
  };
}

function direction([ax, ay]: Point, [bx, by]: Point): Point {
  const length = Math.hypot(bx - ax, by - ay);
  return length > 0 ? [(bx - ax) / length, (by - ay) / length] : [1, 0];
}

function turn(a: Point, b: Point, c: Point): number {
  const [px, py] = direction(a, b);
  const [qx, qy] = direction(b, c);
  return Math.abs(Math.atan2(px * qy - py * qx, px * qx + py * qy));
}

/** Points along a curve, the first again at the end of a closed one; none twice in a row. */
export function flatten({ x, y, kinds, points, closed }: Curve, scale: number): Point[] {
  const out: Point[] = [[x, y]];
  const add = (px: number, py: number) => {
    const [lx, ly] = out[out.length - 1];
    if (Math.abs(px - lx) + Math.abs(py - ly) > 1e-6) out.push([px, py]);
  };
  let [fx, fy] = [x, y];
  let i = 0;
  for (const kind of kinds) {
    if (kind === 3) {
      const [ax, ay, bx, by, tx, ty] = points.slice(i, i + 6) as [number, number, number, number, number, number];
      const bend = Math.hypot(fx - 2 * ax + bx, fy - 2 * ay + by) + Math.hypot(ax - 2 * bx + tx, ay - 2 * by + ty);
      const pieces = Math.min(64, Math.max(2, Math.ceil(Math.sqrt(bend * scale * 4))));
      for (let k = 1; k < pieces; k++) {
        const t = k / pieces;
        const s = 1 - t;
        const mix = (p: number, q: number, r: number, u: number) =>
          s * s * s * p + 3 * s * s * t * q + 3 * s * t * t * r + t * t * t * u;
        add(mix(fx, ax, bx, tx), mix(fy, ay, by, ty));
      }
    }
    i += kind * 2;
    [fx, fy] = [points[i - 2], points[i - 1]];
    add(fx, fy);
  }
  if (closed) add(x, y);
  return out;
}
