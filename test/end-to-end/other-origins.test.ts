import { expect } from "vitest";
import { paidTest } from "../support/fixtures.ts";
import { call, seedMarket } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { decodeHeader, encodeHeader, payQuote } from "../support/pay-call.ts";

const test = paidTest();

const origin = "https://shop.example";
const ask = (paid: PaidMarket, path: string, headers: Record<string, string> = {}) =>
  call(paid.marketplace.url, path, { body: { text: "hello" }, headers: { origin, ...headers } });
const namesIn = (headers: Headers, name: string) =>
  (headers.get(name) ?? "").split(",").map((one) => one.trim().toLowerCase());

test("a page of another origin asks for the price, pays it and reads the result and the settlement", async ({
  paid,
}) => {
  const path = `/api/agent/${paid.address}`;
  const preflight = await call(paid.marketplace.url, path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,payment-signature",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
  expect(preflight.headers.get("access-control-allow-credentials")).toBeNull();
  expect(namesIn(preflight.headers, "access-control-allow-headers")).toEqual(
    expect.arrayContaining(["content-type", "payment-signature", "x-payment", "sign-in-with-x"]),
  );
  const quoted = await ask(paid, path);
  expect(quoted.status).toBe(402);
  expect(quoted.headers.get("access-control-allow-origin")).toBe("*");
  expect(quoted.headers.get("access-control-allow-credentials")).toBeNull();
  expect(namesIn(quoted.headers, "access-control-expose-headers")).toEqual(
    expect.arrayContaining(["payment-required", "payment-response", "x-payment-response"]),
  );
  const answer = await ask(paid, path, { "payment-signature": encodeHeader(await payQuote(paid, "evm", quoted)) });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  expect(decodeHeader(answer.headers.get("payment-response"))).toMatchObject({ success: true });
});

test("a refusal can be read there as well, and a program that names no origin is told nothing of origins", async ({
  paid,
}) => {
  const path = `/api/agent/${paid.market.creator.handle}/nothing`;
  expect((await ask(paid, path)).headers.get("access-control-allow-origin")).toBe("*");
  const plain = await call(paid.marketplace.url, `/api/agent/${paid.address}`, { body: {} });
  expect(plain.headers.get("access-control-allow-origin")).toBeNull();
});

test("a free agent does not run for a page of another origin, however it asks", async ({ paid }) => {
  const free = await seedMarket(paid.marketplace.context, { price: 0 });
  const path = `/api/agent/${free.agent.address}`;
  const before = paid.marketplace.model.asked();
  expect((await ask(paid, path)).status).toBe(403);
  expect((await ask(paid, path, { "content-type": "text/plain" })).status).toBe(403);
  expect((await ask(paid, path, { origin: "null" })).status).toBe(403);
  expect(paid.marketplace.model.asked()).toBe(before);
  const own = { origin: new URL(paid.publicUrl).origin };
  expect((await ask(paid, path, own)).status).toBe(200);
  expect((await call(paid.marketplace.url, path, { body: { text: "hello" } })).status).toBe(200);
});

test.for(["/api/v1/run", "/api/v1/credits/purchase", "/api/account/run", "/api/mcp"])(
  "%s stays closed to them",
  async (path, { paid }) => {
    const { headers } = await call(paid.marketplace.url, path, { body: {}, headers: { origin } });
    expect(headers.get("access-control-allow-origin")).toBeNull();
    const preflight = await fetch(paid.marketplace.url + path, { method: "OPTIONS", headers: { origin } });
    expect(preflight.status).toBe(405);
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
  },
);
