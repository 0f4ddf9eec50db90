import sharp from "sharp";
import { expect, test } from "vitest";
import { decodeImage } from "../../../marketplace/tracer/pool/decode.ts";
import { scoreTrace } from "../../../marketplace/tracer/pool/render.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { jpegOfScans } from "../../support/jpeg-of-scans.ts";
import { picture } from "./pictures.ts";

test.each([[[255, 0, 0, 128]], [[0, 200, 80, 255]], [[0, 128, 255]]])(
  "a picture of 16 bits with a profile keeps its colours: %j",
  async (colour) => {
    const pixels = Buffer.from(Array.from({ length: 64 }, () => colour).flat());
    const raw = { width: 8, height: 8, channels: colour.length as 3 | 4 };
    const png = await sharp(pixels, { raw }).toColourspace("rgb16").withIccProfile("srgb").png().toBuffer();
    expect((await sharp(png).metadata()).depth).toBe("ushort");
    const { rgba } = await decodeImage(png);
    for (const [c, level] of colour.entries())
      expect(Math.abs(rgba[c]! - level), `channel ${c}`).toBeLessThanOrEqual(1);
  },
);

test.each([
  [300, 8_192],
  [1_284, 2_778],
])("a true drawing of %d × %d px is scored so, though it is compared smaller", (width, height) => {
  const page = picture(
    width,
    height,
    `<rect width="${width}" height="${height}" fill="#eee"/><circle cx="${width / 2}" cy="${height / 2}" r="${width / 3}" fill="#c33"/>
     <rect x="20" y="${height - 200}" width="${width - 40}" height="100" fill="#234"/>
     ${Array.from({ length: 12 }, (_, i) => `<rect x="30" y="${40 + Math.round((i * height) / 14)}" width="${width - 60}" height="12"/>`).join("")}`,
  );
  expect(scoreTrace(page, trace(page)).score).toBeGreaterThan(0.95);
});

test("a JPEG of more scans than any camera makes is refused before it is decoded, each of which takes all of the picture", async () => {
  const grey = await decodeImage(jpegOfScans(100));
  expect([grey.width, grey.height]).toEqual([64, 64]);
  const refusal = { code: "invalid_value", message: expect.stringContaining("too many scans") };
  await expect(decodeImage(jpegOfScans(101))).rejects.toMatchObject(refusal);
  // Those of a picture within it are not its own; nor is what follows its end.
  const inside = Buffer.from([0xff, 0xe1, 0x01, 0x2e, ...Array.from({ length: 150 }, () => [0xff, 0xda]).flat()]);
  const image = jpegOfScans(3);
  const whole = Buffer.concat([image.subarray(0, 2), inside, image.subarray(2), jpegOfScans(101)]);
  expect((await decodeImage(whole)).width).toBe(64);
  const noise = {
    width: 300,
    height: 200,
    channels: 3 as const,
    noise: { type: "gaussian" as const, mean: 128, sigma: 60 },
  };
  const progressive = await sharp({ create: { ...noise, background: "red" } })
    .jpeg({ mozjpeg: true })
    .toBuffer();
  expect((await decodeImage(progressive)).width).toBe(300);
});
