import type { Fill, Shape } from "../drawing.ts";
import { type Box, boxesOf } from "./boxes.ts";

export type Radial = Extract<Fill, { kind: "radial" }>;

/**
 * A radial gradient's circle, as attributes: in shares of the box around the shape that it fills, where these are halves or
 * wholes, so that like shapes share a gradient; otherwise in the file's units.
 */
export function radialCircle(fill: Radial, shape: Shape, unit: number): string {
  const shares = sharesOf(fill, shape, unit);
  if (shares) {
    return ["cx", "cy", "r"].map((name, i) => (shares[i] === 0.5 ? "" : ` ${name}="${shares[i]}"`)).join("");
  }
  const n = (v: number) => String(Math.round(v * unit));
  return ` gradientUnits="userSpaceOnUse" cx="${n(fill.cx)}" cy="${n(fill.cy)}" r="${n(fill.r)}"${squeeze(fill, unit)}`;
}

/** The circle of shares `cx`, `cy` and `r` in a box. */
export function radialInBox(cx: number, cy: number, r: number, [left, top, right, bottom]: Box) {
  const [width, height] = [right - left, bottom - top];
  return { cx: left + cx * width, cy: top + cy * height, r: r * width, ...(width !== height && { ry: r * height }) };
}

function sharesOf({ cx, cy, r, ry = r }: Radial, shape: Shape, unit: number): readonly number[] | null {
  const box = shape.kind === "path" ? null : boxesOf(shape, unit)?.[0];
  if (!box) return null;
  const [left, top, right, bottom] = box;
  const [width, height] = [right - left, bottom - top];
  const n = (v: number) => Math.round(v * unit);
  const shares = [(n(cx) - left) / width, (n(cy) - top) / height, n(r) / width];
  return n(ry) === shares[2] * height && shares.every((share) => share === 0 || share === 0.5 || share === 1)
    ? shares
    : null;
}

/** Brings a circle's height to that of an ellipse with the same middle. */
function squeeze({ cy, r, ry = r }: { cy: number; r: number; ry?: number }, unit: number): string {
  const by = Math.round((ry / r) * 1000) / 1000;
  const share = String(by).replace(/^0\./, ".");
  return by === 1 ? "" : ` gradientTransform="matrix(1 0 0 ${share} 0 ${Math.round(cy * unit * (1 - by))})"`;
}
