import type { Raster } from "./raster.ts";

/**
 * The scale at which to trace: small enough for `pixelsMax` pixels and for a bounded number of busy ones, pixels that
 * differ both from the left and from above. Work grows with those, and no byte budget could hold them all: texture traced
 * at half size looks better in the same bytes.
 */
export function workingScale({ width, height, rgba }: Raster, pixelsMax: number): number {
  const n = width * height;
  let busy = 0;
  for (let y = 1; y < height; y++) {
    for (let x = 1, i = (y * width + 1) * 4; x < width; x++, i += 4) {
      if (differs(rgba, i, i - 4) && differs(rgba, i, i - width * 4)) busy++;
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
