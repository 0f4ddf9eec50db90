import { contrastSquaredMin, squaredDistance } from "./unblend.ts";

/**
 * Closes seams: where shapes of two colours were drawn side by side, each in its anti-aliasing, a little of what is behind shows
 * between them, a quarter at most. It is no line of the drawing. Such a pixel has solid ones of different colours on two
 * opposite sides, and becomes as solid. `pixels`: premultiplied RGBA, changed in place.
 */
export function closeSeams(pixels: Uint8Array, width: number, height: number): void {
  const steps = [1, width, width + 1, width - 1];
  const seams: number[] = [];
  for (let y = 1; y < height - 1; y++) {
    for (let p = y * width + 1, end = (y + 1) * width - 1; p < end; p++) {
      const alpha = pixels[p * 4 + 3];
      if (alpha < seamMin || alpha >= solidMin) continue;
      if (steps.some((step) => areTwoShapes(pixels, p - step, p + step))) seams.push(p);
    }
  }
  for (const p of seams) {
    const alpha = pixels[p * 4 + 3];
    for (let c = 0; c < 4; c++) pixels[p * 4 + c] = Math.min(255, Math.round((pixels[p * 4 + c] * 255) / alpha));
  }
}

function areTwoShapes(pixels: Uint8Array, p: number, q: number): boolean {
  if (pixels[p * 4 + 3] < solidMin || pixels[q * 4 + 3] < solidMin) return false;
  return squaredDistance(pixels, p * 4, q * 4) >= contrastSquaredMin;
}

const solidMin = 250;
/** Three quarters, but for rounding. */
const seamMin = 188;
