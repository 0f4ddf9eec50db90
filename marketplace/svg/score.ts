import type { Raster } from "./raster.ts";

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
 * black; the lower score stands. Both pictures have the same size.
 */
export function likeness(source: Raster, rendering: Raster): Likeness {
  const onWhite = compare(source, rendering, 255);
  if (opaque(source) && opaque(rendering)) return onWhite;
  const onBlack = compare(source, rendering, 0);
  return onBlack.score < onWhite.score ? onBlack : onWhite;
}

function opaque({ rgba }: Raster): boolean {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) return false;
  return true;
}

function compare(source: Raster, rendering: Raster, ground: number): Likeness {
  const { width, height } = source;
  const a = planesOn(source, ground);
  const b = planesOn(rendering, ground);
  const psnr = a.psnrTo(b);
  const luma = ssimMap(a.y, b.y, width, height);
  const ssim = mean(luma);
  const halfWidth = Math.ceil(width / 2);
  const halfHeight = Math.ceil(height / 2);
  const chroma = (["cb", "cr"] as const).map((plane) =>
    mean(ssimMap(half(a[plane], width, height), half(b[plane], width, height), halfWidth, halfHeight)),
  );
  const structure = 0.7 * ssim + 0.3 * ((chroma[0]! + chroma[1]!) / 2);
  const exactness = Math.min(1, Math.max(0, (psnr - 10) / 30));
  const worst = worstBlocks(luma, width, height);
  const score = Math.max(0, structure) ** 0.5 * exactness ** 0.3 * Math.max(0, worst) ** 0.2;
  return { score, ssim, psnr };
}

function planesOn({ width, height, rgba }: Raster, ground: number) {
  const n = width * height;
  const y = new Float32Array(n);
  const cb = new Float32Array(n);
  const cr = new Float32Array(n);
  const rgb = new Float32Array(n * 3);
  for (let p = 0; p < n; p++) {
    const alpha = rgba[p * 4 + 3]! / 255;
    const r = rgba[p * 4]! * alpha + ground * (1 - alpha);
    const g = rgba[p * 4 + 1]! * alpha + ground * (1 - alpha);
    const b = rgba[p * 4 + 2]! * alpha + ground * (1 - alpha);
    rgb[p * 3] = r;
    rgb[p * 3 + 1] = g;
    rgb[p * 3 + 2] = b;
    const luma = 0.299 * r + 0.587 * g + 0.114 * b;
    y[p] = luma;
    cb[p] = 128 + (b - luma) * 0.564;
    cr[p] = 128 + (r - luma) * 0.713;
  }
  const psnrTo = (other: { rgb: Float32Array }) => {
    let sum = 0;
    for (let i = 0; i < rgb.length; i++) sum += (rgb[i]! - other.rgb[i]!) ** 2;
    return sum === 0 ? 100 : Math.min(100, 10 * Math.log10((255 * 255 * rgb.length) / sum));
  };
  return { y, cb, cr, rgb, psnrTo };
}

function half(plane: Float32Array, width: number, height: number): Float32Array {
  const w = Math.ceil(width / 2);
  const h = Math.ceil(height / 2);
  const out = new Float32Array(w * h);
  for (let y = 0; y < h; y++) {
    const y1 = Math.min(height - 1, y * 2 + 1);
    for (let x = 0; x < w; x++) {
      const x1 = Math.min(width - 1, x * 2 + 1);
      const top = plane[y * 2 * width + x * 2]! + plane[y * 2 * width + x1]!;
      out[y * w + x] = (top + plane[y1 * width + x * 2]! + plane[y1 * width + x1]!) / 4;
    }
  }
  return out;
}

function mean(values: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
}

const radius = 5;
const kernel = Float64Array.from({ length: 11 }, (_, i) => Math.exp(-((i - radius) ** 2) / (2 * 1.5 * 1.5)));
const c1 = (0.01 * 255) ** 2;
const c2 = (0.03 * 255) ** 2;

/** SSIM at every pixel; near the edge the window is cut and its weights renewed. */
function ssimMap(a: Float32Array, b: Float32Array, width: number, height: number): Float32Array {
  const n = width * height;
  const scratch = new Float32Array(n);
  const product = new Float32Array(n);
  const blurred = (fill: (i: number) => number) => {
    for (let i = 0; i < n; i++) product[i] = fill(i);
    return blur(product, scratch, width, height);
  };
  const ma = blurred((i) => a[i]!);
  const mb = blurred((i) => b[i]!);
  const aa = blurred((i) => a[i]! * a[i]!);
  const bb = blurred((i) => b[i]! * b[i]!);
  const ab = blurred((i) => a[i]! * b[i]!);
  for (let i = 0; i < n; i++) {
    const x = ma[i]!;
    const y = mb[i]!;
    const vx = aa[i]! - x * x;
    const vy = bb[i]! - y * y;
    const cov = ab[i]! - x * y;
    aa[i] = ((2 * x * y + c1) * (2 * cov + c2)) / ((x * x + y * y + c1) * (vx + vy + c2));
  }
  return aa;
}

function blur(source: Float32Array, scratch: Float32Array, width: number, height: number): Float32Array {
  const out = new Float32Array(source.length);
  pass(source, scratch, height, width, width, 1);
  pass(scratch, out, width, height, 1, width);
  return out;
}

/** Convolves `lines` lines of `length` samples. */
function pass(
  from: Float32Array,
  to: Float32Array,
  lines: number,
  length: number,
  lineStep: number,
  step: number,
): void {
  const whole = kernel.reduce((sum, k) => sum + k, 0);
  const k = kernel.map((v) => v / whole);
  const inner = length - radius;
  for (let line = 0; line < lines; line++) {
    const base = line * lineStep;
    for (let i = 0; i < length; i++) {
      const at = base + i * step;
      if (i >= radius && i < inner) {
        to[at] =
          k[5]! * from[at]! +
          k[4]! * (from[at - step]! + from[at + step]!) +
          k[3]! * (from[at - 2 * step]! + from[at + 2 * step]!) +
          k[2]! * (from[at - 3 * step]! + from[at + 3 * step]!) +
          k[1]! * (from[at - 4 * step]! + from[at + 4 * step]!) +
          k[0]! * (from[at - 5 * step]! + from[at + 5 * step]!);
        continue;
      }
      let sum = 0;
      let weight = 0;
      for (let j = Math.max(0, i - radius); j <= Math.min(length - 1, i + radius); j++) {
        sum += k[j - i + radius]! * from[base + j * step]!;
        weight += k[j - i + radius]!;
      }
      to[at] = sum / weight;
    }
  }
}

function worstBlocks(map: Float32Array, width: number, height: number): number {
  const across = Math.ceil(width / 16);
  const blocks = new Float64Array(across * Math.ceil(height / 16));
  const counts = new Int32Array(blocks.length);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const block = (y >> 4) * across + (x >> 4);
      blocks[block] = blocks[block]! + map[p]!;
      counts[block]!++;
    }
  }
  const sorted = blocks.map((sum, i) => sum / counts[i]!).sort();
  const share = Math.max(1, Math.round(sorted.length * 0.05));
  return mean(Float32Array.from(sorted.subarray(0, share)));
}
