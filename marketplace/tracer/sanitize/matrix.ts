import { BadMarkupError } from "./markup.ts";
import { numbersOf } from "./numbers.ts";

/** x' = a·x + c·y + e, y' = b·x + d·y + f, as SVG writes it. */
export type Matrix = readonly [a: number, b: number, c: number, d: number, e: number, f: number];

export const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** First `inner`, then `outer`. */
export function times(outer: Matrix, inner: Matrix): Matrix {
  const [a, b, c, d, e, f] = outer;
  const [p, q, r, s, t, u] = inner;
  return [a * p + c * q, b * p + d * q, a * r + c * s, b * r + d * s, a * t + c * u + e, b * t + d * u + f];
}

export function apply([a, b, c, d, e, f]: Matrix, x: number, y: number): [number, number] {
  return [a * x + c * y + e, b * x + d * y + f];
}

export const determinant = ([a, b, c, d]: Matrix) => a * d - b * c;

/** A `transform` attribute. */
export function readTransform(text: string | undefined): Matrix {
  if (!text) return identity;
  let rest = text.trim();
  let matrix = identity;
  while (rest) {
    const match = /^(matrix|translate|scale|rotate|skewX|skewY)\s*\(([^()]*)\)[\s,]*/.exec(rest);
    if (!match) throw new BadMarkupError(`transform "${text.slice(0, 60)}" cannot be read`);
    matrix = times(matrix, single(match[1], numbersOf(match[2])));
    rest = rest.slice(match[0].length);
  }
  return matrix;
}

function single(kind: string, values: readonly number[]): Matrix {
  const [p = 0, q, r] = values;
  const radians = (p * Math.PI) / 180;
  if (kind === "matrix" && values.length === 6) return values as unknown as Matrix;
  if (kind === "translate" && values.length > 0) return [1, 0, 0, 1, p, q ?? 0];
  if (kind === "scale" && values.length > 0) return [p, 0, 0, q ?? p, 0, 0];
  if (kind === "skewX") return [1, 0, Math.tan(radians), 1, 0, 0];
  if (kind === "skewY") return [1, Math.tan(radians), 0, 1, 0, 0];
  if (kind !== "rotate") throw new BadMarkupError(`${kind}() has the wrong count of numbers`);
  const turn: Matrix = [Math.cos(radians), Math.sin(radians), -Math.sin(radians), Math.cos(radians), 0, 0];
  return times(times([1, 0, 0, 1, q ?? 0, r ?? 0], turn), [1, 0, 0, 1, -(q ?? 0), -(r ?? 0)]);
}
