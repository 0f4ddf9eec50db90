import { expect, test } from "vitest";
import { type Raster, reduce } from "../../../marketplace/tracer/image/raster.ts";
import { noise } from "./pictures.ts";

test.each([
  [60, 40, 30, 20],
  [61, 43, 17, 42],
  [50, 37, 50, 9],
  [90, 70, 1, 1],
  [33, 21, 33, 21],
])("%i × %i px reduced to %i × %i are the mean of what each pixel covers", (width, height, toWidth, toHeight) => {
  const opaque = noise(width, height, 3);
  const seeThrough = { ...opaque, rgba: opaque.rgba.map((value, i) => (i % 4 === 3 ? opaque.rgba[i - 1]! : value)) };
  for (const source of [opaque, seeThrough]) {
    const { rgba, ...size } = reduce(source, toWidth, toHeight);
    expect(size).toEqual({ width: toWidth, height: toHeight });
    const means = meansOf(source, toWidth, toHeight);
    // Of colour what shows counts: with little alpha little does.
    const shown = (i: number) => (i % 4 === 3 ? 1 : means[i - (i % 4) + 3]! / 255);
    const furthest = rgba.reduce((most, value, i) => Math.max(most, Math.abs(value - means[i]!) * shown(i)), 0);
    expect(furthest).toBeLessThan(source === opaque ? 0.501 : 1);
  }
});

test("nothing of what is see-through shows in what is reduced", () => {
  const rgba = new Uint8Array([255, 0, 0, 0, 10, 20, 30, 255, 255, 0, 0, 0, 10, 20, 30, 255]);
  expect([...reduce({ width: 4, height: 1, rgba }, 1, 1).rgba]).toEqual([10, 20, 30, 128]);
});

/** Pixel by pixel: the mean of colour times alpha over the part that each covers, and of alpha. */
function meansOf({ width, height, rgba }: Raster, toWidth: number, toHeight: number): number[] {
  const means: number[] = [];
  const [across, down] = [width / toWidth, height / toHeight];
  for (let t = 0; t < toWidth * toHeight; t++) {
    const [left, top] = [(t % toWidth) * across, Math.floor(t / toWidth) * down];
    const sums = [0, 0, 0, 0];
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const covered =
          Math.max(0, Math.min(x + 1, left + across) - Math.max(x, left)) *
          Math.max(0, Math.min(y + 1, top + down) - Math.max(y, top));
        if (covered === 0) continue;
        const i = (y * width + x) * 4;
        const share = covered / (across * down);
        sums[3]! += rgba[i + 3]! * share;
        for (let c = 0; c < 3; c++) sums[c]! += (rgba[i + c]! * rgba[i + 3]! * share) / 255;
      }
    }
    const alpha = sums[3]!;
    means.push(...sums.slice(0, 3).map((sum) => (alpha > 0 ? (sum * 255) / alpha : 0)), alpha);
  }
  return means;
}
