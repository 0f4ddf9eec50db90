import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "s3rver";
import { afterAll, beforeAll, expect, test } from "vitest";
import { s3Store } from "../../marketplace/files/s3-store.ts";
import { Secret } from "../../shared/env.ts";
import { call, seedMarket, startMarketplace } from "../support/marketplace.ts";

const accessKeyId = "S3RVER";
const secretAccessKey = "S3RVER";

let server: S3rver;
let directory: string;
let endpoint: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "bucket-"));
  const configureBuckets = [{ name: "files", configs: [] }];
  server = new S3rver({ address: "127.0.0.1", port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  endpoint = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

const store = (changes: { bucket?: string; keyId?: string } = {}) =>
  s3Store({
    endpoint,
    region: "us-east-1",
    bucket: changes.bucket ?? "files",
    accessKeyId: changes.keyId ?? accessKeyId,
    secretAccessKey: new Secret(secretAccessKey),
  });

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

test("an unknown key, a bucket that is not there and a store that is away are errors that tell no secret", async () => {
  const away = {
    endpoint: "http://127.0.0.1:9",
    region: "x",
    bucket: "b",
    accessKeyId,
    secretAccessKey: new Secret("s"),
  };
  for (const attempt of [
    () => store({ keyId: "UNKNOWN" }).put("b.png", Buffer.from("b")),
    () => store({ bucket: "missing" }).put("b.png", Buffer.from("b")),
    () => s3Store(away).open("b.png"),
  ]) {
    const error: Error = await attempt().then(
      () => expect.unreachable(),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: "unavailable", headers: { "retry-after": "5" } });
    expect(`${error.message} ${(error.cause as Error).message}`).not.toContain(secretAccessKey);
  }
  expect(await bytesOf("b.png")).toBeUndefined();
});

test("a drawing is stored there and served from there, under the strict policy", async () => {
  const market = await startMarketplace({
    env: {
      FILES_S3_ENDPOINT: endpoint,
      FILES_S3_BUCKET: "files",
      FILES_S3_ACCESS_KEY_ID: accessKeyId,
      FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
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
