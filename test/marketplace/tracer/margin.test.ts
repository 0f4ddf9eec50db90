import { describe, expect, test } from "vitest";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

describe("what is as wide as the picture ends at its borders", () => {
  test.each([64, 133])("a disc of %d px is one circle", (size) => {
    const image = picture(size, size, `<circle cx="${size / 2}" cy="${size / 2}" r="${size / 2}" fill="#2563eb"/>`);
    const result = trace(image);
    expect(result.svg.match(/<(?:path|circle|ellipse|rect)/g)).toEqual(["<circle"]);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(36);
    expect(result.svg).toContain(`width="${size}" height="${size}"`);
  });

  test.each(["#ffffff", "#f2efe8", "#20242c"])("a disc on %s is one circle, and the ground one rectangle", (ground) => {
    const body = `<rect width="64" height="64" fill="${ground}"/><circle cx="32" cy="32" r="32" fill="#26b7d3"/>`;
    const image = picture(64, 64, body);
    const result = trace(image);
    expect(result.svg.match(/<(?:path|circle|ellipse|rect)[^>]*>/g)).toEqual([
      expect.stringMatching(/^<rect (fill="#\w+" )?width="256" height="256"\/>$/),
      expect.stringMatching(/^<circle fill="#26b7d3" cx="12[789]" cy="12[789]" r="12[789]"\/>$/),
    ]);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(36);
  });

  test.each([
    [32, 0, 32, 7],
    [48, 0, 48, 11],
    [64, 0, 64, 20],
    [64, 8, 40, 12],
  ])("in %d px a rectangle at %d, %d px wide, with corners of %d px, is that one", (size, at, wide, rx) => {
    const plate = `<rect x="${at}" y="${at}" width="${wide}" height="${wide}" rx="${rx}" fill="#242938"/>`;
    for (const ground of ["", `<rect width="${size}" height="${size}" fill="#fff"/>`]) {
      const { svg } = trace(picture(size, size, ground + plate));
      const [, place = "", width, height, radius] =
        /<rect fill="#242938"( x="\d+" y="\d+")? width="(\d+)" height="(\d+)" rx="(\d+)"/.exec(svg) ?? [];
      expect(place).toBe(at === 0 ? "" : ` x="${4 * at}" y="${4 * at}"`);
      expect([Number(width), Number(height)]).toEqual([4 * wide, 4 * wide]);
      expect(Math.abs(Number(radius) - 4 * rx)).toBeLessThanOrEqual(1);
    }
  });

  test("a small plate on white has no bits of other colours in its corners", () => {
    const body = `<rect width="32" height="32" fill="#fff"/><rect width="32" height="32" rx="8" fill="#242938"/>
      <path d="M4 24L14 8L24 24z" fill="#969697"/><rect x="20" y="12" width="9" height="3" fill="#656565"/>`;
    const { svg } = trace(picture(32, 32, body));
    expect(svg.match(/<(?:path|circle|ellipse|rect|polygon)/g)).toHaveLength(4);
    expect(svg).toMatch(/<rect fill="#242938" width="128" height="128" rx="3[123]"\/>/);
  });

  test("everything on it stays where it was", () => {
    const body = `<defs><radialGradient id="a"><stop stop-color="#fde68a"/><stop offset="1" stop-color="#b45309"/></radialGradient>
      <linearGradient id="b"><stop stop-color="#1e3a8a"/><stop offset="1" stop-color="#60a5fa"/></linearGradient></defs>
      <circle cx="100" cy="100" r="100" fill="url(#a)"/><rect x="50" y="60" width="100" height="30" fill="url(#b)"/>
      <path d="M60 150Q100 110 140 150T100 170z" fill="#047857"/><path d="M40 115H160" stroke="#111" stroke-width="3"/>
      <ellipse cx="70" cy="40" rx="20" ry="9" fill="#fff"/><path d="M130 20L150 50L110 45z" fill="#7c3aed"/>`;
    const image = picture(200, 200, body);
    const result = trace(image);
    expect(result.svg).toContain('viewBox="0 0 800 800"');
    expect(scoreTrace(image, result).score).toBeGreaterThan(0.95);
  });

  test("but a plate that is to be removed is the background still", () => {
    const body = `<rect width="96" height="96" rx="12" fill="#fff"/><circle cx="48" cy="48" r="24" fill="#dc2626"/>`;
    const { svg } = trace(picture(96, 96, body), { removeBackground: true });
    const { rgba } = renderRaster(svg, 96, 96);
    const alphaAt = (x: number, y: number) => rgba[(y * 96 + x) * 4 + 3];
    expect([alphaAt(48, 4), alphaAt(4, 48), alphaAt(48, 48)]).toEqual([0, 0, 255]);
  });

  test("and a ring is one stroke", () => {
    const ring = `<circle cx="60" cy="60" r="57" fill="none" stroke="#dc2626" stroke-width="6"/>`;
    const { svg } = trace(picture(120, 120, ring));
    expect(svg.match(/<(?:path|circle|ellipse|rect)[^>]*>/g)).toEqual([
      expect.stringMatching(/^<circle fill="none" stroke="#dc2626" stroke-width="\d+" cx="\d+" cy="\d+" r="\d+"\/>$/),
    ]);
  });
});
