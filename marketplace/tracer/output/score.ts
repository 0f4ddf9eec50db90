import type { Colour } from "../drawing.ts";
import { isOpaque, type Raster } from "../image/raster.ts";

/** How well a rendering matches its source. */
export interface Likeness {
  /** 0..1, see `likeness`. */
  readonly score: number;
  /** Mean luma SSIM, 0..1. */
  readonly ssim: number;
  /** Over RGB, dB; 100 for identical pictures. */
  readonly psnr: number;
}

/**
 * The score of a trace: `S^0.5 · P^0.3 · W^0.2`.
 *
 * - S = 0.7 · SSIM(Y) + 0.3 · mean SSIM(Cb, Cr at half size): structure;
 * - P = clamp((PSNR − 10 dB) / 30 dB, 0, 1), PSNR over RGB: exactness;
 * - W = mean luma SSIM of the worst 5 % of 16 × 16 blocks: nothing lost anywhere.
 *
 * SSIM as Wang et al. (2004): Gaussian 11 × 11, σ 1.5, no downsampling. Pictures with alpha are compared on white and on
 * black; the lower score stands. Both pictures have the same size. A background that was removed on request is no loss: the
 * rendering is laid back on its colour.
 */
export function likeness(source: Raster, asDrawn: Raster, removed: Colour | null = null): Likeness {
  const rendering = removed ? laidOn(asDrawn, removed) : asDrawn;
  const onWhite = compare(source, rendering, 255);
  if (isOpaque(source.rgba) && isOpaque(rendering.rgba)) return onWhite;
  const onBlack = compare(source, rendering, 0);
  return onBlack.score < onWhite.score ? onBlack : onWhite;
}

function laidOn({ width, height, rgba }: Raster, { r, g, b }: Colour): Raster {
  const laid = new Uint8Array(rgba.length);
  for (let i = 0; i < rgba.length; i += 4) {
    const alpha = rgba[i + 3] / 255;
    laid[i] = Math.round(rgba[i] * alpha + r * (1 - alpha));
    laid[i + 1] = Math.round(rgba[i + 1] * alpha + g * (1 - alpha));
    laid[i + 2] = Math.round(rgba[i + 2] * alpha + b * (1 - alpha));
    laid[i + 3] = 255;
  }
  return { width, height, rgba: laid };
}

function compare(source: Raster, rendering: Raster, ground: number): Likeness {
  const { width, height } = source;
  const luma = ssim(lumaOn(source, ground), lumaOn(rendering, ground), width, height);
  const halfWidth = Math.ceil(width / 2);
  const halfHeight = Math.ceil(height / 2);
  const [cb, cr] = ([blue, red] as const).map(
    (channel) => ssim(chromaOf(source, channel), chromaOf(rendering, channel), halfWidth, halfHeight).mean,
  );
  const psnr = psnrOn(source, rendering, ground);
  const structure = 0.7 * luma.mean + 0.3 * ((cb + cr) / 2);
  const exactness = Math.min(1, Math.max(0, (psnr - 10) / 30));
  const score = Math.max(0, structure) ** 0.5 * exactness ** 0.3 * Math.max(0, luma.worst) ** 0.2;
  return { score, ssim: luma.mean, psnr };
}

/** Writes one row of one channel of a picture. */
type Rows = (y: number, to: Float64Array) => void;

/** Y of the picture as seen on a grey ground. */
function lumaOn({ width, rgba }: Raster, ground: number): Rows {
  return (y, to) => {
    for (let x = 0, i = y * width * 4; x < width; x++, i += 4) {
      const alpha = rgba[i + 3] / 255;
      to[x] = lumaAt(rgba, i) * alpha + ground * (1 - alpha);
    }
  };
}

const red = { at: 0, weight: 0.713 };
const blue = { at: 2, weight: 0.564 };

/** Cb or Cr of the picture, at half size. A grey ground has neither, so it only thins them. */
function chromaOf({ width, height, rgba }: Raster, { at, weight }: typeof red): Rows {
  const chromaAt = (i: number) => ((rgba[i + at] - lumaAt(rgba, i)) * rgba[i + 3]) / 255;
  return (y, to) => {
    const top = y * 2 * width;
    const bottom = Math.min(height - 1, y * 2 + 1) * width;
    for (let x = 0; x < to.length; x++) {
      const left = x * 2;
      const right = Math.min(width - 1, left + 1);
      const sum =
        chromaAt((top + left) * 4) +
        chromaAt((top + right) * 4) +
        chromaAt((bottom + left) * 4) +
        chromaAt((bottom + right) * 4);
      to[x] = 128 + (sum * weight) / 4;
    }
  };
}

function lumaAt(rgba: Uint8Array, i: number): number {
  return 0.299 * rgba[i] + 0.587 * rgba[i + 1] + 0.114 * rgba[i + 2];
}

function psnrOn({ rgba }: Raster, { rgba: other }: Raster, ground: number): number {
  let sum = 0;
  for (let i = 0; i < rgba.length; i += 4) {
    const alpha = rgba[i + 3] / 255;
    const otherAlpha = other[i + 3] / 255;
    const under = ground * (otherAlpha - alpha);
    for (let c = i; c < i + 3; c++) sum += (rgba[c] * alpha - other[c] * otherAlpha + under) ** 2;
  }
  return sum === 0 ? 100 : Math.min(100, 10 * Math.log10((255 * 255 * 3 * (rgba.length / 4)) / sum));
}

const radius = 5;
const taps = 2 * radius + 1;
const kernel = gaussian();
const [k0, k1, k2, k3, k4, k5] = kernel;
const c1 = (0.01 * 255) ** 2;
const c2 = (0.03 * 255) ** 2;

function gaussian(): Float64Array {
  const weights = Float64Array.from({ length: taps }, (_, i) => Math.exp(-((i - radius) ** 2) / (2 * 1.5 * 1.5)));
  const whole = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w) => w / whole);
}

/**
 * SSIM over all pixels and over the worst 5 % of blocks; near the edge the window is cut and its weights renewed. Goes
 * down the pictures row by row and keeps eleven rows of what it needs, not whole pictures of it.
 */
function ssim(a: Rows, b: Rows, width: number, height: number): { mean: number; worst: number } {
  const fourRows = () => Array.from({ length: 4 }, () => new Float64Array(width));
  const read = fourRows();
  const seen = Array.from({ length: taps }, fourRows);
  const blurred = fourRows();
  const blocks = new Blocks(width, height);
  for (let next = 0; next < height + radius; next++) {
    if (next < height) {
      a(next, read[0]);
      b(next, read[1]);
      multiply(read);
      for (let k = 0; k < 4; k++) blurRow(read[k], seen[next % taps][k]);
    }
    const y = next - radius;
    if (y < 0) continue;
    for (let k = 0; k < 4; k++) blurColumns(seen, k, y, height, blurred[k]);
    blocks.addRow(y, blurred);
  }
  return blocks.result();
}

/** Fills in a² + b² and ab of a row of each picture. */
function multiply([a, b, squares, product]: Float64Array[]): void {
  for (let x = 0; x < a.length; x++) {
    squares[x] = a[x] * a[x] + b[x] * b[x];
    product[x] = a[x] * b[x];
  }
}

function blurRow(from: Float64Array, to: Float64Array): void {
  const n = from.length;
  const inner = Math.max(radius, n - radius);
  for (let x = 0; x < Math.min(radius, n); x++) to[x] = nearEdge(from, x);
  for (let x = inner; x < n; x++) to[x] = nearEdge(from, x);
  for (let x = radius; x < n - radius; x++) {
    to[x] =
      k5 * from[x] +
      k4 * (from[x - 1] + from[x + 1]) +
      k3 * (from[x - 2] + from[x + 2]) +
      k2 * (from[x - 3] + from[x + 3]) +
      k1 * (from[x - 4] + from[x + 4]) +
      k0 * (from[x - 5] + from[x + 5]);
  }
}

function nearEdge(from: Float64Array, x: number): number {
  let sum = 0;
  let weight = 0;
  for (let j = Math.max(0, x - radius); j <= Math.min(from.length - 1, x + radius); j++) {
    sum += kernel[j - x + radius] * from[j];
    weight += kernel[j - x + radius];
  }
  return sum / weight;
}

function blurColumns(rows: Float64Array[][], k: number, y: number, height: number, to: Float64Array): void {
  if (y < radius || y >= height - radius) {
    blurColumnsNearEdge(rows, k, y, height, to);
    return;
  }
  const [r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10] = Array.from(kernel, (_, j) => rows[(y + j - radius) % taps][k]);
  for (let x = 0; x < to.length; x++) {
    to[x] =
      k5 * r5[x] +
      k4 * (r4[x] + r6[x]) +
      k3 * (r3[x] + r7[x]) +
      k2 * (r2[x] + r8[x]) +
      k1 * (r1[x] + r9[x]) +
      k0 * (r0[x] + r10[x]);
  }
}

function blurColumnsNearEdge(rows: Float64Array[][], k: number, y: number, height: number, to: Float64Array): void {
  const from = Math.max(0, y - radius);
  const until = Math.min(height - 1, y + radius);
  let whole = 0;
  for (let j = from; j <= until; j++) whole += kernel[j - y + radius];
  to.fill(0);
  for (let j = from; j <= until; j++) {
    const row = rows[j % taps][k];
    const weight = kernel[j - y + radius] / whole;
    for (let x = 0; x < to.length; x++) to[x] += weight * row[x];
  }
}

/** Adds up SSIM per block of 16 × 16 pixels. */
class Blocks {
  private readonly across: number;
  private readonly totals: Float64Array;
  private readonly counts: Int32Array;

  constructor(width: number, height: number) {
    this.across = Math.ceil(width / 16);
    this.totals = new Float64Array(this.across * Math.ceil(height / 16));
    this.counts = new Int32Array(this.totals.length);
  }

  addRow(y: number, [va, vb, squares, ab]: Float64Array[]): void {
    const first = (y >> 4) * this.across;
    for (let x = 0; x < va.length; x++) {
      const u = va[x];
      const v = vb[x];
      const variances = squares[x] - u * u - v * v;
      const covariance = ab[x] - u * v;
      const block = first + (x >> 4);
      const value = ((2 * u * v + c1) * (2 * covariance + c2)) / ((u * u + v * v + c1) * (variances + c2));
      this.totals[block] += value;
      this.counts[block]++;
    }
  }

  result(): { mean: number; worst: number } {
    const whole = this.totals.reduce((sum, v) => sum + v, 0) / this.counts.reduce((sum, n) => sum + n, 0);
    const sorted = this.totals.map((total, i) => total / this.counts[i]).sort();
    const worst = sorted.subarray(0, Math.max(1, Math.round(sorted.length * 0.05)));
    return { mean: whole, worst: worst.reduce((sum, v) => sum + v, 0) / worst.length };
  }
}
