import { createHash } from "node:crypto";
import sharp from "sharp";
import { describe, expect } from "vitest";
import { deleteExpiredRows } from "../../../marketplace/expired-rows.ts";
import { marketTest } from "../../support/fixtures.ts";
import { call, startMarketplace, type TestMarketplace } from "../../support/marketplace.ts";
import { logo, noise, picture, png } from "../tracer/pictures.ts";

const test = marketTest();
test.beforeEach(({ market }) => market.context.db.query("delete from svg_tries"));

const image = (await png(picture(400, 300, logo))).toString("base64");
const ownPage = { "sec-fetch-site": "same-origin" };
const attempt = (market: TestMarketplace, address: string, body: object = { image }, { url } = market) =>
  call(url, "/api/svg/try", { body, headers: { ...ownPage, "x-forwarded-for": address } });

describe("POST /api/svg/try", () => {
  test("answers a drawing with its layers, for nothing, and stores nothing of it", async ({ market }) => {
    const before = await rowsOf(market);
    const { status, body } = await attempt(market, "203.0.113.1", { image, layers: true });
    expect(status).toBe(200);
    expect(body).toMatchObject({ svg: expect.stringMatching(/^<svg/), width: 400, height: 300, tries_left: 2 });
    expect(body.layers.map(({ id }: { id: string }) => id)).toContain("circle-1");
    expect(body.score).toBeGreaterThan(0.9);
    expect(await rowsOf(market)).toEqual(before);
    const digest = createHash("sha256").update(body.svg).digest("hex");
    expect((await fetch(`${market.url}/files/${digest}.svg`)).status).toBe(404);
  });

  test("the fourth of a day is refused and told what to do, on every copy; another address goes on", async ({
    market,
    copy,
  }) => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => attempt(market, "203.0.113.2", { image }, n % 2 ? copy : market)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { status, headers, body } of answers) {
      if (status === 200) continue;
      expect(status).toBe(429);
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(86_400);
      expect(body.error).toMatch(/Sign in .*POST \/api\/x402\/svg-vectorize/);
    }
    expect((await attempt(market, "203.0.113.3")).status).toBe(200);
  });

  test("all addresses of one IPv6 /64 are one", async ({ market }) => {
    for (const address of ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:2:ffff::3"]) {
      expect((await attempt(market, address)).status).toBe(200);
    }
    expect((await attempt(market, "2001:db8:1:2:abcd::4")).status).toBe(429);
    expect((await attempt(market, "2001:db8:1:3::1")).status).toBe(200);
  });

  test.for<[string, () => Promise<string | Buffer>]>([
    ["over 1 megapixel", () => png(noise(1_001, 1_000))],
    ["no picture", async () => Buffer.from("no picture")],
    ["cut short", async () => (await png(picture(400, 300, logo))).subarray(0, 900)],
    ["a picture's address", async () => "https://example.com/logo.png"],
  ])("%s is a 422 that names the image and counts as no try", async ([_name, made], { market }) => {
    const bytes = await made();
    const refused = await attempt(market, "203.0.113.4", {
      image: typeof bytes === "string" ? bytes : bytes.toString("base64"),
    });
    expect(refused).toMatchObject({ status: 422, body: { field: "image" } });
    expect((await attempt(market, "203.0.113.4")).body).toMatchObject({ tries_left: 2 });
  });

  test("a picture of exactly 1 megapixel is taken", async ({ market }) => {
    const flat = sharp({ create: { width: 1_000, height: 1_000, channels: 3, background: "#c03" } });
    expect(
      (await attempt(market, "203.0.113.5", { image: (await flat.png().toBuffer()).toString("base64") })).status,
    ).toBe(200);
  });

  test.for<[Record<string, string>, string]>([
    [{ "sec-fetch-site": "cross-site", origin: "https://evil.example" }, "another site's page"],
    [{ "sec-fetch-site": "same-site" }, "a neighbour's page"],
    [{ "sec-fetch-site": "none" }, "an address typed in"],
    [{}, "a program"],
  ])("403 for %j, before the picture is read: it is %s", async ([headers, _who], { market }) => {
    const from = { "x-forwarded-for": "203.0.113.6", ...headers };
    expect(await call(market.url, "/api/svg/try", { body: "no JSON", headers: from })).toMatchObject({ status: 403 });
  });

  test("attempts have a limit of their own, so that what is refused cannot be sent for ever", async ({ market }) => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => attempt(market, "203.0.113.7", { image: "no picture" })),
    );
    expect(answers.filter(({ status }) => status === 422).length).toBeLessThanOrEqual(20);
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(4);
  });

  test("an old day's counts are deleted", async ({ market }) => {
    await attempt(market, "203.0.113.8");
    await market.context.db.query("update svg_tries set day = day - 2");
    await deleteExpiredRows(market.context.db);
    expect((await market.context.db.query("select from svg_tries")).rowCount).toBe(0);
  });
});

test("GET /api/svg/queue answers how many drawings wait", async ({ market }) => {
  expect(await call(market.url, "/api/svg/queue")).toMatchObject({ status: 200, body: { waiting: 0, seconds: 0 } });
});

test("the operator may allow none, or so many of all together", async ({ market }) => {
  const off = await startMarketplace({ model: market.model, env: { LIMIT_SVG_TRIES_PER_ADDRESS: "0" } });
  const few = await startMarketplace({ model: market.model, env: { LIMIT_SVG_TRIES_OF_ALL: "2" } });
  try {
    expect(await attempt(market, "203.0.113.1", { image }, off)).toMatchObject({ status: 403 });
    const answers = await Promise.all([1, 2, 3].map((n) => attempt(market, `203.0.113.${n}`, { image }, few)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429]);
  } finally {
    await off.stop();
    await few.stop();
  }
});

/** How many rows each table has that could keep something of a drawing. */
async function rowsOf({ context }: TestMarketplace): Promise<unknown> {
  const { rows } = await context.db.query(
    "select (select count(*) from runs) as runs, (select count(*) from files) as files, (select count(*) from paid_calls) as calls",
  );
  return rows[0];
}
