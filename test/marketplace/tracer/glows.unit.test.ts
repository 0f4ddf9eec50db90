import { describe, expect, test } from "vitest";
import { writeSvg } from "../../../marketplace/tracer/output/write-svg.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { writePdf } from "../../../marketplace/tracer/pool/write-pdf.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

/** `places`: cx, cy, rx, ry each; `stops`: offset, colour, opacity each. */
function glows(places: readonly (readonly number[])[], stops: readonly (readonly [number, string, number])[]): string {
  const inner = stops.map(
    ([at, colour, opacity]) => `<stop offset="${at}" stop-color="${colour}" stop-opacity="${opacity}"/>`,
  );
  const shapes = places.map(
    ([cx, cy, rx, ry]) => `<ellipse cx="${cx}" cy="${cy}" rx="${rx}" ry="${ry}" fill="url(#a)"/>`,
  );
  return `<defs><radialGradient id="a">${inner.join("")}</radialGradient></defs>${shapes.join("")}`;
}

const yellow = [
  [0, "#ff0", 1],
  [0.5, "#ff0", 0.4],
  [1, "#ff0", 0],
] as const;

const counted = (svg: string, name: string) => svg.match(new RegExp(`<${name}\\b`, "g"))?.length ?? 0;

describe("what fades into nothing on all sides is one circle or ellipse", () => {
  test.each([
    ["a small and steep one", 64, 64, glows([[30, 34, 20, 20]], yellow), "circle", 1],
    [
      "several, which share a gradient",
      400,
      300,
      glows(
        [
          [60, 60, 40, 40],
          [200, 80, 60, 60],
          [330, 60, 30, 30],
        ],
        yellow,
      ),
      "circle",
      3,
    ],
    [
      "two that touch",
      120,
      60,
      glows(
        [
          [33, 30, 28, 28],
          [88, 30, 28, 28],
        ],
        yellow,
      ),
      "circle",
      2,
    ],
    ["one drawn out", 300, 160, glows([[150, 80, 140, 70]], yellow), "ellipse", 1],
    [
      "one whose colour changes as it fades",
      220,
      220,
      glows(
        [[110, 110, 100, 100]],
        [
          [0, "#fff", 1],
          [0.4, "#fc0", 0.8],
          [1, "#f00", 0],
        ],
      ),
      "circle",
      1,
    ],
    [
      "one with a solid middle",
      200,
      200,
      glows(
        [[100, 100, 90, 90]],
        [
          [0.5, "#2b6", 1],
          [1, "#2b6", 0],
        ],
      ),
      "circle",
      1,
    ],
    ["one that the picture's edge cuts", 100, 120, glows([[20, 60, 50, 50]], yellow), "circle", 1],
  ] as const)("%s", (_, width, height, art, shape, count) => {
    const image = picture(width, height, art);
    const result = trace(image);
    checkSvg(result.svg);
    expect(counted(result.svg, shape)).toBe(count);
    expect(result.paths).toBe(count);
    expect(counted(result.svg, "radialGradient")).toBe(1);
    expect(result.layers.map(({ name }) => name)).toEqual(["glow"]);
    const { ssim, psnr } = scoreTrace(image, result);
    expect(ssim).toBeGreaterThan(0.99);
    expect(psnr).toBeGreaterThan(40);
    expect(writeSvg(readSvg(result.svg))).toBe(result.svg);
    const pdf = Buffer.from(writePdf(readSvg(result.svg))).toString("latin1");
    expect(pdf.match(/\/S\d* sh/g)).toHaveLength(count);
  });
});

test("each of several shadows alike is of the same gradients", () => {
  const shadow = (x: number, id: string) =>
    `<filter id="${id}" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="8"/></filter>
     <rect x="${x}" y="36" width="130" height="120" rx="12" fill-opacity=".5" filter="url(#${id})"/>
     <rect x="${x}" y="30" width="130" height="120" rx="12" fill="#47e"/>`;
  const image = picture(600, 200, shadow(25, "a") + shadow(230, "b") + shadow(435, "c"));
  const result = trace(image);
  expect(counted(result.svg, "radialGradient")).toBe(4);
  expect(scoreTrace(image, result).psnr).toBeGreaterThan(45);
  expect(renderRaster(result.svg, 600, 200).rgba[3]).toBe(0);
});

test("letters, and what has an edge, are no glows", () => {
  const art = `<circle cx="50" cy="50" r="30" fill="#06c"/><text x="90" y="70" font-size="40" fill="#c00">Ab</text>`;
  expect(trace(picture(180, 100, art)).svg).not.toContain("radialGradient");
});

test("glows of several sizes share one gradient, however little of their rims is seen", () => {
  const tail = [
    [0, "#fd0", 1],
    [0.2, "#fd0", 0.75],
    [0.4, "#fd0", 0.3],
    [0.6, "#fd0", 0.07],
    [0.8, "#fd0", 0.008],
    [1, "#fd0", 0],
  ] as const;
  const sizes = [12, 14.5, 17, 20.3, 24, 28];
  const places = sizes.map((r, i) => [32 + (i % 3) * 61.3, 32 + Math.floor(i / 3) * 62.7, r, r]);
  const image = picture(190, 130, glows(places, tail));
  const result = trace(image);
  expect(counted(result.svg, "circle")).toBe(sizes.length);
  expect(counted(result.svg, "radialGradient")).toBe(1);
  expect(scoreTrace(image, result).psnr).toBeGreaterThan(40);
});

test.each(["#000", "#fff", "#ff0", "#07c"])("a soft blob that is nearly round is one glow in %s too", (colour) => {
  const blur = `<filter id="b" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="3"/></filter>`;
  const blob = `<g filter="url(#b)" fill="${colour}"><circle cx="31" cy="30" r="13"/><ellipse cx="32.5" cy="32" rx="12.5" ry="13"/></g>`;
  const image = picture(64, 64, blur + blob);
  const result = trace(image);
  expect(counted(result.svg, "circle") + counted(result.svg, "ellipse")).toBe(1);
  expect(result.paths).toBe(1);
  expect(scoreTrace(image, result).psnr).toBeGreaterThan(33);
});
