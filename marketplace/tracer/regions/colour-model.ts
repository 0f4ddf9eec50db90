import { asWords, type Runs } from "../image/runs.ts";

/**
 * The colour of an area as a plane: c(x, y) = c0 + gx·x + gy·y for each of four premultiplied channels, so that a smooth
 * gradient is one area. An area is known by its moments alone, and moments of a union are sums.
 *
 * Layout of one area's moments, `stride` doubles: n, Σx, Σy, Σxx, Σxy, Σyy, then Σc, Σcx, Σcy per channel, then Σ|c|².
 * |c|² = (r² + g² + b²) on black and ((r − a)² + …) on white, halved: an error counts as it is seen, in whatever colour.
 * Source: piecewise-affine Mumford-Shah, e.g. Kiefer, Storath & Weinmann (2020), with the normal equations in closed form.
 */
export const stride = 19;
/** Where Σc of the first channel stands in the moments. */
export const coloursAt = 6;
/** How many moments each channel has. */
export const channelStride = 3;
/** Where Σc of the fourth channel, alpha, stands in the moments. */
export const alphaAt = coloursAt + 3 * channelStride;
/** Where Σ|c|² stands in the moments. */
const squaresAt = stride - 1;

/** Slopes cost as if the area had this much more variance in x and in y (px²): a thin sliver is flat, not a steep ramp. */
const slopeRidge = 3;

/** A picture cut into areas. */
export interface Segmented {
  /** An area per pixel. */
  readonly labels: Int32Array;
  /** Stretches of one area in each row, not always the longest. */
  readonly runs: Runs;
  /** The moments of each area. */
  readonly sums: Float64Array;
  /** The unblended picture, premultiplied. */
  readonly clean: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Adds up the moments of every area; `areaOf` has the area of each run. */
export function moments(
  pixels: Uint8Array,
  width: number,
  runs: Runs,
  areaOf: Int32Array,
  count: number,
): Float64Array {
  const sums = new Float64Array(count * stride);
  const picture = { pixels, words: asWords(pixels), width, runs };
  for (let row = 0; row + 1 < runs.rows.length; row++) addRow(picture, row, areaOf, sums);
  return sums;
}

interface Words {
  readonly pixels: Uint8Array;
  /** `pixels`, one pixel a word. */
  readonly words: Int32Array;
  readonly width: number;
  readonly runs: Runs;
}

/** One row's share of the moments, by runs of one area, and within these of one colour. */
function addRow({ pixels, words, width, runs }: Words, row: number, areaOf: Int32Array, sums: Float64Array): void {
  const { begins, rows } = runs;
  const left = row * width + width / 2;
  const y = row + 0.5 - (rows.length - 1) / 2;
  for (let run = rows[row]; run < rows[row + 1]; run++) {
    const first = begins[run];
    const end = begins[run + 1];
    let r = 0;
    let g = 0;
    let b = 0;
    let alpha = 0;
    let rx = 0;
    let gx = 0;
    let bx = 0;
    let ax = 0;
    let squares = 0;
    for (let p = first; p < end; ) {
      const word = words[p];
      const begun = p;
      do p++;
      while (p < end && words[p] === word);
      const n = p - begun;
      const sx = n * ((begun + p) / 2 - left);
      const i = begun * 4;
      const vr = pixels[i];
      const vg = pixels[i + 1];
      const vb = pixels[i + 2];
      const va = pixels[i + 3];
      r += vr * n;
      g += vg * n;
      b += vb * n;
      alpha += va * n;
      rx += vr * sx;
      gx += vg * sx;
      bx += vb * sx;
      ax += va * sx;
      squares += (vr * vr + vg * vg + vb * vb + va * (1.5 * va - vr - vg - vb)) * n;
    }
    const o = areaOf[run] * stride;
    addPlaces(sums, o, end - first, (first + end) / 2 - left, y);
    sums[o + 6] += r;
    sums[o + 7] += rx;
    sums[o + 8] += r * y;
    sums[o + 9] += g;
    sums[o + 10] += gx;
    sums[o + 11] += g * y;
    sums[o + 12] += b;
    sums[o + 13] += bx;
    sums[o + 14] += b * y;
    sums[o + 15] += alpha;
    sums[o + 16] += ax;
    sums[o + 17] += alpha * y;
    sums[o + 18] += squares;
  }
}

/** The share of a stretch of `n` pixels about (x, y) in the moments of place. */
function addPlaces(sums: Float64Array, o: number, n: number, x: number, y: number): void {
  const sx = n * x;
  sums[o] += n;
  sums[o + 1] += sx;
  sums[o + 2] += n * y;
  sums[o + 3] += sx * x + (n * (n * n - 1)) / 12;
  sums[o + 4] += sx * y;
  sums[o + 5] += n * y * y;
}

/** Squared colour error left by the best plane over one area. */
export function planeError(sums: Float64Array, label: number): number {
  return error(sums, label * stride, nothing, 0);
}

/** Squared colour error left by one plane over the union of two areas. */
export function unionError(sums: Float64Array, a: number, b: number): number {
  return error(sums, a * stride, sums, b * stride);
}

/** Squared error of an area's pixels from their mean colour, per pixel. */
export function unevenness(sums: Float64Array, area: number): number {
  const at = area * stride;
  const n = sums[at];
  const [r, g, b, alpha] = [0, 1, 2, 3].map((c) => sums[at + coloursAt + c * channelStride] / n);
  return sums[at + squaresAt] / n - (r * r + g * g + b * b + alpha * (1.5 * alpha - r - g - b));
}

/** The moments of an area without pixels. */
const nothing = new Float64Array(stride);

/** The error over the union of the area whose moments begin at `i` of `s` and that whose begin at `j` of `t`. */
function error(s: Float64Array, i: number, t: Float64Array, j: number): number {
  const n = s[i] + t[j];
  const x = s[i + 1] + t[j + 1];
  const y = s[i + 2] + t[j + 2];
  const mx = x / n;
  const my = y / n;
  const vxx = s[i + 3] + t[j + 3] - x * mx + n * slopeRidge;
  const vxy = s[i + 4] + t[j + 4] - x * my;
  const vyy = s[i + 5] + t[j + 5] - y * my + n * slopeRidge;
  const inverse = 1 / (vxx * vyy - vxy * vxy);
  let left = s[i + squaresAt] + t[j + squaresAt];
  let all = 0;
  let allX = 0;
  let allY = 0;
  for (let k = coloursAt; k < alphaAt; k += channelStride) {
    const c = s[i + k] + t[j + k];
    const bx = s[i + k + 1] + t[j + k + 1] - mx * c;
    const by = s[i + k + 2] + t[j + k + 2] - my * c;
    left -= (c * c) / n + (bx * bx * vyy - 2 * bx * by * vxy + by * by * vxx) * inverse;
    all += c;
    allX += bx;
    allY += by;
  }
  const alpha = s[i + alphaAt] + t[j + alphaAt];
  const ax = s[i + alphaAt + 1] + t[j + alphaAt + 1] - mx * alpha;
  const ay = s[i + alphaAt + 2] + t[j + alphaAt + 2] - my * alpha;
  const ox = 1.5 * ax - allX;
  const oy = 1.5 * ay - allY;
  left -= (alpha * (1.5 * alpha - all)) / n + (ax * ox * vyy - (ax * oy + ay * ox) * vxy + ay * oy * vxx) * inverse;
  return Math.max(left, 0);
}

/** How much squared error slopes must explain to be kept, in the channels from `first` on. */
export interface SlopeWorth {
  readonly gainMin: number;
  readonly first: number;
}

const anySlope: SlopeWorth = { gainMin: 0, first: 0 };

/**
 * The plane of an area, 12 numbers from `at` on: per channel the colour at the picture's centre and the slopes per px.
 * False when its slopes are not worth keeping: then they are 0.
 */
export function plane(
  sums: Float64Array,
  label: number,
  out: Float64Array,
  at: number,
  { gainMin, first }: SlopeWorth = anySlope,
): boolean {
  const o = label * stride;
  const n = sums[o];
  const mx = sums[o + 1] / n;
  const my = sums[o + 2] / n;
  const vxx = sums[o + 3] - sums[o + 1] * mx + n * slopeRidge;
  const vxy = sums[o + 4] - sums[o + 1] * my;
  const vyy = sums[o + 5] - sums[o + 2] * my + n * slopeRidge;
  const inverse = 1 / (vxx * vyy - vxy * vxy);
  let gain = 0;
  for (let c = 0; c < 4; c++) {
    const k = o + coloursAt + c * channelStride;
    const mean = sums[k] / n;
    const bx = sums[k + 1] - sums[o + 1] * mean;
    const by = sums[k + 2] - sums[o + 2] * mean;
    const gx = (bx * vyy - by * vxy) * inverse;
    const gy = (by * vxx - bx * vxy) * inverse;
    if (c >= first) gain += gx * bx + gy * by;
    out[at + c * 3] = mean - gx * mx - gy * my;
    out[at + c * 3 + 1] = gx;
    out[at + c * 3 + 2] = gy;
  }
  if (gain >= gainMin) return true;
  for (let c = 0; c < 4; c++) {
    out[at + c * 3] = sums[o + coloursAt + c * channelStride] / n;
    out[at + c * 3 + 1] = 0;
    out[at + c * 3 + 2] = 0;
  }
  return false;
}
