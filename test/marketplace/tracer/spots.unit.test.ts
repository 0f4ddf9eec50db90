import { describe, expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { layOutPdf } from "../../../marketplace/tracer/output/pdf-page.ts";
import { pathOperators } from "../../../marketplace/tracer/output/pdf-path.ts";
import { writeSvg } from "../../../marketplace/tracer/output/write-svg.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

const soft = (id: string, colour: string) =>
  `<radialGradient id="${id}"><stop stop-color="${colour}"/><stop offset="1" stop-color="${colour}" stop-opacity="0"/></radialGradient>`;

const face = `<defs>${soft("blush", "#ff5a3c")}<radialGradient id="skin" cx=".45" cy=".4" r=".6">
  <stop stop-color="#ffe531"/><stop offset="1" stop-color="#f9b428"/></radialGradient></defs>
  <circle cx="120" cy="120" r="110" fill="url(#skin)"/>
  <ellipse cx="65" cy="150" rx="36" ry="28" fill="url(#blush)"/><ellipse cx="175" cy="150" rx="36" ry="28" fill="url(#blush)"/>`;

/** The gleam reaches over the leaf's edge, and is cut off there. */
const leaf = `<defs>${soft("gleam", "#f6ffc0")}<linearGradient id="green" x2="0" y2="1"><stop stop-color="#3f8f3a"/><stop offset="1" stop-color="#1d5b46"/></linearGradient>
  <clipPath id="leaf"><path d="M20 120C60 20 180 20 220 120C180 220 60 220 20 120z"/></clipPath></defs>
  <g clip-path="url(#leaf)"><rect width="240" height="240" fill="url(#green)"/><ellipse cx="80" cy="66" rx="75" ry="55" fill="url(#gleam)"/></g>`;

const ellipses = (svg: string) => [...svg.matchAll(/<ellipse fill="url\(#\w+\)" cx="(\d+)" cy="(\d+)"/g)];

/** The largest step from pixel to pixel that the source does not have, away from its own edges: what an eye sees as a patch. */
function newEdges({ width, height, rgba: source }: Raster, { rgba }: Raster): number {
  const isWithin = (i: number) => [-8, 0, 8, -8 * width, 8 * width].every((by) => source[(i + by) | 3] === 255);
  let most = 0;
  for (let y = 2; y < height - 2; y++) {
    for (let i = (y * width + 2) * 4; i < ((y + 1) * width - 3) * 4; i++) {
      const own = Math.abs(source[i]! - source[i + 4]!);
      if (own <= 4 && isWithin(i)) most = Math.max(most, Math.abs(rgba[i]! - rgba[i + 4]!) - own);
    }
  }
  return most;
}

describe("what lies softly on a gradient is an ellipse that fades away", () => {
  test("a blush on each cheek", () => {
    const image = picture(240, 240, face);
    const result = trace(image);
    checkSvg(result.svg);
    const places = ellipses(result.svg).map(([, cx, cy]) => [Number(cx) / 4, Number(cy) / 4] as const);
    for (const cheek of [65, 175]) {
      expect(Math.min(...places.map(([cx, cy]) => Math.hypot(cx - cheek, cy - 150)))).toBeLessThan(6);
    }
    const { psnr, ssim } = scoreTrace(image, result);
    expect(psnr).toBeGreaterThan(44);
    expect(ssim).toBeGreaterThan(0.995);
    expect(result.bytes).toBeLessThan(1_100);
    expect(newEdges(image, renderRaster(result.svg, 240, 240))).toBeLessThan(8);
  });

  test("one that reaches over the edge is kept within the outline, which is written once", () => {
    const image = picture(240, 240, leaf);
    const result = trace(image);
    checkSvg(result.svg);
    expect(result.svg.match(/<clipPath/g)).toHaveLength(1);
    expect(result.svg.match(/<path/g)).toHaveLength(1);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(38);
    expect(result.bytes).toBeLessThan(2_200);
    expect(newEdges(image, renderRaster(result.svg, 240, 240))).toBeLessThan(8);
  });

  test("is read again as it was written, and kept within the outline in a PDF too", () => {
    const { svg, drawing } = trace(picture(240, 240, leaf));
    expect(writeSvg(readSvg(svg))).toBe(svg);
    const page = Buffer.from(layOutPdf(drawing).content).toString("latin1");
    const [element] = drawing.groups[0]!.elements;
    expect(page.split(`${pathOperators(element!.within!)}W n`)).toHaveLength(2);
  });

  test.each([{}, { layers: true }, { removeBackground: true }] as const)("also on white, with %o", (options) => {
    const onWhite = `<rect width="240" height="240" fill="#fff"/>${face}`;
    const { svg } = trace(picture(240, 240, onWhite), options);
    checkSvg(svg);
    expect(ellipses(svg).length).toBeGreaterThanOrEqual(2);
  });

  test("a layer is named by its outline, and shapes that are not drawn are not counted", () => {
    const { layers, paths, svg } = trace(picture(240, 240, leaf), { layers: true });
    expect(layers.map(({ name }) => name)).not.toContain("rectangle");
    const drawn = svg.slice(svg.indexOf("</defs>"));
    expect(paths).toBe(drawn.match(/<(?:path|rect|ellipse|circle)\b/g)!.length);
  });
});

describe("where shapes may not lie over each other, or the ground is taken away", () => {
  test("a cutout has no spots and no fields", () => {
    for (const body of [face, leaf]) {
      const { svg } = trace(picture(240, 240, body), { mode: "cutout" });
      expect(svg).not.toMatch(/clipPath|mask=/);
      expect(ellipses(svg)).toHaveLength(0);
    }
  });

  test.each([{}, { mode: "cutout" }] as const)("a soft shadow on it does not keep the ground: %o", (options) => {
    const card = `<defs><filter id="b" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="12"/></filter></defs>
      <rect width="240" height="240" fill="#fff"/><rect x="60" y="66" width="120" height="120" fill-opacity=".6" filter="url(#b)"/>
      <rect x="60" y="60" width="120" height="120" fill="#28c"/>`;
    const result = trace(picture(240, 240, card), { removeBackground: true, ...options });
    expect(result.removed).toMatchObject({ r: 255, g: 255, b: 255 });
    const { rgba } = renderRaster(result.svg, 240, 240);
    expect([3, 239 * 4 + 3, 239 * 240 * 4 + 3].map((i) => rgba[i])).toEqual([0, 0, 0]);
  });
});

test.each([
  ["a clip path that there is none of", '<g clip-path="url(#c0)"><path d="M0 0h9v9z"/></g>'],
  ["nothing", '<defs><clipPath id="c0"><path d="M0 0h9v9z"/></clipPath></defs><g clip-path="url(#c0)"/>'],
  [
    "another clipped group",
    '<defs><clipPath id="c0"><path d="M0 0h9v9z"/></clipPath></defs><g clip-path="url(#c0)"><g clip-path="url(#c0)"><path d="M0 0h9z"/></g></g>',
  ],
])("a group that is clipped by, or holds, %s is not ours", (_, body) => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" viewBox="0 0 9 9">${body}</svg>`;
  expect(() => readSvg(svg)).toThrow("clip");
});
