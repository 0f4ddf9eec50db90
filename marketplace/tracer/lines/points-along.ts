import { lengthOf } from "../curves/length.ts";
import type { Outline, Shape } from "../drawing.ts";
import type { Place } from "./straight-line.ts";

/** Between points along a shape, px, where nothing else is asked for. */
export const step = 0.7;

const placeAt = (points: readonly number[], at: number): Place => ({ x: points[at], y: points[at + 1] });

/** Points along a shape's outline; `counts` has how many each part of it takes, and gets what it lacks. */
export function pointsAlong(shape: Shape, apart = step, counts: number[] = []): Place[] {
  const out: Place[] = [];
  let part = 0;
  const countOf = (length: number, least: number) => {
    counts[part] ??= Math.max(least, Math.ceil(length / apart));
    return counts[part++];
  };
  const line = (from: Place, to: Place) => {
    const n = countOf(lengthOf(to.x - from.x, to.y - from.y), 1);
    for (let i = 0; i < n; i++)
      out.push({ x: from.x + ((to.x - from.x) * i) / n, y: from.y + ((to.y - from.y) * i) / n });
  };
  const round = (centre: Place, rx: number, ry: number, from = 0, sweep = 2 * Math.PI) => {
    const n = countOf(Math.abs(sweep) * Math.max(rx, ry), 2);
    for (let i = 0; i < n; i++) {
      const angle = from + (sweep * i) / n;
      out.push({ x: centre.x + rx * Math.cos(angle), y: centre.y + ry * Math.sin(angle) });
    }
  };
  if (shape.kind === "circle") round({ x: shape.cx, y: shape.cy }, shape.r, shape.r);
  else if (shape.kind === "ellipse") round({ x: shape.cx, y: shape.cy }, shape.rx, shape.ry);
  else if (shape.kind === "line") {
    line({ x: shape.x1, y: shape.y1 }, { x: shape.x2, y: shape.y2 });
    out.push({ x: shape.x2, y: shape.y2 });
  } else if (shape.kind === "rect") {
    const { x, y, width, height, rx: r = 0 } = shape;
    const [right, bottom] = [x + width, y + height];
    const quarter = (cx: number, cy: number, from: number) => r > 0 && round({ x: cx, y: cy }, r, r, from, Math.PI / 2);
    line({ x: x + r, y }, { x: right - r, y });
    quarter(right - r, y + r, -Math.PI / 2);
    line({ x: right, y: y + r }, { x: right, y: bottom - r });
    quarter(right - r, bottom - r, 0);
    line({ x: right - r, y: bottom }, { x: x + r, y: bottom });
    quarter(x + r, bottom - r, Math.PI / 2);
    line({ x, y: bottom - r }, { x, y: y + r });
    quarter(x + r, y + r, Math.PI);
  } else if (shape.kind === "path") return shape.outlines.flatMap((outline) => along(outline, countOf));
  else {
    const { points } = shape;
    for (let i = 0; i + 3 < points.length; i += 2) line(placeAt(points, i), placeAt(points, i + 2));
    if (shape.kind === "polygon") line(placeAt(points, points.length - 2), placeAt(points, 0));
    else out.push(placeAt(points, points.length - 2));
  }
  return out;
}

/** Points along an outline, by shares of each of its segments. */
function along({ x, y, kinds, points }: Outline, countOf: (length: number, least: number) => number): Place[] {
  const out: Place[] = [];
  let from = { x, y };
  let at = 0;
  for (const kind of kinds) {
    const controls = [from, ...Array.from({ length: kind }, (_, k) => placeAt(points, at + k * 2))];
    at += kind * 2;
    const length = controls.reduce(
      (sum, c, i) => (i > 0 ? sum + lengthOf(c.x - controls[i - 1].x, c.y - controls[i - 1].y) : 0),
      0,
    );
    const n = countOf((kind === 2 ? 1.6 : 1) * length, 1);
    for (let i = 0; i < n; i++) out.push(kind === 2 ? onArc(controls, i / n) : onBezier(controls, i / n));
    from = controls[kind];
  }
  out.push(from);
  return out;
}

function onBezier(controls: readonly Place[], t: number): Place {
  if (controls.length === 1) return controls[0];
  const next = controls.slice(1).map((c, i) => ({
    x: controls[i].x + (c.x - controls[i].x) * t,
    y: controls[i].y + (c.y - controls[i].y) * t,
  }));
  return onBezier(next, t);
}

/** The point at a share of an arc's way, by its ends and a point between. */
export function onArc([a, m, b]: readonly Place[], t: number): Place {
  const [ax, ay, bx, by] = [m.x - a.x, m.y - a.y, b.x - a.x, b.y - a.y];
  const cross = 2 * (ax * by - ay * bx);
  if (Math.abs(cross) < 1e-9) return { x: a.x + bx * t, y: a.y + by * t };
  const [p, q] = [ax * ax + ay * ay, bx * bx + by * by];
  const [cx, cy] = [a.x + (by * p - ay * q) / cross, a.y + (ax * q - bx * p) / cross];
  const start = Math.atan2(a.y - cy, a.x - cx);
  const ahead = (angle: number) => (((angle - start) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI);
  const sweep = ahead(Math.atan2(b.y - cy, b.x - cx)) - (cross > 0 ? 0 : 2 * Math.PI);
  const r = lengthOf(a.x - cx, a.y - cy);
  return { x: cx + r * Math.cos(start + sweep * t), y: cy + r * Math.sin(start + sweep * t) };
}
