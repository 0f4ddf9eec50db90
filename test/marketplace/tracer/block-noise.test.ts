import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { clearBlockNoise } from "../../../marketplace/tracer/image/jpeg/block-noise.ts";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { likeness } from "../../../marketplace/tracer/output/score.ts";
import { decodeImage } from "../../../marketplace/tracer/pool/decode.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { landscape, lettering, logo, mosaic, noise, picture, png } from "./pictures.ts";

async function jpeg(image: Raster, quality: number, chromaSubsampling: "4:2:0" | "4:4:4"): Promise<Raster> {
  const bytes = await sharp(await png(image))
    .jpeg({ quality, chromaSubsampling })
    .toBuffer();
  return decodeImage(bytes);
}

/** The most a channel is off where the source is of one colour for three pixels around, levels. */
function mostOffInFlat(source: Raster, rendering: Raster): number {
  const { width, height } = source;
  const words = new Uint32Array(source.rgba.buffer, source.rgba.byteOffset, width * height);
  let most = 0;
  for (let y = 3; y < height - 3; y++) {
    for (let x = 3; x < width - 3; x++) {
      const p = y * width + x;
      const alike = (q: number) => words[q] === words[p];
      const flat = [-3, 3].every((d) => alike(p + d) && alike(p + d * width) && alike(p + d - d * width));
      if (!flat || !alike(p - 3 - 3 * width) || !alike(p + 3 + 3 * width)) continue;
      for (let c = p * 4; c < p * 4 + 3; c++) most = Math.max(most, Math.abs(source.rgba[c]! - rendering.rgba[c]!));
    }
  }
  return most;
}

describe("a logo saved as JPEG comes back as from the original", () => {
  const original = picture(400, 300, logo);
  const drawn = trace(original);

  test.each(
    [30, 50, 75].flatMap((quality) => (["4:2:0", "4:4:4"] as const).map((colour) => [quality, colour] as const)),
  )("of quality %d, colour %s: its elements, its look, no rings beside edges", async (quality, colour) => {
    const result = trace(await jpeg(original, quality, colour));
    const rendering = renderRaster(result.svg, 400, 300);
    expect(likeness(original, rendering).ssim).toBeGreaterThan(0.997);
    expect(likeness(original, rendering).psnr).toBeGreaterThan(37.5);
    expect(mostOffInFlat(original, rendering)).toBeLessThanOrEqual(10);
    expect(result.paths).toBe(drawn.paths);
    expect(result.bytes).toBeLessThan(3 * drawn.bytes);
  });

  test("also by way of a PNG made of it, and of a gradient", async () => {
    const saved = await jpeg(original, 40, "4:2:0");
    expect(trace(await decodeImage(await png(saved))).svg).toBe(trace(saved).svg);
    const scene = picture(600, 400, landscape);
    const result = trace(await jpeg(scene, 30, "4:2:0"));
    expect(result.paths).toBe(trace(scene).paths);
    expect(likeness(scene, renderRaster(result.svg, 600, 400)).psnr).toBeGreaterThan(43);
  });
});

describe("what has no block noise is left as it is", () => {
  const pictures = {
    "a logo": picture(400, 300, logo),
    "a gradient": picture(300, 200, landscape),
    "small lettering": picture(240, 90, lettering("#333", "#fff")),
    mosaic: picture(300, 300, mosaic),
    noise: opaque(noise(120, 90)),
    "a few shapes whose frequencies lie on some steps by chance": picture(
      260,
      260,
      `<defs><radialGradient id="v"><stop offset=".6" stop-color="#2a6"/><stop offset="1" stop-color="#2a6" stop-opacity="0"/></radialGradient></defs>
       <path fill="#fff" d="M0 0H260V260H0z"/><ellipse cx="130" cy="130" rx="120" ry="100" fill="url(#v)"/>
       <path d="M90 130h80M130 90v80" stroke="#fff" stroke-width="12"/>`,
    ),
    "a see-through shape": picture(200, 200, `<circle cx="100" cy="100" r="80.3" fill="#06c" fill-opacity=".5"/>`),
  };
  test.each(Object.entries(pictures))("%s", (_, image) => {
    expect(clearBlockNoise(image)).toBeNull();
  });

  test("also where noise is too weak to be seen, or lettering would be taken for it", async () => {
    expect(clearBlockNoise(await jpeg(picture(400, 300, logo), 95, "4:4:4"))).toBeNull();
    expect(clearBlockNoise(await jpeg(picture(240, 90, lettering("#333", "#fff")), 50, "4:2:0"))).toBeNull();
  });
});

function opaque(image: Raster): Raster {
  for (let i = 3; i < image.rgba.length; i += 4) image.rgba[i] = 255;
  return image;
}
