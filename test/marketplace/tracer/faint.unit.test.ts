import { describe, expect, test } from "vitest";
import { strengthened } from "../../../marketplace/tracer/image/faint.ts";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { noise, picture } from "./pictures.ts";

/** A calendar: a frame of four pixels, two rows of boxes and a disc, all in these colours. */
const calendar = (ink: string, disc: string, paper = "none") => `<rect width="200" height="200" fill="${paper}"/>
  <rect x="22" y="32" width="150" height="140" rx="12" fill="none" stroke="${ink}" stroke-width="4"/>
  <path d="M40 60h30v24h-30zM84 60h30v24h-30zM128 60h30v24h-30zM40 110h30v24h-30z" fill="${ink}"/>
  <circle cx="150" cy="150" r="30" fill="${disc}"/>`;

const fills = (svg: string) => [...svg.matchAll(/(?:fill|stroke)="(#\w+)"/g)].map(([, colour]) => colour);

describe("what is faint is drawn as exactly as what is not", () => {
  test("twelve levels on white: the same shapes, in their own colours", () => {
    const faint = picture(200, 200, calendar("#f3f3f5", "#f6efe8", "#fff"));
    const marked = trace(picture(200, 200, calendar("#204060", "#c05020", "#fff")));
    const result = trace(faint);
    checkSvg(result.svg);
    expect(result.paths).toBe(marked.paths);
    expect(new Set(fills(result.svg))).toEqual(new Set(["#fff", "#f3f3f5", "#f6efe8"]));
    const { ssim, psnr } = scoreTrace(faint, result);
    expect(ssim).toBeGreaterThan(0.999);
    expect(psnr).toBeGreaterThan(55);
  });

  test("on black, and without the background", () => {
    const removeBackground = true;
    const marked = trace(picture(200, 200, calendar("#6090c0", "#c05020", "#020304")), { removeBackground });
    const result = trace(picture(200, 200, calendar("#0b0d0f", "#0f0a08", "#020304")), { removeBackground });
    expect(result.removed).toMatchObject({ r: 2, g: 3, b: 4 });
    expect(result.paths).toBe(marked.paths);
    expect(new Set(fills(result.svg))).toEqual(new Set(["#020304", "#0b0d0f", "#0f0a08"]));
  });

  test("a soft shadow and the light of the ground do not keep the background from being removed", () => {
    const shadow = `<defs><filter id="s"><feGaussianBlur stdDeviation="7"/></filter><radialGradient id="v" r=".9"><stop stop-color="#fff"/>
      <stop offset="1" stop-color="#f6f6f6"/></radialGradient></defs><rect width="200" height="200" fill="url(#v)"/>
      <circle cx="104" cy="108" r="50" opacity=".12" filter="url(#s)"/><circle cx="100" cy="100" r="50" fill="#ece4dc"/>`;
    const result = trace(picture(200, 200, shadow), { removeBackground: true });
    expect(result.removed).not.toBeNull();
    // What is left of a shadow may darken what is beneath it, but not lighten it.
    for (const [, colour, opacity] of result.svg.matchAll(/fill="#(\w+)" fill-opacity="([\d.]+)"/g)) {
      if (Number(opacity) < 0.9) expect(Number.parseInt(colour!.slice(0, 2), 16)).toBeLessThan(128);
    }
  });

  test("a watermark of 6 % opacity", () => {
    const faint = picture(200, 200, `<g opacity=".06">${calendar("#000", "#c00")}</g>`);
    const result = trace(faint);
    checkSvg(result.svg);
    expect(result.paths).toBeGreaterThanOrEqual(6);
    expect(scoreTrace(faint, result).ssim).toBeGreaterThan(0.998);
    for (const [, opacity] of result.svg.matchAll(/-opacity="([\d.]+)"/g)) expect(Number(opacity)).toBeCloseTo(0.06, 2);
  });

  test("also where fewer details are wanted; the byte budget and a palette hold", () => {
    const faint = picture(200, 200, calendar("#f3f3f5", "#f6efe8", "#fff"));
    expect(trace(faint, { preset: "small" }).paths).toBeGreaterThanOrEqual(6);
    expect(trace(faint, { bytesMax: 2_000 }).bytes).toBeLessThanOrEqual(2_000);
    expect(
      fills(trace(faint, { palette: ["#ffffff", "#f0f0f0"] }).svg).every((c) => c === "#fff" || c === "#f0f0f0"),
    ).toBe(true);
  });
});

test("grain, one colour and what has contrast are left as they are", () => {
  const paper = picture(64, 64, `<rect width="64" height="64" fill="#f8f8f8"/>`);
  const grainy: Raster = {
    ...paper,
    rgba: paper.rgba.map((v, i) => (i % 4 === 3 ? 255 : v - (noise(64, 64).rgba[i]! >> 4))),
  };
  const unseen = picture(
    64,
    64,
    `<rect width="64" height="64" fill="#fff"/><circle cx="32" cy="32" r="20" fill="#fdfdfd"/>`,
  );
  for (const image of [paper, grainy, unseen, picture(64, 64, `<circle cx="32" cy="32" r="20"/>`)]) {
    expect(strengthened(image)).toBeNull();
  }
});
