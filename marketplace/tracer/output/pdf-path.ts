import type { Outline, Shape } from "../drawing.ts";

/** A shape as PDF's path operators, ready to be filled or stroked. */
export function pathOperators(shape: Shape): string {
  switch (shape.kind) {
    case "circle":
      return roundOperators({ x: shape.cx, y: shape.cy }, shape.r, shape.r);
    case "ellipse":
      return roundOperators({ x: shape.cx, y: shape.cy }, shape.rx, shape.ry);
    case "line":
      return `${n(shape.x1)} ${n(shape.y1)} m ${n(shape.x2)} ${n(shape.y2)} l `;
    case "path":
      return shape.outlines.map(outlineOperators).join("");
    case "rect":
      return shape.rx
        ? roundedOperators(shape, shape.rx)
        : `${n(shape.x)} ${n(shape.y)} ${n(shape.width)} ${n(shape.height)} re `;
    default: {
      let text = "";
      for (let i = 0; i + 1 < shape.points.length; i += 2)
        text += `${n(shape.points[i])} ${n(shape.points[i + 1])} ${i === 0 ? "m" : "l"} `;
      return shape.kind === "polygon" ? `${text}h ` : text;
    }
  }
}

/** Handles of a quarter circle, as a share of its radius: 0.03 % off. */
const handle = 0.5523;

const curve = (...v: number[]) => `${v.map(n).join(" ")} c `;

function roundOperators({ x, y }: { x: number; y: number }, rx: number, ry: number): string {
  const kx = rx * handle;
  const ky = ry * handle;
  return (
    `${n(x + rx)} ${n(y)} m ` +
    curve(x + rx, y + ky, x + kx, y + ry, x, y + ry) +
    curve(x - kx, y + ry, x - rx, y + ky, x - rx, y) +
    curve(x - rx, y - ky, x - kx, y - ry, x, y - ry) +
    `${curve(x + kx, y - ry, x + rx, y - ky, x + rx, y)}h `
  );
}

function roundedOperators({ x, y, width, height }: Extract<Shape, { kind: "rect" }>, r: number): string {
  const [right, bottom, k] = [x + width, y + height, r * (1 - handle)];
  return (
    `${n(x + r)} ${n(y)} m ${n(right - r)} ${n(y)} l ${curve(right - k, y, right, y + k, right, y + r)}` +
    `${n(right)} ${n(bottom - r)} l ${curve(right, bottom - k, right - k, bottom, right - r, bottom)}` +
    `${n(x + r)} ${n(bottom)} l ${curve(x + k, bottom, x, bottom - k, x, bottom - r)}` +
    `${n(x)} ${n(y + r)} l ${curve(x, y + k, x + k, y, x + r, y)}h `
  );
}

function outlineOperators({ x, y, kinds, points, open }: Outline): string {
  let text = `${n(x)} ${n(y)} m `;
  let [fromX, fromY] = [x, y];
  let i = 0;
  for (const kind of kinds) {
    const values = points.slice(i, i + kind * 2);
    i += kind * 2;
    if (kind === 2) text += arcOperators(fromX, fromY, values);
    else text += `${values.map(n).join(" ")} ${kind === 1 ? "l" : "c"} `;
    [fromX, fromY] = values.slice(-2);
  }
  return open ? text : `${text}h `;
}

/** An arc by way of a point half way, as cubics of at most a quarter circle. */
function arcOperators(x: number, y: number, [mx, my, toX, toY]: readonly number[]): string {
  const [ax, ay, bx, by] = [mx - x, my - y, toX - x, toY - y];
  const cross = 2 * (ax * by - ay * bx);
  if (Math.abs(cross) < 1e-9) return `${n(toX)} ${n(toY)} l `;
  const [a, b] = [ax * ax + ay * ay, bx * bx + by * by];
  const cx = x + (by * a - ay * b) / cross;
  const cy = y + (ax * b - bx * a) / cross;
  const r = Math.hypot(x - cx, y - cy);
  const start = Math.atan2(y - cy, x - cx);
  const whole = 2 * Math.PI;
  const ahead = (angle: number) => (((angle - start) % whole) + whole) % whole;
  const sweep = ahead(Math.atan2(toY - cy, toX - cx)) - (cross > 0 ? 0 : whole);
  const pieces = Math.max(1, Math.ceil(Math.abs(sweep) / (Math.PI / 2) - 1e-6));
  const step = sweep / pieces;
  const k = (4 / 3) * Math.tan(step / 4) * r;
  let text = "";
  for (let i = 0; i < pieces; i++) {
    const [from, to] = [start + i * step, start + (i + 1) * step];
    const [fx, fy, tx, ty] = [Math.cos(from), Math.sin(from), Math.cos(to), Math.sin(to)];
    text += curve(
      ...[cx + r * fx - k * fy, cy + r * fy + k * fx],
      ...[cx + r * tx + k * ty, cy + r * ty - k * tx],
      ...[cx + r * tx, cy + r * ty],
    );
  }
  return text;
}

export function n(v: number): string {
  return String(Math.round(v * 1000) / 1000);
}
