import { describe, expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { logo, picture } from "./pictures.ts";

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

function changed(image: Raster, change: (r: number, g: number, b: number) => number[]): Raster {
  const rgba = image.rgba.slice();
  for (let i = 0; i < rgba.length; i += 4) rgba.set(change(rgba[i]!, rgba[i + 1]!, rgba[i + 2]!), i);
  return { ...image, rgba };
}
