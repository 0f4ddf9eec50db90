import { describe, expect, test } from "vitest";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { writePdf } from "../../../marketplace/tracer/pool/write-pdf.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { describeShadow } from "../../../marketplace/tracer/shadow/field.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { noise, picture } from "./pictures.ts";

const blurred = (shape: string, by: number) =>
  `<defs><filter id="b" x="-50%" y="-50%" width="200%" height="200%"><feGaussianBlur stdDeviation="${by}"/></filter></defs>
   <g filter="url(#b)">${shape}</g>`;

const pillarArt = `${blurred(`<ellipse cx="130" cy="190" rx="80" ry="22" fill-opacity=".5"/>`, 9)}
  <rect x="70" y="60" width="120" height="130" rx="14" fill="#c8102e"/>`;
const cardArt = `${blurred(`<rect x="60" y="64" width="140" height="130" rx="14" fill-opacity=".4"/>`, 12)}
  <rect x="60" y="50" width="140" height="130" rx="14" fill="#fff"/><circle cx="130" cy="110" r="40" fill="#06c"/>`;
const pillar = picture(260, 260, pillarArt);
const card = picture(260, 260, cardArt);
const lamp = picture(
  260,
  260,
  `<defs><radialGradient id="a"><stop stop-color="#0af"/><stop offset="1" stop-color="#0af" stop-opacity="0"/></radialGradient></defs>
   <ellipse cx="130" cy="120" rx="110" ry="60" fill="url(#a)"/><circle cx="130" cy="120" r="30" fill="#124"/>`,
);
const star = `M130 30L155 100L230 100L170 145L190 220L130 175L70 220L90 145L30 100L105 100z`;
const starry = picture(
  260,
  260,
  `${blurred(`<path transform="translate(8 10)" d="${star}" fill-opacity=".6"/>`, 8)}<path d="${star}" fill="#fc0"/>`,
);

/** The greatest step of alpha between neighbouring pixels down a column. */
function steepest({ width, rgba }: Raster, x: number, from: number, to: number): number {
  let most = 0;
  for (let y = from; y < to; y++)
    most = Math.max(most, Math.abs(rgba[(y * width + x) * 4 + 3]! - rgba[((y + 1) * width + x) * 4 + 3]!));
  return most;
}

/** Where alpha, going down a column, has fallen to a sixteenth. */
function faintFrom({ width, rgba }: Raster, x: number, from: number): number {
  let y = from;
  while (rgba[(y * width + x) * 4 + 3]! > 16) y++;
  return y;
}

describe("a soft shadow fades to nothing as its source does", () => {
  test.each([
    ["of an ellipse", pillar, 130, 194],
    ["of a card", card, 130, 184],
    ["of a star", starry, 186, 226],
    ["or a glow", lamp, 130, 156],
  ])("the shadow %s fades to nothing where its source does", (_, image, x, from) => {
    const result = trace(image);
    checkSvg(result.svg);
    const rendering = renderRaster(result.svg, 260, 260);
    const rim = faintFrom(image, x, from);
    expect(steepest(rendering, x, rim, 258)).toBeLessThanOrEqual(steepest(image, x, rim, 258) + 3);
    expect(steepest(rendering, x, from, 258)).toBeLessThanOrEqual(2 * steepest(image, x, from, 258));
    expect(rendering.rgba[3]).toBe(0);
    expect(result.layers[0]!.id).toBe("shadow");
    const { ssim, psnr } = scoreTrace(image, result);
    expect(ssim).toBeGreaterThan(0.99);
    expect(psnr).toBeGreaterThan(42);
    expect(trace(image).svg).toBe(result.svg);
  });

  test("a glow is one gradient, drawn out to an ellipse, in the PDF too", () => {
    const { svg, drawing } = trace(lamp);
    expect(svg.match(/<radialGradient/g)).toHaveLength(1);
    const [, rx, ry] = /<ellipse fill="url\(#g0\)" cx="\d+" cy="\d+" rx="(\d+)" ry="(\d+)"/.exec(svg)!.map(Number);
    expect(Math.abs(rx! / 4 - 110)).toBeLessThan(3);
    expect(Math.abs(ry! / rx! - 60 / 110)).toBeLessThan(0.02);
    expect(Buffer.from(writePdf(drawing)).toString("latin1")).toMatch(/1 0 0 0\.5\d+ 0 \d+\.?\d* cm \/S sh/);
  });

  test("a shadow that is cut off by the picture's edge is drawn as far as it goes", () => {
    const image = picture(
      200,
      120,
      `${blurred(`<ellipse cx="100" cy="100" rx="90" ry="14" fill-opacity=".5"/>`, 8)}<path d="M40 20H160V100H40z" fill="#082"/>`,
    );
    const result = trace(image);
    expect(result.layers[0]!.id).toBe("shadow");
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(40);
  });
});

describe("what fades into a ground that is taken away stays as see-through as it was", () => {
  const feathered = blurred(`<path d="${star}" fill="#b3261e"/>`, 4);
  const neon = `<path d="M40 200V60L130 160L220 60V200" fill="none" stroke="#fce" stroke-width="5"/>`;
  const [side, other] = [260, "#2e86c1"];
  const on = (colour: string, art: string) =>
    picture(side, side, `<rect width="260" height="260" fill="${colour}"/>${art}`);
  const laidOn = (colour: string, svg: string) =>
    on(
      colour,
      `<svg width="260" height="260" ${/viewBox="[^"]*"/.exec(svg)![0]}>${svg.replace(/<\/?svg[^>]*>/g, "")}</svg>`,
    );

  test.each([
    ["a soft shadow on white", "#fff", pillarArt, "shadow", 44],
    ["a soft shadow on a strong colour", "#c0392b", cardArt, "shadow", 44],
    ["the glow of a lamp on dark", "#1b1030", `${blurred(neon, 5)}${neon}`, "shadow", 38],
    ["a feathered edge", "#fff", feathered, "soft", 42],
    [
      "what lies on it and has the ground's colour",
      "#fff",
      `${feathered}<circle cx="130" cy="130" r="20" fill="#fff"/>`,
      "soft",
      42,
    ],
  ])("%s", (_, ground, art, id, least) => {
    const result = trace(on(ground, art), { removeBackground: true });
    checkSvg(result.svg);
    expect(result.layers[0]!.id).toBe(id);
    expect(likeness(on(other, art), laidOn(other, result.svg)).psnr).toBeGreaterThan(least);
  });

  test.each([
    ["a hard edge, however faint", "#eef1f4", `<path d="${star}" fill="#dfe5ea"/>`],
    ["an edge a little out of focus", "#fff", blurred(`<path d="${star}" fill="#264"/>`, 1)],
  ])("%s is one still", (_, ground, art) => {
    expect(trace(on(ground, art), { removeBackground: true }).svg).not.toMatch(/id="(?:soft|shadow)/);
  });
});

describe("what is no soft shadow is not taken for one", () => {
  const unlike = {
    "an even see-through shape": picture(200, 200, `<circle cx="100" cy="100" r="80" fill="#000" fill-opacity=".4"/>`),
    "a fade with hard sides": picture(
      200,
      200,
      `<defs><linearGradient id="a" x2="0" y2="1"><stop stop-opacity=".8"/><stop offset="1" stop-opacity="0"/></linearGradient></defs>
       <rect x="30" y="30" width="140" height="140" fill="url(#a)"/>`,
    ),
    "a fade of many colours": picture(
      200,
      200,
      `<defs><linearGradient id="c"><stop stop-color="#f00"/><stop offset=".5" stop-color="#0f0"/><stop offset="1" stop-color="#00f"/></linearGradient></defs>
       ${blurred(`<rect x="50" y="50" width="100" height="100" fill="url(#c)"/>`, 12)}`,
    ),
    "an edge a little out of focus": picture(200, 200, blurred(`<circle cx="100" cy="100" r="70"/>`, 1.2)),
  };
  test.each(Object.entries(unlike))("%s is drawn without a shadow", (_, image) => {
    const result = trace(image);
    expect(result.svg).not.toContain('id="shadow"');
    expect(scoreTrace(image, result).score).toBeGreaterThan(0.6);
  });

  test("no shadow is drawn beneath shapes that may not overlap", () => {
    expect(trace(card, { mode: "cutout" }).svg).not.toContain('id="shadow"');
    expect(trace(starry, { bytesMax: 4000 }).svg).not.toContain('id="shadow"');
  });

  test("a grainy one makes neither work nor bytes without end", () => {
    const side = 600;
    const grain = noise(side, side, 7);
    const rgba = new Uint8Array(grain.rgba.length);
    for (let p = 0; p < side * side; p++) {
      const middle = 1 - Math.hypot((p % side) - side / 2, p / side - side / 2) / (side / 2);
      if (middle > 0) rgba[p * 4 + 3] = Math.min(255, Math.max(0, middle * 200 + (grain.rgba[p * 4]! & 15) - 7));
    }
    const started = process.cpuUsage();
    const { bytes } = trace({ width: side, height: side, rgba });
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(5);
    expect(bytes).toBeLessThan(500_000);
  });
});

test("what is see-through but does not fade is no shadow", () => {
  const { width, height } = card;
  const members = new Uint8Array(width * height);
  const [flat, fading] = [128, null].map((opacity) => {
    const pixels = new Uint8Array(width * height * 4);
    for (let y = 40; y < 200; y++) {
      for (let x = 200; x < 220; x++) {
        members[y * width + x] = 1;
        pixels[(y * width + x) * 4 + 3] = opacity ?? 6 * (220 - x);
      }
    }
    return describeShadow({ colour: [0, 0, 0], members }, pixels, width, height);
  });
  expect(flat).toBeNull();
  expect(fading).not.toBeNull();
});
