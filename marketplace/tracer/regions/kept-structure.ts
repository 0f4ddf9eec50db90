import { isOpaque } from "../image/raster.ts";
import { asWords } from "../image/runs.ts";
import { plane, type Segmented, stride } from "./colour-model.ts";

/**
 * How much of a picture's structure its areas have as they are drawn, each of one colour or a gradient that explains at least
 * `gainMin` of squared error: 1 all, 0 none. The mean SSIM (Wang et al., 2004) of luma over blocks, whose covariance is the
 * variance between the areas of a block. What is see-through is looked at on black and on white, and the lesser stands.
 */
export function keptStructure(picture: Omit<Segmented, "runs">, gainMin: number): number {
  const onBlack = keptOn(picture, gainMin, 0);
  return isOpaque(picture.clean) ? onBlack : Math.min(onBlack, keptOn(picture, gainMin, 1));
}

function keptOn(picture: Omit<Segmented, "runs">, gainMin: number, white: number): number {
  const { labels, clean, width, height } = picture;
  const levels = lumaPlanes(picture, gainMin, white);
  const seen = { labels, clean, words: asWords(clean), levels, white, width, height };
  let kept = 0;
  let blocks = 0;
  for (let top = 0; top < height; top += side) {
    for (let left = 0; left < width; left += side) {
      kept += isEven(seen, left, top) ? 1 : keptOfBlock(seen, left, top);
      blocks++;
    }
  }
  return kept / blocks;
}

interface Seen extends Pick<Segmented, "labels" | "clean" | "width" | "height"> {
  readonly words: Int32Array;
  readonly levels: Float64Array;
  readonly white: number;
}

function isEven({ words, width, height }: Seen, left: number, top: number): boolean {
  const [right, bottom] = [Math.min(width, left + side), Math.min(height, top + side)];
  const first = words[top * width + left];
  for (let y = top; y < bottom; y++) {
    for (let p = y * width + left, end = y * width + right; p < end; p++) if (words[p] !== first) return false;
  }
  return true;
}

function keptOfBlock({ labels, clean, levels, white, width, height }: Seen, left: number, top: number): number {
  const [right, bottom] = [Math.min(width, left + side), Math.min(height, top + side)];
  const n = (right - left) * (bottom - top);
  let sourceSum = 0;
  let sourceSquares = 0;
  let areasSum = 0;
  let areasSquares = 0;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const p = y * width + x;
      const i = labels[p] * 3;
      const c = p * 4;
      const source = luma(clean[c], clean[c + 1], clean[c + 2]) - white * clean[c + 3];
      const area = levels[i] + levels[i + 1] * (x + 0.5 - width / 2) + levels[i + 2] * (y + 0.5 - height / 2);
      sourceSum += source;
      sourceSquares += source * source;
      areasSum += area;
      areasSquares += area * area;
    }
  }
  const ofSource = variance(n, sourceSum, sourceSquares);
  const common = Math.min(ofSource, variance(n, areasSum, areasSquares));
  return (2 * common + evenVariance) / (ofSource + common + evenVariance);
}

function variance(n: number, sum: number, squares: number): number {
  return Math.max(0, squares / n - (sum / n) ** 2);
}

/** Three numbers per area: its luma at the picture's centre, and how that changes in x and y. */
function lumaPlanes({ sums }: Pick<Segmented, "sums">, gainMin: number, white: number): Float64Array {
  const planes = new Float64Array(12);
  const levels = new Float64Array((sums.length / stride) * 3);
  for (let area = 0; area * stride < sums.length; area++) {
    plane(sums, area, planes, 0, { gainMin, first: 0 });
    for (let k = 0; k < 3; k++) {
      levels[area * 3 + k] = luma(planes[k], planes[3 + k], planes[6 + k]) - white * planes[9 + k];
    }
  }
  return levels;
}

function luma(r: number, g: number, b: number): number {
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

/** Px of a block. */
const side = 8;
/** SSIM's C2: below this variance there is nothing to be kept. */
const evenVariance = (0.03 * 255) ** 2;
