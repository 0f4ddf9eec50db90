import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { TracePool } from "../../../marketplace/svg/trace-pool.ts";
import { vectorize } from "../../../marketplace/svg/vectorize.ts";
import { decodeImage } from "../../../marketplace/tracer/pool/decode.ts";
import { checkSvg } from "../../../marketplace/tracer/sanitize/check-svg.ts";
import { landscape, logo, noise, picture, png } from "../tracer/pictures.ts";

describe("decoding", () => {
  test("CMYK, 16-bit, grey and palette pictures come out as 8-bit RGBA", async () => {
    const drawn = await png(picture(400, 300, logo));
    const cmyk = await sharp(drawn).flatten().toColourspace("cmyk").jpeg({ quality: 95 }).toBuffer();
    const deep = await sharp(drawn).toColourspace("rgb16").png().toBuffer();
    const paletted = await sharp(drawn).png({ palette: true }).toBuffer();
    expect((await sharp(cmyk).metadata()).space).toBe("cmyk");
    expect((await sharp(deep).metadata()).depth).toBe("ushort");
    for (const bytes of [cmyk, deep, paletted]) {
      const { width, height, rgba } = await decodeImage(bytes);
      expect([width, height, rgba.length]).toEqual([400, 300, 480_000]);
      // The red disc is red, the paper white.
      const disc = rgba.subarray((150 * 400 + 75) * 4);
      expect(disc[0]! - disc[1]!).toBeGreaterThan(100);
      expect(rgba[1]).toBeGreaterThan(240);
    }
    const grey = await decodeImage(await sharp(drawn).greyscale().png().toBuffer());
    expect(grey.rgba.length).toBe(480_000);
  });

  test("a picture turned by EXIF is upright", async () => {
    const lying = await sharp(
      await png(picture(40, 20, `<rect width="40" height="20" fill="#fff"/><rect width="10" height="20"/>`)),
    )
      .flatten()
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 100 })
      .toBuffer();
    const { width, height, rgba } = await decodeImage(lying);
    expect([width, height]).toEqual([20, 40]);
    expect(rgba[(2 * 20 + 10) * 4]).toBeLessThan(40);
    expect(rgba[(35 * 20 + 10) * 4]).toBeGreaterThan(215);
  });

  test("of an animation the first frame is drawn", async () => {
    const frames = Buffer.alloc(30 * 60 * 4, 255);
    for (let p = 0; p < 30 * 30; p++) frames.set([255, 0, 0, 255], p * 4);
    const webp = await sharp(frames, { raw: { width: 30, height: 60, channels: 4, pageHeight: 30 } })
      .webp({ lossless: true })
      .toBuffer();
    expect((await sharp(webp).metadata()).pages).toBe(2);
    const { height, rgba } = await decodeImage(webp);
    expect(height).toBe(30);
    expect([...rgba.subarray(0, 4)]).toEqual([255, 0, 0, 255]);
  });

  test("what cannot be read says so", async () => {
    const whole = await png(picture(400, 300, landscape));
    const jpeg = await sharp(whole).flatten().jpeg().toBuffer();
    await expect(decodeImage(whole.subarray(0, whole.length >> 1))).rejects.toThrow("damaged or cut short");
    await expect(decodeImage(jpeg.subarray(0, jpeg.length >> 1))).rejects.toThrow("damaged or cut short");
    await expect(decodeImage(new Uint8Array())).rejects.toThrow("not a PNG, JPEG or WebP");
    await expect(decodeImage(Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'/>"))).rejects.toThrow("not a PNG");
    await expect(decodeImage(Buffer.from("GIF89a\x01\x00\x01\x00"))).rejects.toThrow("not a PNG");
  });

  test("SVG behind a PNG's first bytes is no picture", async () => {
    const disguised = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
      Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>`),
    ]);
    await expect(decodeImage(disguised)).rejects.toMatchObject({ code: "invalid_value" });
  });

  test("a bomb is refused from its header", async () => {
    const before = process.memoryUsage().rss;
    await expect(decodeImage(bomb(20_000, 20_000))).rejects.toThrow("over 16 megapixels");
    await expect(decodeImage(bomb(9_000, 1_000))).rejects.toThrow("over 8192 pixels on a side");
    await expect(decodeImage(new Uint8Array(10_000_001))).rejects.toThrow("over 10 MB");
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
  });
});

/** A tracer gives way to the other tests, so that seconds of work take it minutes beside them. */
const patient = { deadlineMs: 170_000 };

describe("in worker processes", () => {
  let pool: TracePool;
  beforeAll(() => {
    pool = new TracePool({ workersMax: 1, queueMax: 1 });
  });
  afterAll(() => pool.close());
  const begun = () => expect.poll(() => pool.load().seconds).toBeGreaterThan(0);

  test("an image becomes SVG, PNG and PDF with a score", async () => {
    const result = await vectorize(pool, await png(picture(400, 300, logo)), {}, { ...patient, files: ["png", "pdf"] });
    checkSvg(result.svg);
    expect(result).toMatchObject({ width: 400, height: 300, bytes: result.svg.length });
    expect(result.score).toBeGreaterThan(0.95);
    expect(result.metrics.ssim).toBeGreaterThan(0.99);
    expect(await sharp(result.files.png).metadata()).toMatchObject({ format: "png", width: 400, height: 300 });
    expect(Buffer.from(result.files.pdf!).toString("latin1")).toMatch(
      /^%PDF-1\.4[\s\S]*\/MediaBox\[0 0 400 300\][\s\S]*%%EOF\n$/,
    );
  });

  test("refusals keep their code across the processes", async () => {
    await expect(vectorize(pool, Buffer.from("no"), {}, patient)).rejects.toMatchObject({
      code: "invalid_value",
      status: 422,
    });
    await expect(vectorize(pool, await png(noise(9, 9)), { colors: 999 }, patient)).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  test("the deadline ends a job, and the next one runs", async () => {
    const hard = await png(noise(1500, 1300));
    await expect(vectorize(pool, hard, {}, { deadlineMs: 300 })).rejects.toMatchObject({ code: "unavailable" });
    expect((await vectorize(pool, await png(picture(40, 30, logo)), {}, patient)).width).toBe(40);
  });

  test("a process killed while it traces, or while it waits, costs nobody a result", async () => {
    const running = vectorize(pool, await png(noise(100, 75)), {}, patient);
    await begun();
    await killWorker();
    expect((await running).width).toBe(100);
    await killWorker();
    expect((await vectorize(pool, await png(picture(40, 30, logo)), {}, patient)).width).toBe(40);
  });

  test("a picture whose process dies each time is refused, and the next one runs", async () => {
    const running = vectorize(pool, await png(noise(800, 600)), {}, patient).catch((error: unknown) => error);
    await begun();
    const first = await killWorker();
    await expect.poll(() => workers().length > 0 && !workers().includes(first)).toBe(true);
    await killWorker();
    expect(await running).toMatchObject({ code: "unavailable", message: expect.stringContaining("ended its process") });
    expect((await vectorize(pool, await png(picture(40, 30, logo)), {}, patient)).width).toBe(40);
  });

  test.runIf(process.platform === "linux")("it gives way in every thread and knows none of the settings", async () => {
    vi.stubEnv("SEALING_SECRET", "not for it");
    onTestFinished(() => void vi.unstubAllEnvs());
    const own = new TracePool({ workersMax: 1 });
    const before = workers();
    await vectorize(own, await png(picture(40, 30, logo)), {}, patient);
    const [pid] = workers().filter((worker) => !before.includes(worker));
    const threads = readdirSync(`/proc/${pid}/task`);
    expect(threads.length).toBeGreaterThan(4);
    // Field 19 of stat(5), the seventeenth after the name in brackets.
    const nice = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1").split(") ")[1]);
    expect(new Set(nice.map((fields) => fields?.split(" ")[16]))).toEqual(new Set(["10"]));
    expect(readFileSync(`/proc/${pid}/environ`, "latin1")).not.toContain("SEALING_SECRET");
    await own.close();
    await expect.poll(workers).not.toContain(pid);
  });

  test("what the queue does not hold is refused at once, and the event loop goes on turning while others draw", async () => {
    const hard = await png(noise(100, 75));
    const small = await png(noise(16, 16));
    const running = vectorize(pool, hard, {}, patient);
    const waiting = vectorize(pool, small, {}, patient);
    const refused = vectorize(pool, small, {}, patient);
    await expect(refused).rejects.toMatchObject({
      code: "rate_limited",
      headers: { "retry-after": expect.any(String) },
    });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    await Promise.all([running, waiting]);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(20);
  });
});

/** The processes that this one's pools have started. */
function workers(): number[] {
  const list = execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], { encoding: "utf8" });
  return list
    .split("\n")
    .filter((line) => line.includes("tracer/pool/worker.js"))
    .map((line) => Number.parseInt(line, 10));
}

async function killWorker(): Promise<number> {
  await expect.poll(workers).not.toEqual([]);
  const [pid] = workers();
  process.kill(pid!, "SIGKILL");
  return pid!;
}

/** A PNG that says it is huge; its data are a few zeros. */
function bomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.alloc(1_000_000))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return (value ^ 0xffffffff) >>> 0;
}
