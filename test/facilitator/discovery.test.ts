import { HTTPFacilitatorClient } from "@x402/core/server";
import { extractDiscoveryInfo, withBazaar } from "@x402/extensions/bazaar";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeEach, describe, expect, test } from "vitest";
import { KeptTotals } from "../../facilitator/discovery/kept-totals.ts";
import { listingQuery, listResources } from "../../facilitator/discovery/listing.ts";
import { readQuery } from "../../facilitator/http/query.ts";
import { announcing, bazaar, eventually, reportIn, useDiscovery } from "../support/discovery.ts";
import { asV1, newBuyer, paymentBody, requirementsOf } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { quoteV1 } from "../support/paid-resource.ts";
import { freshDatabase } from "../support/postgres.ts";

const catalog = useDiscovery();
const { paymentFor, settle, listing, listed, catalogCaughtUp } = catalog;

describe("a resource that was paid for and asks to be listed", () => {
  test("is listed, in a form that both the current and the older clients read", async () => {
    catalog.server.answer("/weather", announcing([requirementsOf(catalog.setting.terms)]));
    const { headers } = await settle(await paymentFor("/weather?token=secret"));
    expect(reportIn(headers)).toEqual({ bazaar: { status: "processing" } });
    await eventually(() => listed("/weather")).toBeDefined();

    const stock = withBazaar(new HTTPFacilitatorClient({ url: catalog.facilitator.url }));
    const { items, pagination } = await stock.extensions.bazaar.listResources({ type: "http", limit: 10, offset: 0 });
    expect(pagination).toEqual({ limit: 10, offset: 0, total: 1, cursor: null });
    expect(items).toEqual([
      {
        resource: `${catalog.server.url}/weather`,
        type: "http",
        x402Version: 2,
        accepts: [requirementsOf(catalog.setting.terms)],
        lastUpdated: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        description: "Weather",
        mimeType: "application/json",
        extensions: { bazaar: bazaar() },
        discoveryInfo: bazaar().info,
        metadata: {},
      },
    ]);
    const found = await stock.extensions.bazaar.search({ query: "weather in paris", limit: 5 });
    expect(found.resources).toEqual(items);
    expect(catalog.server.requests.filter((request) => request.includes("/weather"))).toEqual(["GET /weather"]);
  });

  test("is listed without the id of a quote, which is another each time and never leaves", async () => {
    const quoted = (quoteId: string) => {
      const terms = requirementsOf(catalog.setting.terms);
      return { ...terms, extra: { ...terms.extra, quoteId } };
    };
    for (const quoteId of ["quote-1", "quote-2"]) {
      catalog.server.answer("/quoted", announcing([quoted(quoteId)]));
      const terms = { "paymentRequirements.extra.quoteId": quoteId, "paymentPayload.accepted.extra.quoteId": quoteId };
      await settle(await paymentFor("/quoted", terms));
      await catalogCaughtUp();
    }
    const { accepts } = await eventually(() => listed("/quoted"))
      .toBeDefined()
      .then(() => listed("/quoted"));
    expect(accepts).toEqual([requirementsOf(catalog.setting.terms)]);
    for (const table of ["discovery_offers", "discovery_resources", "discovery_accepts", "payments", "transactions"]) {
      const { rows } = await catalog.facilitator.context.db.query(`select t::text as row from ${table} t`);
      expect(JSON.stringify(rows.map(({ row }) => row))).not.toContain("quote-");
    }
    expect(catalog.server.requests.filter((request) => request.includes("/quoted"))).toHaveLength(1);
  });

  test("in version 1 is listed from its outputSchema, as the official SDK reads it", async () => {
    const body = asV1(await paymentBody(catalog.buyer, catalog.setting.terms));
    const requirements = {
      ...body.paymentRequirements,
      resource: `${catalog.server.url}/v1`,
      description: "Old weather",
      outputSchema: {
        input: { type: "http", method: "post", bodyType: "multipart", bodyFields: { city: "string" } },
        output: { degrees: 1 },
      },
    };
    catalog.server.answer("/v1", quoteV1([requirements]));
    await settle({ ...body, paymentRequirements: requirements });
    await eventually(() => listed("/v1")).toBeDefined();
    // biome-ignore lint/suspicious/noExplicitAny: the SDK's types name its own unions
    const official = extractDiscoveryInfo(body.paymentPayload as any, requirements as any);
    const item = await listed("/v1");
    expect(item.discoveryInfo).toEqual(official?.discoveryInfo);
    expect(item).toMatchObject({ x402Version: 1, description: "Old weather", resource: official?.resourceUrl });
    expect(item.accepts).toMatchObject([{ network: "eip155:84532", amount: "10000", maxAmountRequired: "10000" }]);
    expect(catalog.server.requests).toContain("POST /v1");
  });

  test("in version 1 stays off the list when it says so", async () => {
    const body = asV1(await paymentBody(catalog.buyer, catalog.setting.terms));
    const outputSchema = { input: { type: "http", method: "GET", discoverable: false } };
    const requirements = { ...body.paymentRequirements, resource: `${catalog.server.url}/shy`, outputSchema };
    catalog.server.answer("/shy", quoteV1([requirements]));
    await settle({ ...body, paymentRequirements: requirements });
    await catalogCaughtUp();
    expect(await listed("/shy")).toBeUndefined();
  });

  test("is listed once under its route template, whatever path was paid for", async () => {
    const template = (city: string) => ({
      ...bazaar(),
      routeTemplate: "/city/:name",
      info: { input: { ...bazaar().info.input, pathParams: { name: city } } },
    });
    for (const city of ["paris", "rome"]) {
      catalog.server.answer(`/city/${city}`, announcing([requirementsOf(catalog.setting.terms)], {}, template(city)));
      await settle(await paymentFor(`/city/${city}`, { "paymentPayload.extensions.bazaar": template(city) }));
      await eventually(() => listed("/city/:name")).toBeDefined();
    }
    await catalogCaughtUp();
    expect((await listing("?limit=100")).items).toHaveLength(2);
    expect(catalog.server.requests.filter((request) => request.includes("/city/"))).toEqual(["GET /city/paris"]);
  });

  test("as an MCP tool is listed by URL and tool, on the word of the tool itself", async () => {
    const info = {
      input: { type: "mcp", toolName: "forecast", inputSchema: { type: "object" }, transport: "streamable-http" },
    };
    catalog.server.answer("/mcp", (response) => {
      const extensions = { bazaar: { ...bazaar(), info } };
      const structuredContent = { x402Version: 2, accepts: [requirementsOf(catalog.setting.terms)], extensions };
      const result = { isError: true, structuredContent, content: [] };
      response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result })}\n\n`);
    });
    await settle(await paymentFor("/mcp", { "paymentPayload.extensions.bazaar": { ...bazaar(), info } }));
    await eventually(() => listed("/mcp")).toMatchObject({ type: "mcp", discoveryInfo: info });
    expect((await listing("?type=mcp")).items).toHaveLength(1);
    expect((await listing("?type=http")).items).toEqual([]);
  });

  test("as an MCP tool may send events before its result, and its result in several lines", async () => {
    const info = { input: { type: "mcp", toolName: "later", inputSchema: { type: "object" } } };
    catalog.server.answer("/mcp-later", (response) => {
      const extensions = { bazaar: { ...bazaar(), info } };
      const structuredContent = { x402Version: 2, accepts: [requirementsOf(catalog.setting.terms)], extensions };
      const log = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "asked" } };
      const result = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { isError: true, structuredContent } }, null, 1);
      const lines = result.replaceAll("\n", "\r\ndata: ");
      response.write("id: 1\r\nretry: 1000\r\ndata: \r\n\r\n");
      response.end(`: ping\r\n\r\ndata: ${JSON.stringify(log)}\r\n\r\nevent: message\r\ndata: ${lines}\r\n\r\n`);
    });
    await settle(await paymentFor("/mcp-later", { "paymentPayload.extensions.bazaar": { ...bazaar(), info } }));
    await eventually(() => listed("/mcp-later")).toMatchObject({ type: "mcp", discoveryInfo: info });
  });

  test("may quote in the header's older name, as the check of a seller reads it", async () => {
    catalog.server.answer("/older", (response) => {
      const said = {
        x402Version: 2,
        accepts: [requirementsOf(catalog.setting.terms)],
        extensions: { bazaar: bazaar() },
      };
      const quote = Buffer.from(JSON.stringify(said)).toString("base64");
      response.writeHead(402, { "x-payment-required": quote }).end();
    });
    await settle(await paymentFor("/older"));
    await eventually(() => listed("/older")).toBeDefined();
  });

  test("shows what the resource itself says, not what its payer made of it", async () => {
    const own = { ...bazaar(), info: { input: { type: "http", method: "GET", queryParams: { city: "string" } } } };
    const price = { ...requirementsOf(catalog.setting.terms), amount: "20000" };
    catalog.server.answer(
      "/own",
      announcing([price], { url: "https://elsewhere.example.com", description: "The truth", serviceName: "Own" }, own),
    );
    await settle(
      await paymentFor("/own", {
        "paymentPayload.resource.description": "A lie",
        "paymentPayload.resource.serviceName": "Liar",
      }),
    );
    await eventually(() => listed("/own")).toMatchObject({
      description: "The truth",
      serviceName: "Own",
      accepts: [{ amount: "20000" }],
      discoveryInfo: own.info,
    });
  });

  test("keeps one way to pay per scheme, network, asset and wallet, and drops what it no longer takes", async () => {
    const [first, second] = [catalog.setting.terms, { ...catalog.setting.terms, payTo: newBuyer().address }];
    const dearer = { ...second, amount: "30000" };
    catalog.server.answer("/two", announcing([requirementsOf(first), requirementsOf(second)]));
    await settle(await paymentFor("/two", {}, first));
    await settle(await paymentFor("/two", {}, second));
    await eventually(async () => (await listed("/two"))?.accepts.length).toBe(2);
    catalog.server.answer("/two", announcing([requirementsOf(dearer)]));
    await settle(await paymentFor("/two", {}, dearer));
    await eventually(async () => (await listed("/two")).accepts).toEqual([requirementsOf(dearer)]);
    expect((await listing("?limit=100")).items).toHaveLength(1);
  });
});

describe("nothing is listed", () => {
  test("for a payment that was only verified, or that failed to settle", async () => {
    catalog.server.answer("/unpaid", announcing([requirementsOf(catalog.setting.terms)]));
    expect((await catalog.facilitator.verify(await paymentFor("/unpaid"))).body.isValid).toBe(true);
    const poor = await paymentFor("/unpaid");
    poor.paymentPayload.payload.signature = `0x${"11".repeat(65)}`;
    expect((await catalog.facilitator.settle(poor)).body.success).toBe(false);
    await catalogCaughtUp();
    expect(await listed("/unpaid")).toBeUndefined();
  });

  test("for a payment that does not ask for it", async () => {
    catalog.server.answer("/quiet", announcing([requirementsOf(catalog.setting.terms)]));
    const { headers } = await settle(await paymentFor("/quiet", { "paymentPayload.extensions": undefined }));
    expect(headers.has("extension-responses")).toBe(false);
    await catalogCaughtUp();
    expect(await listed("/quiet")).toBeUndefined();
  });
});

describe("asking for the list", () => {
  beforeEach(async () => {
    for (const [index, [name, description]] of [
      ["Acme Weather", "Forecasts for any city"],
      ["Translator", "Translates weather reports"],
      ["Chess", "Plays chess with you"],
    ].entries()) {
      const terms = { ...catalog.setting.terms, payTo: `0x${String(index + 1).repeat(40)}` };
      catalog.server.answer(
        `/catalog-${index}`,
        announcing([requirementsOf(terms)], { serviceName: name, description }),
      );
      await settle(
        await paymentFor(
          `/catalog-${index}`,
          { "paymentPayload.resource.serviceName": name, "paymentPayload.resource.description": description },
          terms,
        ),
      );
    }
    await eventually(async () => (await listing()).pagination.total).toBe(3);
  });

  test("filters narrow it, and what matches nothing is empty, not an error", async () => {
    const totalOf = async (query: string) => (await listing(query)).pagination.total;
    expect(await totalOf("?network=eip155:84532&scheme=exact&extensions=bazaar&type=http")).toBe(3);
    expect(await totalOf(`?payTo=0x${"2".repeat(40)}`)).toBe(1);
    expect(await totalOf("?network=eip155:1")).toBe(0);
    expect(await totalOf("?scheme=upto")).toBe(0);
    expect(await totalOf("?type=gopher")).toBe(0);
    expect(await totalOf("?extensions=other")).toBe(0);
    expect(await listing("?network=base-sepolia&colour=red")).toMatchObject({
      pagination: { total: 3 },
      unappliedFilters: ["colour"],
    });
  });

  test("pages are what limit and offset say, and too large a limit is the largest", async () => {
    expect((await listing("?limit=1000")).pagination).toEqual({ limit: 100, offset: 0, total: 3, cursor: null });
    expect((await listing()).pagination.limit).toBe(20);
    const pages = await Promise.all([0, 1, 2, 3].map((offset) => listing(`?limit=1&offset=${offset}`)));
    expect(
      new Set(pages.flatMap(({ items }) => items.map(({ resource }: { resource: string }) => resource))).size,
    ).toBe(3);
    expect(pages[3]).toMatchObject({ items: [], pagination: { total: 3 } });
  });

  test("by cursor each is read once, whatever is paid for meanwhile, and who has a page already is told so", async () => {
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { items, pagination } = await listing(`?limit=1${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      seen.push(...items.map(({ resource }: { resource: string }) => resource));
      expect(pagination.total).toBe(3);
      if (pagination.cursor === null) break;
      cursor = pagination.cursor;
    }
    expect([seen.length, new Set(seen).size]).toEqual([3, 3]);
    const url = `${catalog.facilitator.url}/discovery/resources?limit=2`;
    const first = await fetch(url);
    expect(first.headers.get("cache-control")).toBe("public, max-age=60");
    const again = await fetch(url, { headers: { "if-none-match": first.headers.get("etag") ?? "" } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test.each([
    ["/discovery/resources?cursor=here", "cursor"],
    ["/discovery/resources?limit=ten", "limit"],
    ["/discovery/resources?limit=-1", "limit"],
    ["/discovery/resources?offset=-1", "offset"],
    ["/discovery/resources?network=a&network=b", "network"],
    ["/discovery/search", "query"],
    ["/discovery/search?query=%20", "query"],
    ["/discovery/search?query=x&cursor=here", "cursor"],
  ])("%s is refused by name", async (path, field) => {
    const { status, body } = await catalog.facilitator.get(path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ field, error: expect.stringContaining(field) });
  });

  test("a question longer than any question is refused by name", async () => {
    const { status, body } = await catalog.facilitator.get(`/discovery/search?query=${"x".repeat(401)}`);
    expect(status).toBe(400);
    expect(body).toMatchObject({ field: "query" });
  });

  test("a search finds any of the words, best match first, page by page", async () => {
    const search = async (query: string) => (await catalog.facilitator.get(`/discovery/search?${query}`)).body;
    const names = (found: { resources: { serviceName: string }[] }) =>
      found.resources.map(({ serviceName }) => serviceName);
    const all = await search("query=forecasting+the+weather");
    expect(names(all)).toEqual(["Acme Weather", "Translator"]);
    expect(all).toMatchObject({ x402Version: 2, partialResults: false, pagination: { limit: 20, cursor: null } });
    const first = await search("query=weather&limit=1");
    expect(names(first)).toEqual(["Acme Weather"]);
    const second = await search(`query=weather&limit=1&cursor=${first.pagination.cursor}`);
    expect(names(second)).toEqual(["Translator"]);
    expect(second.pagination.cursor).toBeNull();
    expect(names(await search("query=chess&type=mcp"))).toEqual([]);
    for (const odd of ["the", "'|!&():*", "%00", "%F0%9F%98%80", "a%20%26%20b"]) {
      expect((await catalog.facilitator.get(`/discovery/search?query=${odd}`)).status).toBeLessThan(500);
    }
  });
});

test("of resources that are skipped no ways to pay are read", async () => {
  const { db } = catalog.facilitator.context;
  await db.query(
    `insert into discovery_resources (key, resource, probe_url, type, x402_version, tags, bazaar, words, last_settled_at)
     select url, url, url, 'http', 2, '{}', '{"info":{"input":{"type":"http"}},"schema":{}}', '', now() - n * interval '1 second'
     from generate_series(1, 500) n, concat('https://many.example.com/', n) url`,
  );
  await db.query("vacuum analyze discovery_resources");
  let plan = "";
  const query = async (asked: { name?: string; text: string; values: unknown[] }) => {
    if (asked.name?.startsWith("list-resources")) {
      const { rows } = await db.query(`explain (analyze, format json) ${asked.text}`, asked.values);
      plan = JSON.stringify(rows);
    }
    return db.query(asked);
  };
  const needs = { db: { query } as unknown as typeof db, totals: new KeptTotals() };
  const { items } = await listResources(needs, readQuery(listingQuery, { limit: "10", offset: "400" }));
  expect(items.map(({ resource }) => resource.split("/").at(-1))).toEqual(
    Array.from({ length: 10 }, (_, n) => `${401 + n}`),
  );
  const loops = plan.matchAll(/"Relation Name":"discovery_accepts"[^{}]*"Actual Loops":(\d+)/g);
  expect(Math.max(...[...loops].map(([, times]) => Number(times)))).toBeLessThanOrEqual(11);
});

test("the daemon says that it lists", async () => {
  expect((await catalog.facilitator.get("/supported")).body.extensions).toEqual(["bazaar"]);
});

test("without the probe (development only) a listing is believed; a server on this machine needs to be allowed", async () => {
  // A database of its own: copies that share one list for each other, each by its own settings.
  const signerKey = generatePrivateKey();
  await catalog.setting.chain.fund(privateKeyToAccount(signerKey).address, { wei: parseEther("1") });
  const believing = await startFacilitator({
    ...catalog.setting.variables,
    FACILITATOR_DATABASE_URL: await freshDatabase("facilitator"),
    EIP155_84532_SIGNERS: signerKey,
    FACILITATOR_DISCOVERY_PROBE: "off",
  });
  const strict = await startFacilitator({ ...catalog.setting.variables, FACILITATOR_DISCOVERY_LOCALHOST: "false" });
  try {
    const before = catalog.server.requests.length;
    await believing.settle(await paymentFor("/believed"));
    await eventually(async () => (await believing.get("/discovery/resources")).body.items).toMatchObject([
      { resource: `${catalog.server.url}/believed` },
    ]);
    const { body, headers } = await strict.settle(await paymentFor("/strict"));
    expect(body.success).toBe(true);
    expect(reportIn(headers)).toMatchObject({ bazaar: { status: "rejected" } });
    expect(catalog.server.requests).toHaveLength(before);
  } finally {
    await believing.stop();
    await strict.stop();
  }
});
