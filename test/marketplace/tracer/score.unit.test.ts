import { describe, expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { logo, noise, picture } from "./pictures.ts";

const source = picture(400, 300, logo);

describe("the score of known pairs", () => {
  test("a picture is like itself", () => {
    expect(likeness(source, source)).toEqual({ score: 1, ssim: expect.closeTo(1, 6), psnr: 100 });
  });

  test("a blank page is like nothing", () => {
    const blank = { ...source, rgba: new Uint8Array(source.rgba.length).fill(255) };
    expect(likeness(source, blank).score).toBeLessThan(0.15);
  });

  test("a grey copy is told from the coloured one, though its luma is the same", () => {
    const { score, ssim } = likeness(
      source,
      changed(source, (r, g, b) => Array(3).fill(0.299 * r + 0.587 * g + 0.114 * b)),
    );
    expect(ssim).toBeGreaterThan(0.99);
    expect(score).toBeGreaterThan(0.4);
    expect(score).toBeLessThan(0.75);
  });

  test("a lost patch costs more than its share of the picture", () => {
    const patched = { ...source, rgba: source.rgba.slice() };
    for (let y = 100; y < 160; y++) patched.rgba.fill(255, (y * 400 + 230) * 4, (y * 400 + 310) * 4);
    expect(likeness(source, patched).score).toBeLessThan(0.9);
  });

  test("one level off everywhere is 48.1 dB", () => {
    expect(
      likeness(
        source,
        changed(source, (...rgb) => rgb.map((v) => (v < 255 ? v + 1 : v - 1))),
      ).psnr,
    ).toBeCloseTo(48.13, 1);
  });

  test("with alpha, the worse of white and black ground counts", () => {
    const clear = picture(64, 64, `<rect x="8" y="8" width="48" height="48" fill="#fff"/>`);
    const nothing = { width: 64, height: 64, rgba: new Uint8Array(64 * 64 * 4) };
    // White on white is no difference at all; on black it is all of it.
    expect(likeness(clear, nothing).score).toBeLessThan(0.3);
  });
});

test.each([
  [40, 33],
  [12, 11],
  [7, 30],
  [3, 2],
  [1, 1],
])("at %i × %i px luma's SSIM is what its definition says", (width, height) => {
  const source = noise(width, height, 5);
  const rendering = changed(source, (r, g, b) => [r >> 1, (g + 3 * b) >> 2, 255 - b]);
  expect(likeness(source, rendering).ssim).toBeCloseTo(ssimByDefinition(source, rendering), 9);
});

/** Wang et al. (2004), pixel by pixel over a window of 11 × 11. */
function ssimByDefinition(a: Raster, b: Raster): number {
  const { width, height } = a;
  const luma = ({ rgba }: Raster, p: number) =>
    0.299 * rgba[p * 4]! + 0.587 * rgba[p * 4 + 1]! + 0.114 * rgba[p * 4 + 2]!;
  let total = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let [whole, u, v, uu, vv, uv] = [0, 0, 0, 0, 0, 0];
      for (let j = Math.max(0, y - 5); j <= Math.min(height - 1, y + 5); j++) {
        for (let i = Math.max(0, x - 5); i <= Math.min(width - 1, x + 5); i++) {
          const weight = Math.exp(-((i - x) ** 2 + (j - y) ** 2) / (2 * 1.5 ** 2));
          const [here, there] = [luma(a, j * width + i), luma(b, j * width + i)];
          whole += weight;
          u += weight * here;
          v += weight * there;
          uu += weight * here * here;
          vv += weight * there * there;
          uv += weight * here * there;
        }
      }
      [u, v, uu, vv, uv] = [u / whole, v / whole, uu / whole, vv / whole, uv / whole];
      const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
      total += ((2 * u * v + c1) * (2 * (uv - u * v) + c2)) / ((u * u + v * v + c1) * (uu - u * u + vv - v * v + c2));
    }
  }
  return total / (width * height);
}

function changed(image: Raster, change: (r: number, g: number, b: number) => number[]): Raster {
  const rgba = image.rgba.slice();
  for (let i = 0; i < rgba.length; i += 4) rgba.set(change(rgba[i]!, rgba[i + 1]!, rgba[i + 2]!), i);
  return { ...image, rgba };
}
