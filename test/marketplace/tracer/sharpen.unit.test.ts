import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { premultiply, type Raster } from "../../../marketplace/tracer/image/raster.ts";
import { blurOf } from "../../../marketplace/tracer/image/sharpen.ts";
import { notesOn } from "../../../marketplace/tracer/pool/notes.ts";
import { scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { landscape, lettering, logo, noise, picture } from "./pictures.ts";

const badge = `<rect width="320" height="320" fill="#fff"/><circle cx="160" cy="160" r="120" fill="#0a7"/>
  <path d="M160 80L230 220H90z" fill="#fff"/><circle cx="160" cy="180" r="24" fill="#c31"/>`;

/** As it is when it was saved at a small size and enlarged. */
async function enlarged({ width, height, rgba }: Raster, times: number): Promise<Raster> {
  const raw = { width, height, channels: 4 } as const;
  const small = sharp(rgba, { raw }).resize(Math.round(width / times), Math.round(height / times));
  const data = await sharp(await small.png().toBuffer())
    .resize(width, height, { kernel: "cubic" })
    .ensureAlpha()
    .raw()
    .toBuffer();
  return { width, height, rgba: new Uint8Array(data) };
}

const blur = (image: Raster) => blurOf(premultiply(image), image.width, image.height);

describe("an enlarged logo", () => {
  test("is its shapes with sharp edges where flat shapes are asked for", async () => {
    const clear = picture(320, 320, badge);
    const image = await enlarged(clear, 5);
    expect(blur(image)).toBeGreaterThan(3);
    for (const options of [{ style: "logo" }, { colors: 3 }, { palette: ["#ffffff", "#00aa77", "#cc3311"] }] as const) {
      const result = trace(image, options);
      expect(result.paths, JSON.stringify(options)).toBeLessThanOrEqual(6);
      expect(result.bytes).toBeLessThan(2_000);
      // It is nearer to what was drawn than to what became of it.
      expect(scoreTrace(clear, result).ssim).toBeGreaterThan(0.97);
    }
  });

  test("is as blurred as it is otherwise, and the answer says what would draw it sharp", async () => {
    const image = await enlarged(picture(320, 320, badge), 5);
    const result = trace(image);
    const { score, ssim } = scoreTrace(image, result);
    expect(ssim).toBeGreaterThan(0.97);
    expect(notesOn({ image, options: {}, result, ms: 100, score }).advice).toMatch(/blurred.*Style logo/);
    expect(notesOn({ image, options: { style: "logo" }, result, ms: 100, score: 0.6 }).advice).toMatch(/score/);
    expect(notesOn({ image, options: { colors: 3 }, result, ms: 100, score: 0.6 })).toEqual({});
    // A picture that is traced reduced is blurred only if it still is then.
    const large = await enlarged(picture(2400, 2400, badge), 3);
    expect(notesOn({ image: large, options: {}, result, ms: 100, score: 0.9 })).toEqual({});
  });

  test("on nothing is see-through around sharp edges", async () => {
    const image = await enlarged(picture(200, 200, `<circle cx="100" cy="100" r="70" fill="#07c"/>`), 5);
    const { svg } = trace(image, { style: "logo" });
    expect(svg.match(/fill="/g)).toHaveLength(1);
  });
});

test("what has sharp edges, gradients or grain is not blurred", () => {
  const pictures = [
    picture(400, 300, logo),
    picture(600, 400, landscape),
    picture(300, 120, lettering("#123", "#fff")),
    noise(128, 128),
    picture(64, 64, `<rect width="64" height="64" fill="#f80"/>`),
    picture(1, 1, ""),
  ];
  for (const image of pictures) expect(blur(image)).toBe(0);
});
