import { asWords } from "./runs.ts";

/**
 * Step 1: takes anti-aliasing back. A pixel whose colour lies between those of two opposite neighbours is a blend of
 * two areas, not an area; it takes the colour of the nearest-coloured neighbour that is none. The outline's sub-pixel
 * place is read from the untouched source later (snap.ts). What goes on changing beyond those neighbours is shading, and stays.
 *
 * In: premultiplied RGBA. Out: a copy with the blends replaced. The test is the
 * colour-line model of matting: Smith & Blinn, "Blue Screen Matting" (1996).
 */
export function unblend(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const out = new Uint8Array(pixels);
  const blends = findBlends(pixels, width, height);
  for (let pass = 0; pass < 2 && blends.count > 0; pass++) replaceBlends(out, blends, width);
  return out;
}

/** What two colours differ by at least where one is not the other's shade. */
export const contrastSquaredMin = 28 * 28;

interface Blends {
  readonly is: Uint8Array;
  readonly at: Int32Array;
  count: number;
}

function findBlends(pixels: Uint8Array, width: number, height: number): Blends {
  const words = asWords(pixels);
  const is = new Uint8Array(width * height);
  let at = blendsAtBorders(pixels, words, is, width);
  let count = at.length;
  for (let y = 1; y < height - 1; y++) {
    const end = (y + 1) * width - 1;
    const isInner = y > 2 && y < height - 3;
    let left = words[y * width];
    let here = words[y * width + 1];
    let right = here;
    for (let p = y * width + 1; p < end; p++, left = here, here = right) {
      right = words[p + 1];
      if (here === left && here === right && here === words[p - width]) continue;
      const beyond = isInner && p > y * width + 2 && p < end - 2;
      const span = Math.max(
        between(pixels, words, p, 1, beyond),
        between(pixels, words, p, width, beyond),
        between(pixels, words, p, width + 1, beyond),
        between(pixels, words, p, width - 1, beyond),
      );
      // The middle of a thin line lies between its neighbours along the line, but stands out across it.
      if (span === 0 || ridge(pixels, p, width) > 0.6 * span) continue;
      is[p] = 1;
      if (count === at.length) {
        const grown = new Int32Array(count * 2 + 1024);
        grown.set(at);
        at = grown;
      }
      at[count++] = p;
    }
  }
  return { is, at, count };
}

/** Blends along the borders, where an outline leaves the picture: there they lie between their neighbours on the border. */
function blendsAtBorders(pixels: Uint8Array, words: Int32Array, is: Uint8Array, width: number): Int32Array {
  const last = words.length - width;
  const at: number[] = [];
  const look = (p: number, step: number) => {
    if (between(pixels, words, p, step, false) === 0) return;
    is[p] = 1;
    at.push(p);
  };
  for (let x = 1; x < width - 1; x++) {
    look(x, 1);
    if (last > 0) look(last + x, 1);
  }
  for (let p = width; p < last; p += width) {
    look(p, width);
    if (width > 1) look(p + width - 1, width);
  }
  return Int32Array.from(at);
}

/**
 * The squared contrast between `p - step` and `p + step` if pixel `p` lies on the colour line between them, clear of both
 * ends, and this is an edge as far as one looks `beyond` them; else 0.
 */
function between(pixels: Uint8Array, words: Int32Array, p: number, step: number, beyond: boolean): number {
  const here = words[p];
  if (words[p - step] === here || words[p + step] === here) return 0;
  const i = p * 4;
  const a = (p - step) * 4;
  const b = (p + step) * 4;
  const r = pixels[b] - pixels[a];
  const g = pixels[b + 1] - pixels[a + 1];
  const u = pixels[b + 2] - pixels[a + 2];
  const o = pixels[b + 3] - pixels[a + 3];
  const span = r * r + g * g + u * u + o * o;
  if (span < contrastSquaredMin) return 0;
  const pr = pixels[i] - pixels[a];
  const pg = pixels[i + 1] - pixels[a + 1];
  const pu = pixels[i + 2] - pixels[a + 2];
  const po = pixels[i + 3] - pixels[a + 3];
  const along = pr * r + pg * g + pu * u + po * o;
  if (along < 0.1 * span || along > 0.9 * span) return 0;
  const off = pr * pr + pg * pg + pu * pu + po * po - (along * along) / span;
  if (off >= 0.02 * span + 40) return 0;
  return !beyond || isEdge(pixels, a, b, step * 4, span) ? span : 0;
}

/**
 * Whether the colours on both sides of a blend, at `a` and `b`, end there: one is that of the next pixel, and neither is on
 * the way to more. Or the edge is a blurred one, three pixels wide between even colours.
 */
function isEdge(pixels: Uint8Array, a: number, b: number, step: number, span: number): boolean {
  const [afterA, afterB] = [a - step, b + step];
  let onFromA = 0;
  let onFromB = 0;
  for (let c = 0; c < 4; c++) {
    const across = pixels[b + c] - pixels[a + c];
    onFromA += (pixels[a + c] - pixels[afterA + c]) * across;
    onFromB += (pixels[afterB + c] - pixels[b + c]) * across;
  }
  const even = Math.min(squaredDistance(pixels, a, afterA), squaredDistance(pixels, b, afterB));
  const on = Math.max(onFromA, onFromB);
  if (on <= backMax * span || (even <= evenMax * span && on <= onMax * span)) return true;
  const wide = blurredMax * squaredDistance(pixels, afterA, afterB);
  return (
    wide > 0 &&
    squaredDistance(pixels, afterA, afterA - step) <= wide &&
    squaredDistance(pixels, afterB, afterB + step) <= wide
  );
}

/** Shares of the contrast, squared: by which colours differ that are one, by which shading goes on, by which a blur ends. */
const evenMax = 0.1;
const onMax = 0.5;
const backMax = 0.1;
const blurredMax = 0.005;

function replaceBlends(out: Uint8Array, blends: Blends, width: number): void {
  const words = asWords(out);
  const { is, at } = blends;
  let left = 0;
  let resolved = 0;
  const pure = new Int32Array(blends.count);
  for (let n = 0; n < blends.count; n++) {
    const p = at[n];
    const best = nearestPure(out, is, p, width);
    if (best < 0) at[left++] = p;
    else {
      words[p] = words[best];
      pure[resolved++] = p;
    }
  }
  for (let n = 0; n < resolved; n++) is[pure[n]] = 0;
  blends.count = left;
}

/** The neighbour of nearest colour that is no blend; -1 if all are. */
function nearestPure(pixels: Uint8Array, isBlend: Uint8Array, p: number, width: number): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  const x = p % width;
  const [from, to] = [x === 0 ? 0 : -1, x === width - 1 ? 0 : 1];
  for (let dy = -width; dy <= width; dy += width) {
    for (let q = p + dy + from; q <= p + dy + to; q++) {
      if (isBlend[q] !== 0) continue;
      const distance = squaredDistance(pixels, p * 4, q * 4);
      if (distance >= least) continue;
      least = distance;
      best = q;
    }
  }
  return best;
}

/** How far pixel `p` stands out from two opposite neighbours to the same side, squared; the most over four directions. */
function ridge(pixels: Uint8Array, p: number, width: number): number {
  let most = 0;
  for (let k = 0; k < 4; k++) {
    const step = (k === 0 ? 1 : width + k - 2) * 4;
    let dot = 0;
    for (let i = p * 4, end = i + 4; i < end; i++) {
      const here = pixels[i];
      dot += (here - pixels[i - step]) * (here - pixels[i + step]);
    }
    if (dot > most) most = dot;
  }
  return most;
}

/** Of the pixels whose bytes begin at `a` and `b`. */
export function squaredDistance(pixels: Uint8Array, a: number, b: number): number {
  const r = pixels[a] - pixels[b];
  const g = pixels[a + 1] - pixels[b + 1];
  const u = pixels[a + 2] - pixels[b + 2];
  const o = pixels[a + 3] - pixels[b + 3];
  return r * r + g * g + u * u + o * o;
}
