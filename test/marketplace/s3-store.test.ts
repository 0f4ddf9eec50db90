import { test as base, expect, onTestFinished } from "vitest";
import { s3Store } from "../../marketplace/files/s3-store.ts";
import { Secret } from "../../shared/env.ts";
import type { S3Config } from "../../shared/s3.ts";
import { startBucket, type TestBucket } from "../support/bucket.ts";
import { startHttpServer } from "../support/http-server.ts";
import { call, seedMarket, startMarketplace } from "../support/marketplace.ts";
import { part, perFile } from "../support/part.ts";

const test = base.extend(
  "s3",
  perFile,
  part(() => startBucket("files")),
);

const store = (s3: TestBucket, changes: Partial<S3Config> = {}) => s3Store({ ...s3.config, ...changes });

async function bytesOf(s3: TestBucket, name: string): Promise<Buffer | undefined> {
  const stored = await store(s3).open(name);
  return stored && Buffer.concat(await stored.stream.toArray());
}

test("a file is kept in the bucket, read back whole, and removed", async ({ s3 }) => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_one, n) => n % 251));
  await store(s3).put("a.png", bytes);
  await store(s3).put("a.png", bytes);
  expect(await bytesOf(s3, "a.png")).toEqual(bytes);
  await store(s3).remove("a.png");
  await store(s3).remove("a.png");
  expect(await bytesOf(s3, "a.png")).toBeUndefined();
});

test("only a file that the bucket says it has not is none: without its bucket nothing is missing, or removed", async ({
  s3,
}) => {
  const without = store(s3, { bucket: "missing" });
  await expect(without.open("b.png")).rejects.toMatchObject({ code: "unavailable" });
  await expect(without.remove("b.png")).rejects.toMatchObject({ code: "unavailable" });
  const other = await startHttpServer((_request, response) => response.writeHead(404).end("<h1>Not here</h1>"));
  onTestFinished(other.stop);
  const elsewhere = store(s3, { endpoint: other.url });
  await expect(elsewhere.open("b.png")).rejects.toMatchObject({ code: "unavailable" });
  await expect(elsewhere.remove("b.png")).rejects.toMatchObject({ code: "unavailable" });
});

test("a bucket that falls silent in the middle of a file is not waited for, and one that is not read is", async ({
  s3,
}) => {
  let closed = 0;
  const half = await startHttpServer((_request, response) => {
    response.once("close", () => {
      closed += 1;
    });
    response.writeHead(200, { "content-length": 20 }).write("half of it");
  });
  onTestFinished(half.stop);
  const silent = s3Store({ ...s3.config, endpoint: half.url }, { silentMs: 300 });
  const [read, unread] = [await silent.open("c.png"), await silent.open("c.png")];
  await expect(read!.stream.toArray()).rejects.toThrow("sent nothing");
  expect(unread!.stream.destroyed).toBe(false);
  unread!.stream.destroy();
  await expect.poll(() => closed).toBe(2);
});

test("an unknown key, a wrong secret, a bucket that is not there and a store that is away are errors that tell no secret", async ({
  s3,
}) => {
  for (const attempt of [
    () => store(s3, { accessKeyId: "UNKNOWN" }).put("b.png", Buffer.from("b")),
    () => store(s3, { secretAccessKey: new Secret("another") }).put("b.png", Buffer.from("b")),
    () => store(s3, { bucket: "missing" }).put("b.png", Buffer.from("b")),
    () => store(s3, { endpoint: "http://127.0.0.1:9" }).open("b.png"),
  ]) {
    const error: Error = await attempt().then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: "unavailable", headers: { "retry-after": "5" } });
    expect(`${error.message} ${(error.cause as Error).message}`).not.toContain(s3.config.secretAccessKey.reveal());
  }
  expect(await bytesOf(s3, "b.png")).toBeUndefined();
});

test("a drawing is stored there and served from there, under the strict policy", async ({ s3 }) => {
  const market = await startMarketplace({
    env: s3.variables("FILES"),
  });
  try {
    const { key } = await seedMarket(market.context);
    const { body } = await call(market.url, "/api/v1/svg/vectorize", { key, body: { image: onePixel } });
    const { pathname } = new URL(body.url);
    const served = await call(market.url, pathname);
    expect(served.text).toBe(body.svg);
    expect(served.headers.get("content-security-policy")).toContain("sandbox");
    expect(await bytesOf(s3, pathname.split("/").at(-1)!)).toEqual(Buffer.from(body.svg));
  } finally {
    await market.stop();
  }
});

const onePixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
