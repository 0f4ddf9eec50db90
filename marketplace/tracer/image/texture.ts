import type { Raster } from "./raster.ts";
import { asWords } from "./runs.ts";

/**
 * The scale at which to trace: small enough for `pixelsMax` pixels and for a bounded number of busy ones, pixels that
 * differ both from the left and from above. Work grows with those, and no byte budget could hold them all: texture traced
 * at half size looks better in the same bytes.
 */
export function workingScale({ width, height, rgba }: Raster, pixelsMax: number): number {
  const n = width * height;
  const words = asWords(rgba);
  let busy = 0;
  for (let y = 1; y < height; y++) {
    const end = (y + 1) * width;
    let left = words[y * width];
    for (let p = y * width + 1; p < end; p++) {
      const here = words[p];
      if (here !== left && here !== words[p - width]) {
        if (differs(rgba, p * 4, p * 4 - 4) && differs(rgba, p * 4, (p - width) * 4)) busy++;
      }
      left = here;
    }
  }
  const scale = Math.min(1, Math.sqrt(pixelsMax / n));
  const busyLeft = busy * scale * scale;
  const busyMax = pixelsMax * busyShareMax;
  return busyLeft > busyMax ? Math.max(scaleMin(n), scale * Math.sqrt(busyMax / busyLeft)) : scale;
}

const busyShareMax = 0.06;
const levelsMin = 14;

/** Never fewer than a tenth of a megapixel. */
function scaleMin(n: number): number {
  return Math.min(1, Math.sqrt(100_000 / n));
}

function differs(rgba: Uint8Array, a: number, b: number): boolean {
  return (
    Math.abs(rgba[a] - rgba[b]) > levelsMin ||
    Math.abs(rgba[a + 1] - rgba[b + 1]) > levelsMin ||
    Math.abs(rgba[a + 2] - rgba[b + 2]) > levelsMin ||
    Math.abs(rgba[a + 3] - rgba[b + 3]) > levelsMin
  );
}
