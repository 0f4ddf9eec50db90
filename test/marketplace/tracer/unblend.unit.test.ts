import { describe, expect, test } from "vitest";
import { unblend } from "../../../marketplace/tracer/image/unblend.ts";
import { renderRaster, scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

/** A picture of equal rows, grey, of 12 rows. */
function rows(values: readonly number[]) {
  const height = 12;
  const pixels = new Uint8Array(values.length * height * 4).fill(255);
  for (let p = 0; p < values.length * height; p++) pixels.fill(values[p % values.length]!, p * 4, p * 4 + 3);
  return { pixels, width: values.length, height };
}

function unblended(values: readonly number[]): number[] {
  const { pixels, width, height } = rows(values);
  const row = unblend(pixels, width, height).subarray(6 * width * 4, 7 * width * 4);
  return values.map((_, x) => row[x * 4]!);
}

describe("a blend of two colours becomes one of them", () => {
  test("where an edge is one pixel wide, or three", () => {
    expect(unblended([20, 20, 20, 20, 120, 220, 220, 220, 220])).toEqual([20, 20, 20, 20, 20, 220, 220, 220, 220]);
    const blurred = unblended([20, 20, 20, 20, 70, 120, 170, 220, 220, 220, 220]);
    expect(new Set(blurred)).toEqual(new Set([20, 220]));
  });

  test("beside a thin line", () => {
    expect(new Set(unblended([250, 250, 250, 250, 140, 30, 30, 140, 250, 250, 250, 250]))).toEqual(new Set([250, 30]));
  });
});

test("shading that goes on stays as it is", () => {
  const shaded = [20, 20, 20, 20, 50, 80, 110, 140, 170, 200, 230, 230, 230, 230];
  expect(unblended(shaded).slice(5, 9)).toEqual(shaded.slice(5, 9));
});

describe("what is as wide as the picture ends at its borders", () => {
  test.each([64, 133])("a disc of %d px is one circle", (size) => {
    const image = picture(size, size, `<circle cx="${size / 2}" cy="${size / 2}" r="${size / 2}" fill="#2563eb"/>`);
    const result = trace(image);
    expect(result.svg.match(/<(?:path|circle|ellipse|rect)/g)).toEqual(["<circle"]);
    expect(scoreTrace(image, result).psnr).toBeGreaterThan(36);
    expect(result.svg).toContain(`width="${size}" height="${size}"`);
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
