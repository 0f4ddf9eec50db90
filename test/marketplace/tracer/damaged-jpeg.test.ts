import sharp from "sharp";
import { expect, test } from "vitest";
import { decodeImage } from "../../../marketplace/tracer/pool/decode.ts";
import { jpegWithRestarts, segment } from "../../support/jpeg-of-scans.ts";
import { landscape, picture, png } from "./pictures.ts";

const drawn = sharp(await png(picture(400, 300, landscape))).flatten();
const [baseline, progressive, grey, inks] = await Promise.all([
  drawn.clone().jpeg().toBuffer(),
  drawn.clone().jpeg({ progressive: true }).toBuffer(),
  drawn.clone().greyscale().jpeg({ mozjpeg: true }).toBuffer(),
  drawn.clone().toColourspace("cmyk").jpeg().toBuffer(),
]);

const endOf = (bytes: Buffer) => bytes.lastIndexOf(Buffer.from([0xff, 0xd9]));
const scanMark = Buffer.from([0xff, 0xda]);
const scanOf = (bytes: Buffer) => bytes.indexOf(scanMark);
const withBytes = (bytes: Buffer, at: number, ...more: number[]) =>
  Buffer.concat([bytes.subarray(0, at), Buffer.from(more), bytes.subarray(at)]);
const latin1 = (text: string) => Buffer.from(text, "latin1");

test.for<[string, Buffer]>([
  ["baseline", baseline],
  ["progressive", progressive],
  ["optimized and grey", grey],
  ["of four inks", inks],
  ["with restart markers", jpegWithRestarts()],
  ["before another one", Buffer.concat([baseline, progressive])],
  ["with a camera's trailer", Buffer.concat([progressive, latin1("SEFT\0\xff\xda\x10")])],
  ["with bytes between its segments", withBytes(baseline, 20, 1, 2, 3)],
  ["with bytes before its end", withBytes(baseline, endOf(baseline), ...Array(40).fill(5))],
  ["with markers filled up", withBytes(baseline, 2, 0xff, 0xff)],
  ["with an unknown segment", withBytes(baseline, 2, ...segment(0xef, 1, 2, 3))],
  ["with broken EXIF", withBytes(baseline, 2, ...segment(0xe1, ...latin1("Exif\0\0MM\0*\xff\xff\xff\xff")))],
  ["of an unknown Adobe transform", withBytes(baseline, 2, ...segment(0xee, ...latin1("Adobe\0d\0\0\0\0"), 5))],
  ["of another revision", Buffer.from(baseline).fill(2, 11, 12)],
])("a JPEG %s is read", async ([, bytes]) => {
  expect((await decodeImage(bytes)).width).toBeGreaterThan(0);
});

test.for<[string, Buffer, number]>([
  ["baseline", baseline, scanOf(baseline)],
  ["progressive", progressive, scanOf(progressive)],
  ["optimized and grey", grey, scanOf(grey)],
  // In its profile there are bytes that look like a scan's.
  ["of four inks", inks, inks.lastIndexOf(scanMark)],
])("a JPEG, %s, that has lost a part of its middle is refused, not drawn with grey blocks", async ([, bytes, scan]) => {
  const length = endOf(bytes) - scan;
  const at = Math.round(scan + length / 2);
  const damaged = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length / 8)]);
  await expect(decodeImage(damaged)).rejects.toMatchObject({
    code: "invalid_value",
    message: '"image" cannot be read: it is damaged or cut short.',
  });
});
