import { opaqueMin } from "../drawing.ts";
import { fillIn } from "../image/fill-in.ts";

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
 * The shadow as a field of opacity, by the pixels that are 1 in `members`: as seen where it is bare, carried on in straight lines under the edges of the
 * things on it, filled in smoothly beyond. Null where much of those things is itself see-through, so that their colour
 * cannot be told from the shadow's; and where it does not fade: then it is a see-through shape.
 */
export function describeShadow(
  { colour, members }: { readonly colour: Shadow["colour"]; readonly members: Uint8Array },
  pixels: Uint8Array,
  width: number,
  height: number,
): Shadow | null {
  let left = width;
  let right = 0;
  let top = height;
  let bottom = 0;
  for (let y = 0; y < height; y++) {
    const row = members.subarray(y * width, (y + 1) * width);
    const first = row.indexOf(1);
    if (first < 0) continue;
    left = Math.min(left, first);
    right = Math.max(right, row.lastIndexOf(1));
    top = Math.min(top, y);
    bottom = y;
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
  let ring = extend({ alpha, known, bare, seen, width: w }, null);
  for (let n = 1; n < rings; n++) ring = extend({ alpha, known, bare, seen, width: w }, ring);
  let size = 0;
  let unclear = 0;
  for (let i = 0; i < seen.length; i++) {
    if (bare[i] === 1 && seen[i] !== 0) size++;
    if (known[i] === 0 && seen[i] < opaqueMin) unclear++;
  }
  if (unclear > unclearShareMax * size || faint(alpha, bare) < faintShareMin * size) return null;
  fillIn(alpha, known, w, h);
  for (let i = 0; i < alpha.length; i++) alpha[i] = Math.min(alpha[i], seen[i]);
  return { x: left, y: top, width: w, height: h, colour, alpha, bare };
}

/** What is added to a shadow's own extent, px, and how far it is carried on under an edge that lies on it. */
const margin = 3;
const rings = 3;
/** Most pixels that are see-through and no edge, to the shadow's own. */
const unclearShareMax = 0.05;
/** Least of its pixels that are under half as opaque as the most opaque one. */
const faintShareMin = 0.02;

/** How many bare pixels of a shadow are seen, and under half as opaque as the most opaque one. */
function faint(alpha: Float32Array, bare: Uint8Array): number {
  let most = 0;
  for (let i = 0; i < alpha.length; i++) if (bare[i] === 1 && alpha[i] > most) most = alpha[i];
  let n = 0;
  for (let i = 0; i < alpha.length; i++) if (bare[i] === 1 && alpha[i] > 0 && alpha[i] < most / 2) n++;
  return n;
}

/** How far a pixel may be from where its neighbours point to and be of the shadow, levels. */
const nearMax = 4;

/** A window of the picture: what is known of the shadow in it, and the opacity seen. */
interface Window extends Pick<Shadow, "alpha" | "bare" | "width"> {
  readonly known: Uint8Array;
  readonly seen: Uint8Array;
}

/**
 * Carries the fade on by one pixel, along straight lines: a pixel that is about as its known neighbours foretell is of
 * the shadow itself, at another (an edge that lies on it) the foretold value stands. What is out of reach of the pixels
 * found last is as it was. Out: the pixels found.
 */
function extend(window: Window, last: readonly number[] | null): number[] {
  const { alpha, known, bare, seen, width } = window;
  const found: number[] = [];
  const look = (i: number) => {
    if (known[i] !== 0) return;
    const foretold = foretoldAt(i, window);
    if (Number.isNaN(foretold)) return;
    const own = foretold > 0 && Math.abs(seen[i] - foretold) <= nearMax;
    alpha[i] = own ? seen[i] : foretold;
    if (own) bare[i] = 1;
    known[i] = foundNow;
    found.push(i);
  };
  if (last) {
    const steps = [-2, -1, 1, 2, -2 * width, -width, width, 2 * width];
    for (const i of last) for (const step of steps) look(i + step);
  } else
    for (let i = 0; i < known.length; i++) {
      // Most are known, or far from all that are.
      if (known[i] !== 0) continue;
      if (known[i - 1] === 1 || known[i + 1] === 1 || known[i - width] === 1 || known[i + width] === 1) look(i);
    }
  for (const i of found) known[i] = 1;
  return found;
}

/** Marks a pixel that is known from the next round on. */
const foundNow = 2;

/** What the known pixels beside one lead to; NaN where there are none. */
function foretoldAt(i: number, { alpha, known, width }: Window): number {
  const x = i % width;
  let sum = 0;
  let n = 0;
  for (let k = 0; k < 4; k++) {
    const step = k === 0 ? -1 : k === 1 ? 1 : k === 2 ? -width : width;
    if (known[i + step] !== 1 || known[i + 2 * step] !== 1) continue;
    if ((k === 0 && x < 2) || (k === 1 && x > width - 3)) continue;
    sum += 2 * alpha[i + step] - alpha[i + 2 * step];
    n++;
  }
  return n === 0 ? Number.NaN : Math.max(0, sum / n);
}
