import { opaqueMin } from "../drawing.ts";
import { fillIn } from "../image/fill-in.ts";
import type { Fades } from "./fades.ts";

/** A soft shadow or glow: one colour, its opacity falling smoothly to nothing. A window of the picture, px. */
export interface Shadow {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Straight colour, 0..255. */
  readonly colour: readonly [number, number, number];
  /** Opacity 0..255 per pixel of the window; under what lies on the shadow a smooth guess. */
  readonly alpha: Float32Array;
  /** 1 where the shadow, or nothing at all, is seen. */
  readonly bare: Uint8Array;
}

/**
 * The shadow as a field of opacity: as seen where it is bare, carried on in straight lines under the edges of what lies
 * on it, filled in smoothly beyond. Null where much of what lies on it is itself to be seen through: then what is whose
 * cannot be told.
 */
export function describeShadow(
  { colour, members }: Fades,
  pixels: Uint8Array,
  width: number,
  height: number,
): Shadow | null {
  let left = width;
  let right = 0;
  let top = height;
  let bottom = 0;
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (members[p] === 0) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    }
  }
  left = Math.max(0, left - margin);
  top = Math.max(0, top - margin);
  right = Math.min(width, right + 1 + margin);
  bottom = Math.min(height, bottom + 1 + margin);
  const w = right - left;
  const h = bottom - top;
  const seen = new Uint8Array(w * h);
  const alpha = new Float32Array(w * h);
  const bare = new Uint8Array(w * h);
  for (let y = 0, i = 0; y < h; y++) {
    for (let x = 0, p = (top + y) * width + left; x < w; x++, i++, p++) {
      seen[i] = pixels[p * 4 + 3];
      if (members[p] === 0 && seen[i] !== 0) continue;
      alpha[i] = seen[i];
      bare[i] = 1;
    }
  }
  const known = bare.slice();
  for (let ring = 0; ring < rings; ring++) extend(alpha, known, bare, seen, w);
  let size = 0;
  let unclear = 0;
  for (let i = 0; i < seen.length; i++) {
    if (bare[i] === 1 && seen[i] !== 0) size++;
    if (known[i] === 0 && seen[i] < opaqueMin) unclear++;
  }
  if (unclear > unclearShareMax * size) return null;
  fillIn(alpha, known, w, h);
  for (let i = 0; i < alpha.length; i++) alpha[i] = Math.min(alpha[i], seen[i]);
  return { x: left, y: top, width: w, height: h, colour, alpha, bare };
}

/** What is added to a shadow's own extent, px, and how far it is carried on under an edge that lies on it. */
const margin = 3;
const rings = 3;
/** Most pixels that are see-through and no edge, to the shadow's own. */
const unclearShareMax = 0.05;
/** How far a pixel may be from where its neighbours point to and be of the shadow, levels. */
const nearMax = 4;

/**
 * Carries the fade on by one pixel, along straight lines: a pixel that is about as its known neighbours foretell is of
 * the shadow itself, at another (an edge that lies on it) the foretold value stands.
 */
function extend(alpha: Float32Array, known: Uint8Array, bare: Uint8Array, seen: Uint8Array, width: number): void {
  const found: number[] = [];
  const steps = [-1, 1, -width, width];
  for (let i = 0; i < known.length; i++) {
    if (known[i] === 1) continue;
    let sum = 0;
    let n = 0;
    for (let k = 0; k < 4; k++) {
      const step = steps[k];
      if (known[i + step] !== 1 || known[i + 2 * step] !== 1) continue;
      const x = i % width;
      if ((k === 0 && x < 2) || (k === 1 && x > width - 3)) continue;
      sum += 2 * alpha[i + step] - alpha[i + 2 * step];
      n++;
    }
    if (n === 0) continue;
    const foretold = Math.max(0, sum / n);
    const own = foretold > 0 && Math.abs(seen[i] - foretold) <= nearMax;
    alpha[i] = own ? seen[i] : foretold;
    if (own) bare[i] = 1;
    found.push(i);
  }
  for (const i of found) known[i] = 1;
}
