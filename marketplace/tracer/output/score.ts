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
  const luma = ssim(planeOn(source, ground, "y"), planeOn(rendering, ground, "y"), width, height);
  const halfWidth = Math.ceil(width / 2);
  const halfHeight = Math.ceil(height / 2);
  const chroma = (["cb", "cr"] as const).map(
    (channel) =>
      ssim(
        half(planeOn(source, ground, channel), width, height),
        half(planeOn(rendering, ground, channel), width, height),
        halfWidth,
        halfHeight,
      ).mean,
  );
  const psnr = psnrOn(source, rendering, ground);
  const structure = 0.7 * luma.mean + 0.3 * ((chroma[0] + chroma[1]) / 2);
  const exactness = Math.min(1, Math.max(0, (psnr - 10) / 30));
  const score = Math.max(0, structure) ** 0.5 * exactness ** 0.3 * Math.max(0, luma.worst) ** 0.2;
  return { score, ssim: luma.mean, psnr };
}

/** One channel of the picture as seen on a grey ground. */
function planeOn({ width, height, rgba }: Raster, ground: number, channel: "y" | "cb" | "cr"): Float32Array {
  const out = new Float32Array(width * height);
  for (let p = 0, i = 0; p < out.length; p++, i += 4) {
    const alpha = rgba[i + 3] / 255;
    const under = ground * (1 - alpha);
    const r = rgba[i] * alpha + under;
    const g = rgba[i + 1] * alpha + under;
    const b = rgba[i + 2] * alpha + under;
    const luma = 0.299 * r + 0.587 * g + 0.114 * b;
    out[p] = channel === "y" ? luma : channel === "cb" ? 128 + (b - luma) * 0.564 : 128 + (r - luma) * 0.713;
  }
  return out;
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

function half(plane: Float32Array, width: number, height: number): Float32Array {
  const w = Math.ceil(width / 2);
  const h = Math.ceil(height / 2);
  const out = new Float32Array(w * h);
  for (let y = 0; y < h; y++) {
    const y1 = Math.min(height - 1, y * 2 + 1);
    for (let x = 0; x < w; x++) {
      const x1 = Math.min(width - 1, x * 2 + 1);
      const top = plane[y * 2 * width + x * 2] + plane[y * 2 * width + x1];
      out[y * w + x] = (top + plane[y1 * width + x * 2] + plane[y1 * width + x1]) / 4;
    }
  }
  return out;
}

const radius = 5;
const taps = 2 * radius + 1;
const kernel = gaussian();
const c1 = (0.01 * 255) ** 2;
const c2 = (0.03 * 255) ** 2;

function gaussian(): Float64Array {
  const weights = Float64Array.from({ length: taps }, (_, i) => Math.exp(-((i - radius) ** 2) / (2 * 1.5 * 1.5)));
  const whole = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w) => w / whole);
}

/**
 * SSIM over all pixels and over the worst 5 % of blocks; near the edge the window is cut and its weights renewed. Goes
 * down the picture row by row and keeps eleven rows of what it needs, not whole pictures of it.
 */
function ssim(a: Float32Array, b: Float32Array, width: number, height: number): { mean: number; worst: number } {
  // Per row: a, b, a², b², ab, blurred across.
  const rows = Array.from({ length: taps }, () => Array.from({ length: 5 }, () => new Float64Array(width)));
  const products = Array.from({ length: 5 }, () => new Float64Array(width));
  const sums = Array.from({ length: 5 }, () => new Float64Array(width));
  const blocks = new Blocks(width, height);
  for (let next = 0; next < height + radius; next++) {
    if (next < height) {
      multiply(a, b, next * width, products);
      for (let k = 0; k < 5; k++) blurRow(products[k], rows[next % taps][k]);
    }
    const y = next - radius;
    if (y < 0) continue;
    for (let k = 0; k < 5; k++) blurColumns(rows, k, y, height, sums[k]);
    blocks.addRow(y, sums);
  }
  return blocks.result();
}

function multiply(a: Float32Array, b: Float32Array, at: number, [va, vb, aa, bb, ab]: Float64Array[]): void {
  for (let x = 0; x < va.length; x++) {
    const u = a[at + x];
    const v = b[at + x];
    va[x] = u;
    vb[x] = v;
    aa[x] = u * u;
    bb[x] = v * v;
    ab[x] = u * v;
  }
}

function blurRow(from: Float64Array, to: Float64Array): void {
  const n = from.length;
  const [k0, k1, k2, k3, k4, k5] = [kernel[0], kernel[1], kernel[2], kernel[3], kernel[4], kernel[5]];
  for (let x = 0; x < n; x++) {
    if (x >= radius && x < n - radius) {
      to[x] =
        k5 * from[x] +
        k4 * (from[x - 1] + from[x + 1]) +
        k3 * (from[x - 2] + from[x + 2]) +
        k2 * (from[x - 3] + from[x + 3]) +
        k1 * (from[x - 4] + from[x + 4]) +
        k0 * (from[x - 5] + from[x + 5]);
      continue;
    }
    let sum = 0;
    let weight = 0;
    for (let j = Math.max(0, x - radius); j <= Math.min(n - 1, x + radius); j++) {
      sum += kernel[j - x + radius] * from[j];
      weight += kernel[j - x + radius];
    }
    to[x] = sum / weight;
  }
}

function blurColumns(rows: Float64Array[][], k: number, y: number, height: number, to: Float64Array): void {
  const from = Math.max(0, y - radius);
  const until = Math.min(height - 1, y + radius);
  let whole = 0;
  for (let j = from; j <= until; j++) whole += kernel[j - y + radius];
  for (let j = from; j <= until; j++) {
    const row = rows[j % taps][k];
    const weight = kernel[j - y + radius] / whole;
    if (j === from) for (let x = 0; x < to.length; x++) to[x] = weight * row[x];
    else for (let x = 0; x < to.length; x++) to[x] += weight * row[x];
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

  addRow(y: number, [va, vb, aa, bb, ab]: Float64Array[]): void {
    const first = (y >> 4) * this.across;
    for (let x = 0; x < va.length; x++) {
      const u = va[x];
      const v = vb[x];
      const variances = aa[x] - u * u + bb[x] - v * v;
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
