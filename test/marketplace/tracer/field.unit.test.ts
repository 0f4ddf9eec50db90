import { describe, expect, test } from "vitest";
import { type Raster, reduce } from "../../../marketplace/tracer/image/raster.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { writeSvg } from "../../../marketplace/tracer/output/write-svg.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { writePdf } from "../../../marketplace/tracer/pool/write-pdf.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { landscape, logo, noise, picture } from "./pictures.ts";

/** Colours on a wavy lattice, passing into each other, as a wallpaper's gradient mesh does. */
function mesh(width: number, height: number): Raster {
  const lattice = [0xff7e5f, 0xfeb47b, 0x6a11cb, 0x2575fc, 0x11998e, 0x38ef7d, 0xfc466b, 0x3f5efb, 0xfdc830, 0xf37335];
  const colours = [...lattice, 0x1d2b64, 0xf8cdda].map((v) => [v >> 16, (v >> 8) & 255, v & 255]);
  const ease = (t: number) => t * t * (3 - 2 * t);
  const rgba = new Uint8Array(width * height * 4).fill(255);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p += 4) {
      const u = Math.max(0, Math.min(2.999, (3 * x) / width + 0.1 * Math.sin((9 * y) / height)));
      const v = Math.max(0, Math.min(1.999, (2 * y) / height + 0.1 * Math.sin((9 * x) / width)));
      const [i, j] = [Math.floor(u), Math.floor(v)];
      for (let c = 0; c < 3; c++) {
        const row = (at: number) => colours[at]![c]! * (1 - ease(u - i)) + colours[at + 1]![c]! * ease(u - i);
        rgba[p + c] = Math.round(row(j * 4 + i) * (1 - ease(v - j)) + row(j * 4 + 4 + i) * ease(v - j));
      }
    }
  }
  return { width, height, rgba };
}

const card = `<defs><linearGradient id="a" x2="1" y2="1"><stop stop-color="#ffd194"/><stop offset="1" stop-color="#70e1f5"/></linearGradient>
  <filter id="b" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="10"/></filter></defs>
  <rect width="360" height="240" fill="url(#a)"/><rect x="90" y="72" width="180" height="108" rx="12" fill-opacity=".45" filter="url(#b)"/>
  <rect x="90" y="60" width="180" height="108" rx="12" fill="#fff"/>`;

/** A long shadow on grain, which its ground becomes as dark as: at its far end nothing divides the two. */
function longShadow(): Raster {
  const body = `<defs><linearGradient id="a" x2="1" y2="1"><stop stop-color="#7adcf0"/><stop offset=".85" stop-color="#4288b0"/></linearGradient></defs>
    <rect width="480" height="480" fill="url(#a)"/><path d="M120 180H220L480 440V480H420z" fill="#4288b0"/>`;
  const { width, height, rgba } = picture(480, 480, body);
  const grain = noise(width, height).rgba;
  const at = (i: number) =>
    [0, 4, width * 4, width * 4 + 4].reduce((sum, step) => sum + (grain[i + step] ?? 128), 0) / 4;
  const grainy = rgba.map((v, i) => (i % 4 === 3 ? v : Math.min(255, v + Math.round((at(i) - 127.5) / 24))));
  return { width, height, rgba: grainy };
}

/** Bends of colour from pixel to pixel that the source does not have, squared, a pixel: what an eye sees as seams. */
function seams(source: Raster, { width, height, rgba }: Raster): number {
  const bend = (of: Uint8Array, i: number, step: number) => Math.abs(2 * of[i]! - of[i - step]! - of[i + step]!);
  let sum = 0;
  for (let y = 1; y < height - 1; y++) {
    for (let i = (y * width + 1) * 4, end = ((y + 1) * width - 1) * 4; i < end; i++) {
      for (const step of [4, width * 4]) sum += Math.max(0, bend(rgba, i, step) - bend(source.rgba, i, step) - 2) ** 2;
    }
  }
  return sum / (width * height);
}

test("a shadow that its ground becomes as dark as keeps its edges where the two differ", () => {
  const image = longShadow();
  const result = trace(image);
  const { width, rgba } = renderRaster(result.svg, image.width, image.height);
  const redAt = (x: number, y: number) => rgba[(y * width + x) * 4]!;
  for (const y of [200, 240, 280]) expect(redAt(y + 43, y) - redAt(y + 37, y)).toBeGreaterThan(10);
  expect(result.bytes).toBeLessThan(2_000);
  expect(scoreTrace(image, result).psnr).toBeGreaterThan(41);
});

describe("a gradient that bends is one field of colour, or one with soft spots, without seams", () => {
  const pictures = {
    "a wallpaper": { image: mesh(480, 270), layer: "field", bytesMax: 16_000 },
    "a soft shadow on a gradient": { image: picture(360, 240, card), layer: "layer-0", bytesMax: 1_500 },
  };
  test.each(Object.entries(pictures))("%s", (_, { image, layer, bytesMax }) => {
    const { width, height } = image;
    const result = trace(image);
    checkSvg(result.svg);
    expect(result.layers[0]!.id).toBe(layer);
    const { psnr, ssim } = scoreTrace(image, result);
    expect(psnr).toBeGreaterThan(38);
    expect(ssim).toBeGreaterThan(0.99);
    expect(result.bytes).toBeLessThan(bytesMax);
    const rendering = renderRaster(result.svg, width, height);
    expect(seams(image, rendering)).toBeLessThan(1);
    expect(trace(image).svg).toBe(result.svg);
  });

  test.each([2, 3.3])("and shows no block edges at %d times its size", (times) => {
    const [width, height] = [480 * times, 270 * times];
    const rendering = renderRaster(trace(pictures["a wallpaper"].image).svg, width, height);
    const even = { width, height, rgba: new Uint8Array(rendering.rgba.length) };
    expect(seams(even, rendering)).toBeLessThan(0.1);
  });

  test.each([0.2, 0.3, 0.5])("and none at %d times its size", (times) => {
    const source = pictures["a wallpaper"].image;
    const reduced = reduce(source, Math.round(480 * times), Math.round(270 * times));
    const rendering = renderRaster(trace(source).svg, reduced.width, reduced.height);
    expect(seams(reduced, rendering)).toBeLessThan(1);
    expect(rendering.rgba.every((level, i) => i % 4 !== 3 || level === 255)).toBe(true);
  });

  test("grain and stars are none of it", () => {
    const smooth = mesh(480, 270);
    const { width, height } = smooth;
    const rgba = smooth.rgba.slice();
    const random = noise(width, height).rgba;
    for (let i = 0; i < rgba.length; i++)
      if (i % 4 < 3) rgba[i] = smooth.rgba[i]! + Math.round((random[i]! - 128) / 20);
    for (let star = 0; star < 640; star += 4) {
      const [y, x] = [
        Math.floor((random[star]! * (height - 1)) / 256),
        Math.floor((random[star + 1]! * (width - 1)) / 256),
      ];
      for (const p of [0, 1, width]) rgba.fill(255, (y * width + x + p) * 4, (y * width + x + p) * 4 + 3);
    }
    const result = trace({ width, height, rgba });
    expect(result.layers[0]!.id).toBe("field");
    const field = { ...result.drawing, groups: [result.drawing.groups[0]!] };
    const rendering = renderRaster(writeSvg(field), width, height);
    expect(likeness(smooth, rendering).psnr).toBeGreaterThan(36);
  });

  test("what lies on it keeps its edges", () => {
    const image = mesh(480, 270);
    const ground = image.rgba.slice();
    const disc = picture(480, 270, `<circle cx="240.3" cy="130.6" r="50.2" fill="#102030"/>`);
    for (let i = 0; i < disc.rgba.length; i++) {
      const alpha = disc.rgba[i | 3]! / 255;
      if (i % 4 < 3) image.rgba[i] = Math.round(disc.rgba[i]! * alpha + ground[i]! * (1 - alpha));
    }
    const { svg } = trace(image);
    const [, cx, cy, r] = /<circle[^>]* cx="(\d+)" cy="(\d+)" r="(\d+)"/.exec(svg)!.map((v) => Number(v) / 4);
    expect(Math.hypot(cx! - 240.3, cy! - 130.6)).toBeLessThan(0.3);
    expect(Math.abs(r! - 50.2)).toBeLessThan(0.3);
  });

  test("is read again as it was written, and fades in a PDF too", () => {
    const { svg, drawing } = trace(mesh(240, 160));
    expect(svg).toContain('mask="url(#mask-');
    expect(writeSvg(readSvg(svg))).toBe(svg);
    const pdf = Buffer.from(writePdf(drawing)).toString("latin1");
    expect(pdf.match(/\/SMask/g)!.length).toBe(drawing.groups[0]!.elements.filter(({ fade }) => fade).length);
  });
});

describe("what is no such gradient is drawn without a field", () => {
  test.each([
    ["flat art", picture(400, 300, logo), {}],
    ["a plain gradient", picture(600, 400, landscape), {}],
    ["shapes that may not overlap", mesh(240, 160), { mode: "cutout" as const }],
    ["few colours", mesh(240, 160), { colors: 8 }],
  ])("%s", (_, image, options) => {
    expect(trace(image, options).svg).not.toContain('id="field"');
  });
});

test.each([
  ["down", 'y2="200" x2="0"', 50],
  ["slanted", 'x2="320" y2="200"', 33],
])("a linear gradient of three stops is one element: %s", (_, places, psnrMin) => {
  const stops = '<stop stop-color="#f03"/><stop offset=".5" stop-color="#fd5"/><stop offset="1" stop-color="#08f"/>';
  const gradient = `<linearGradient id="a" gradientUnits="userSpaceOnUse" ${places}>${stops}</linearGradient>`;
  const image = picture(320, 200, `<defs>${gradient}</defs><rect width="320" height="200" fill="url(#a)"/>`);
  const result = trace(image);
  checkSvg(result.svg);
  expect(result.paths).toBe(1);
  expect(scoreTrace(image, result).psnr).toBeGreaterThan(psnrMin);
});
