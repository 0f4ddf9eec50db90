import { channelStride, coloursAt, type Segmented, stride } from "./colour-model.ts";

/**
 * How much of a picture's structure its areas have, were each of one colour: 1 all, 0 none. The mean SSIM (Wang et al., 2004)
 * of luma over blocks, whose covariance is the variance between the areas of a block.
 */
export function keptStructure({ labels, sums, clean, width, height }: Omit<Segmented, "runs">): number {
  const means = Float64Array.from({ length: sums.length / stride }, (_, area) => {
    const [r, g, b] = [0, 1, 2].map((channel) => sums[area * stride + coloursAt + channel * channelStride]);
    return luma(r, g, b) / sums[area * stride];
  });
  let kept = 0;
  let blocks = 0;
  for (let top = 0; top < height; top += side) {
    for (let left = 0; left < width; left += side) {
      const [source, areas] = [new Spread(), new Spread()];
      for (let y = top; y < Math.min(height, top + side); y++) {
        for (let x = left; x < Math.min(width, left + side); x++) {
          const p = y * width + x;
          source.add(luma(clean[p * 4], clean[p * 4 + 1], clean[p * 4 + 2]));
          areas.add(means[labels[p]]);
        }
      }
      const common = Math.min(source.variance, areas.variance);
      kept += (2 * common + evenVariance) / (source.variance + common + evenVariance);
      blocks++;
    }
  }
  return kept / blocks;
}

class Spread {
  private n = 0;
  private sum = 0;
  private squares = 0;

  add(value: number): void {
    this.n++;
    this.sum += value;
    this.squares += value * value;
  }

  get variance(): number {
    return Math.max(0, this.squares / this.n - (this.sum / this.n) ** 2);
  }
}

function luma(r: number, g: number, b: number): number {
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

/** Px of a block. */
const side = 8;
/** SSIM's C2: below this variance there is nothing to be kept. */
const evenVariance = (0.03 * 255) ** 2;
