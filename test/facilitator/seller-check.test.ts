import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ExactEvmScheme as ClientScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import express from "express";
import { Hono } from "hono";
import { expect } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { readQuote } from "../../facilitator/discovery/check-offers.ts";
import { askResource } from "../../facilitator/discovery/ownership.ts";
import { checkSeller } from "../../facilitator/discovery/seller-check.ts";
import { settledHere } from "../../facilitator/discovery/settled-here.ts";
import { createUnpaidFetch } from "../../facilitator/discovery/unpaid-fetch.ts";
import type { Declaration } from "../../facilitator/discovery/validate.ts";
import type { CallCounts } from "../../facilitator/limits/call-counts.ts";
import { snippets } from "../../facilitator/web/snippets.ts";
import { createOutbound } from "../../shared/outbound.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import type { RunningFacilitator } from "../support/facilitator.ts";
import { evmTest } from "../support/fixtures.ts";

const test = evmTest({ FACILITATOR_DISCOVERY_LOCALHOST: "true", EIP155_84532_AMOUNT_MIN: "1000" });
let seller: Server;
let answer: { status: number; headers?: Record<string, string>; body?: string };
test.beforeAll(async () => {
  seller = createServer((_request, response) => {
    response.writeHead(answer.status, answer.headers).end(answer.body ?? "");
  });
  seller.listen(0, "127.0.0.1");
  await once(seller, "listening");
});
test.afterAll(async () => {
  seller?.close();
});

const visitor = "192.0.2.1";

const offer = (setting: EvmSetting) => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: setting.terms.asset,
  payTo: setting.terms.payTo,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
});
const offer1 = (setting: EvmSetting) => ({
  ...offer(setting),
  network: "base-sepolia",
  amount: undefined,
  maxAmountRequired: "10000",
  resource: "https://a.example.com/x",
});
const header = (quote: unknown) => ({ "payment-required": Buffer.from(JSON.stringify(quote)).toString("base64") });

async function check(facilitator: RunningFacilitator & { context: Context }, given: typeof answer) {
  answer = given;
  const { db, callCounts, fetchUnpaid } = facilitator.context;
  await db.query("truncate call_counts");
  const needs = { db, callCounts, fetchUnpaid, allowLocalhost: true, settledHere: settledHere(facilitator.context) };
  return checkSeller(needs, `http://127.0.0.1:${(seller.address() as AddressInfo).port}/x?secret=1`, visitor);
}
const broken = (findings: ReadonlyArray<{ rule: string; verdict: string }> = []) =>
  findings.filter(({ verdict }) => verdict !== "ok").map(({ rule }) => rule);

test("a 402 that both versions can read is payable by both", async ({ setting, facilitator }) => {
  const body = JSON.stringify({ x402Version: 1, accepts: [offer1(setting)] });
  const { readings } = await check(facilitator, {
    status: 402,
    headers: header({ x402Version: 2, accepts: [offer(setting)] }),
    body,
  });
  expect(readings.map(({ isPayable, findings }) => [isPayable, broken(findings)])).toEqual([
    [true, []],
    [true, []],
  ]);
});

test.for([
  ["a short network name", { network: "base-sepolia" }, "v2.5"],
  ["version 1's name of the amount", { amount: undefined, maxAmountRequired: "10000" }, "v2.6"],
  ["another scheme", { scheme: "upto" }, "v2.4"],
  ["a payee that is none", { payTo: "0.0.5" }, "v2.8"],
  ["no time", { maxTimeoutSeconds: undefined }, "v2.9"],
  ["another domain", { extra: { name: "USD Coin", version: "2" } }, "v2.10"],
  ["an amount below the smallest", { amount: "999" }, "v2.6"],
  ["a token that is not settled here", { asset: `0x${"11".repeat(20)}` }, "v2.7"],
  ["another transfer method", { extra: { name: "USDC", version: "2", assetTransferMethod: "permit2" } }, "v2.12"],
] as const)("%s is found, by its rule and with a remedy", async ([_what, change, rule], { setting, facilitator }) => {
  const { readings } = await check(facilitator, {
    status: 402,
    headers: header({ x402Version: 2, accepts: [{ ...offer(setting), ...change }] }),
  });
  const second = readings.find(({ version }) => version === 2);
  expect([second?.isPayable, broken(second?.findings)]).toEqual([false, [rule]]);
  expect(second?.findings.find((finding) => finding.rule === rule)?.remedy).toMatch(/\w/);
});

test("version 1 is payable on a network by the name that its clients know, and what the seller wrote is shown", async ({
  setting,
  facilitator,
}) => {
  const read = async (network: string) => {
    const body = JSON.stringify({ x402Version: 1, accepts: [{ ...offer1(setting), network }] });
    const { readings } = await check(facilitator, { status: 402, body });
    const first = readings.find(({ version }) => version === 1);
    return { ...first, remedy: first?.findings.find(({ rule }) => rule === "v1.5")?.remedy };
  };
  const named = await read("base-sepolia");
  expect([named.isPayable, named.offers?.[0]?.network]).toEqual([true, "base-sepolia"]);
  const byId = await read("eip155:84532");
  expect([byId.isPayable, broken(byId.findings)]).toEqual([false, ["v1.5"]]);
  expect(byId.offers?.[0]?.network).toBe("eip155:84532");
  expect(byId.remedy).toContain("Write base-sepolia, not eip155:84532");
  // A name of version 1, of a network that is not served.
  expect(broken((await read("base")).findings)).toContain("v1.4");
  expect(broken((await read("my-chain")).findings)).toEqual(["v1.4", "v1.5", "v1.7"]);
});

test("a fee payer on Hedera is this facilitator's only on its own network", () => {
  const kindOn = (network: string) => ({ x402Version: 2 as const, scheme: "exact", network });
  const networks = ["hedera:testnet", "hedera:mainnet"].map((network, at) => {
    return { network, assets: ["0.0.429274"], amountMin: 1n, feePayers: [`0.0.${1001 + at}`] };
  });
  const here = { kinds: networks.map(({ network }) => kindOn(network)), networks };
  const offer = {
    ...kindOn("hedera:testnet"),
    amount: "5",
    asset: "0.0.429274",
    payTo: "0.0.8",
    maxTimeoutSeconds: 180,
  };
  const read = (feePayer: string) =>
    readQuote(2, "here", { x402Version: 2, accepts: [{ ...offer, extra: { feePayer } }] }, here);
  expect([read("0.0.1001").isPayable, broken(read("0.0.1001").findings)]).toEqual([true, []]);
  expect([read("0.0.1002").isPayable, broken(read("0.0.1002").findings)]).toEqual([false, ["v2.10"]]);
});

test("what is no quote, a redirect, or nothing is said to be so, and nothing of a body is told", async ({
  facilitator,
}) => {
  const page = await check(facilitator, { status: 200, body: "<b>secret text</b>" });
  expect([page.answer.verdict, broken(page.readings.flatMap(({ findings }) => findings))]).toEqual([
    "bad",
    ["v1.1", "v2.1"],
  ]);
  expect(JSON.stringify(page)).not.toContain("secret text");
  const moved = await check(facilitator, { status: 302, headers: { location: "http://127.0.0.1:1/" } });
  expect(moved.answer.rule).toBe("c.2");
  const garbled = await check(facilitator, { status: 402, headers: { "payment-required": "%%%" }, body: "{" });
  expect(garbled.readings.every(({ isPayable }) => !isPayable)).toBe(true);
  expect(broken(garbled.listing)).toEqual(["l.1", "l.2"]);
});

test("whether a quote agrees to be listed is told of a quote that was read, in the same places as for a listing", async ({
  setting,
  facilitator,
}) => {
  const bazaar = { info: { input: { type: "http", method: "GET" } }, schema: { type: "object" } };
  const agreeing = { x402Version: 2, accepts: [offer(setting)], extensions: { bazaar } };
  const rulesOf = ({ listing }: Awaited<ReturnType<typeof check>>) =>
    listing.map(({ rule, verdict }) => `${rule} ${verdict}`).slice(2);
  const silent = await check(facilitator, { status: 402, headers: header({ ...agreeing, extensions: {} }) });
  expect(rulesOf(silent)).toEqual(["l.3 bad"]);
  const older = { "x-payment-required": header(agreeing)["payment-required"] };
  expect(rulesOf(await check(facilitator, { status: 402, headers: older }))).toEqual(["l.3 ok", "l.4 ok"]);
  expect(rulesOf(await check(facilitator, { status: 402, body: JSON.stringify(agreeing) }))).toEqual([
    "l.3 ok",
    "l.4 ok",
  ]);
  expect(rulesOf(await check(facilitator, { status: 200 }))).toEqual([]);
  const { db, callCounts } = facilitator.context;
  await db.query("truncate call_counts");
  const fetchUnpaid = async () => Promise.reject(new Error("nobody answers"));
  const needs = { db, callCounts, fetchUnpaid, allowLocalhost: true, settledHere: settledHere(facilitator.context) };
  const away = await checkSeller(needs, "https://away.example.org/x", visitor);
  expect([away.status, away.listing.map(({ rule }) => rule)]).toEqual([undefined, ["l.1", "l.2"]]);
});

test("a host is asked once a minute over all callers, and only a public one over https", async ({
  setting,
  facilitator,
}) => {
  await facilitator.context.db.query("truncate call_counts");
  const headers = { accept: "text/html" };
  const at = (url: string) => fetch(`${facilitator.url}/resources/check?url=${encodeURIComponent(url)}`, { headers });
  answer = { status: 402, headers: header({ x402Version: 2, accepts: [offer(setting)] }) };
  const url = `http://localhost:${(seller.address() as AddressInfo).port}/x`;
  const [first, second] = [await at(url), await at(`${url}/other`)];
  expect([first.status, second.status]).toEqual([200, 429]);
  expect(await second.text()).toContain("again possible in");
  for (const refused of [
    "http://example.com/",
    "https://example.com:8443/",
    "https://10.0.0.1/",
    "https://user:pw@example.com/",
    "ftp://x",
    "nothing",
  ]) {
    const { status } = await at(refused);
    expect([refused, status]).toEqual([refused, 400]);
  }
});

/** Loads lines of /docs as they stand, but for the wallet and what `app` is. */
async function linesOf(
  setting: EvmSetting,
  id: string,
  origin: string,
  network: string,
): Promise<(app: unknown) => void> {
  const code = snippets({ origin, network }).find((snippet) => snippet.id === id)?.code ?? "";
  const directory = new URL("../../.artefacts/snippets/", import.meta.url);
  await mkdir(directory, { recursive: true });
  const file = new URL(`${id}-${process.pid}.mjs`, directory);
  await writeFile(
    file,
    code.replace('"0x…"', `"${setting.terms.payTo}"`).replace("app.use(", "export const pay = (app) => app.use("),
  );
  const { pay } = await import(file.href);
  await rm(file);
  return pay;
}

test.for(["express", "hono"] as const)(
  "the %s lines of /docs take a payment through this facilitator, as they stand",
  async (id, { setting, facilitator }) => {
    const page = await (await fetch(`${facilitator.url}/docs`)).text();
    expect(page).toContain("paymentMiddlewareFromConfig");
    const pay = await linesOf(setting, id, facilitator.url, "eip155:84532");
    const { url, fetch: fetchIt, stop } = await (id === "hono" ? sellWithHono(pay) : sellWithExpress(pay));
    try {
      const payingFetch = wrapFetchWithPaymentFromConfig(fetchIt, {
        schemes: [{ network: "eip155:84532", client: new ClientScheme(await setting.fundedBuyer()) }],
      });
      const paid = await payingFetch(`${url}/weather`);
      expect([paid.status, await paid.json()]).toEqual([200, { weather: "sunny" }]);
    } finally {
      stop();
    }
  },
);

async function sellWithExpress(pay: (app: unknown) => void) {
  const app = express();
  pay(app);
  app.get("/weather", (_request, response) => void response.json({ weather: "sunny" }));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, fetch, stop: () => server.close() };
}

/** Hono answers requests without a server of its own. */
async function sellWithHono(pay: (app: unknown) => void) {
  const app = new Hono();
  pay(app);
  app.get("/weather", (call) => call.json({ weather: "sunny" }));
  const ask: typeof fetch = async (input, init) => app.fetch(new Request(input, init));
  return { url: "http://shop.example.com", fetch: ask, stop: () => {} };
}

test("the lines of /docs say whether anything runs them", async ({ facilitator }) => {
  const all = snippets({ origin: facilitator.url, network: "eip155:84532" });
  expect(all.filter(({ proof }) => proof === "test").map(({ id }) => id)).toEqual(["express", "hono"]);
  const page = await (await fetch(`${facilitator.url}/docs`)).text();
  for (const said of [
    "Hono, run by our tests",
    "Next, run by hand",
    "FastAPI, as its documentation says, not run here",
  ])
    expect(page).toContain(said);
});

test.for(["POST", "PUT", "PATCH", "DELETE"] as const)(
  "a route that takes %s alone, and says so, is asked by it",
  async (only, { setting, facilitator }) => {
    const server = createServer(({ method }, response) => {
      const isRight = method === only;
      response.writeHead(isRight ? 402 : 405, {
        ...(isRight ? header({ x402Version: 2, accepts: [offer(setting)] }) : { allow: `${only}, OPTIONS` }),
      });
      response.end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { db, callCounts, fetchUnpaid } = facilitator.context;
      await db.query("truncate call_counts");
      const needs = {
        db,
        callCounts,
        fetchUnpaid,
        allowLocalhost: true,
        settledHere: settledHere(facilitator.context),
      };
      const seen = await checkSeller(needs, `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`, visitor);
      expect([seen.status, seen.readings[1]?.isPayable]).toEqual([402, true]);
    } finally {
      server.close();
    }
  },
);

test("whether an address is listed is looked up, however many others are", async ({ facilitator }) => {
  const { db, callCounts, fetchUnpaid } = facilitator.context;
  const add = (text: string) =>
    db.query(
      `insert into discovery_resources (key, resource, probe_url, type, x402_version, tags, bazaar, words, last_settled_at)
       select ${text}, 'http', 2, '{}', '{}', '', now() from generate_series(1, 5000) n`,
    );
  await add(`'https://many.example.com/' || n, 'https://many.example.com/' || n, 'https://many.example.com/' || n`);
  await db.query("vacuum analyze discovery_resources");
  const plans: string[] = [];
  const query = async (asked: { name?: string; text: string; values: unknown[] }) => {
    if (asked.name !== "seller-check-listing") return db.query(asked);
    const { rows } = await db.query(`explain ${asked.text}`, asked.values);
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    return db.query(asked);
  };
  answer = { status: 402 };
  await db.query("truncate call_counts");
  const needs = { callCounts, fetchUnpaid, allowLocalhost: true, settledHere: settledHere(facilitator.context) };
  const url = `http://127.0.0.1:${(seller.address() as AddressInfo).port}/of-a-route/7`;
  const asking = { ...needs, db: { query } as unknown as typeof db };
  const isListed = async () => {
    await db.query("truncate call_counts");
    return (await checkSeller(asking, url, visitor)).listing.find(({ rule }) => rule === "l.1")?.verdict === "ok";
  };
  expect(await isListed()).toBe(false);
  await db.query("update discovery_resources set probe_url = $1 where key = 'https://many.example.com/1'", [url]);
  expect(await isListed()).toBe(true);
  await db.query("delete from discovery_resources where key like 'https://many.example.com/%'");
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).not.toContain("Seq Scan on discovery_resources");
});

test("checks of sellers that hang keep no resource from being asked for the catalog", async ({ facilitator }) => {
  const held: Array<() => void> = [];
  const server = createServer(({ url }, response) => {
    if (url === "/paid") response.writeHead(402).end('{"x402Version":1,"accepts":[]}');
    else held.push(() => response.end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = createOutbound({ allowHosts: [host] });
  try {
    const { db } = facilitator.context;
    // As if each had a name of its own.
    const callCounts = { increment: async () => ({ totalHits: 1, resetTime: new Date() }) } as unknown as CallCounts;
    const fetchUnpaid = createUnpaidFetch(outbound, { allowLocalhost: false });
    const needs = { db, callCounts, fetchUnpaid, allowLocalhost: true, settledHere: settledHere(facilitator.context) };
    const checks = Array.from({ length: 400 }, () => checkSeller(needs, `http://${host}/hangs`, visitor));
    await expect.poll(() => held.length).toBeGreaterThan(90);
    const declaration = {
      type: "http",
      probeUrl: `http://${host}/paid`,
      input: { method: "GET" },
    } as unknown as Declaration;
    expect(await askResource(fetchUnpaid, declaration, new AbortController().signal)).toMatchObject({ accepts: [] });
    await Promise.all(checks);
  } finally {
    for (const end of held) end();
    server.close();
    await outbound.stop();
  }
});
