import { afterAll, beforeAll, expect, test } from "vitest";
import { s3Store } from "../../marketplace/files/s3-store.ts";
import { Secret } from "../../shared/env.ts";
import type { S3Config } from "../../shared/s3.ts";
import { startBucket, type TestBucket } from "../support/bucket.ts";
import { call, seedMarket, startMarketplace } from "../support/marketplace.ts";

let s3: TestBucket;
beforeAll(async () => {
  s3 = await startBucket("files");
});
afterAll(() => s3.stop());

const store = (changes: Partial<S3Config> = {}) => s3Store({ ...s3.config, ...changes });

async function bytesOf(name: string): Promise<Buffer | undefined> {
  const stored = await store().open(name);
  return stored && Buffer.concat(await stored.stream.toArray());
}

test("a file is kept in the bucket, read back whole, and removed", async () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_one, n) => n % 251));
  await store().put("a.png", bytes);
  await store().put("a.png", bytes);
  expect(await bytesOf("a.png")).toEqual(bytes);
  await store().remove("a.png");
  await store().remove("a.png");
  expect(await bytesOf("a.png")).toBeUndefined();
});

test("an unknown key, a wrong secret, a bucket that is not there and a store that is away are errors that tell no secret", async () => {
  for (const attempt of [
    () => store({ accessKeyId: "UNKNOWN" }).put("b.png", Buffer.from("b")),
    () => store({ secretAccessKey: new Secret("another") }).put("b.png", Buffer.from("b")),
    () => store({ bucket: "missing" }).put("b.png", Buffer.from("b")),
    () => store({ endpoint: "http://127.0.0.1:9" }).open("b.png"),
  ]) {
    const error: Error = await attempt().then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: "unavailable", headers: { "retry-after": "5" } });
    expect(`${error.message} ${(error.cause as Error).message}`).not.toContain(s3.config.secretAccessKey.reveal());
  }
  expect(await bytesOf("b.png")).toBeUndefined();
});

test("a drawing is stored there and served from there, under the strict policy", async () => {
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
    expect(await bytesOf(pathname.split("/").at(-1)!)).toEqual(Buffer.from(body.svg));
  } finally {
    await market.stop();
  }
});

const onePixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
