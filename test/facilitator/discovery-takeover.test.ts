import { describe, expect, test } from "vitest";
import { askResource } from "../../facilitator/discovery/ownership.ts";
import { createUnpaidFetch } from "../../facilitator/discovery/unpaid-fetch.ts";
import { readAnnouncement } from "../../facilitator/discovery/validate.ts";
import { createOutbound } from "../../shared/outbound.ts";
import { announcing, bazaar, eventually, useDiscovery } from "../support/discovery.ts";
import { asV1, newBuyer, requirementsOf } from "../support/evm-payments.ts";
import { quoteV1, quoteV2 } from "../support/paid-resource.ts";

const catalog = useDiscovery();
const { paymentFor, settle, listed, catalogCaughtUp } = catalog;

describe("a listing cannot be taken over", () => {
  const attacker = () => ({ ...catalog.setting.terms, payTo: newBuyer().address });

  test("by paying oneself and naming another's URL, listed or not", async () => {
    catalog.server.answer("/victim", announcing([requirementsOf(catalog.setting.terms)]));
    await settle(await paymentFor("/victim"));
    await eventually(() => listed("/victim")).toBeDefined();
    const before = await listed("/victim");
    catalog.server.answer("/unlisted", announcing([requirementsOf(catalog.setting.terms)]));
    for (const path of ["/victim", "/unlisted"]) {
      await settle(await paymentFor(path, { "paymentPayload.resource.description": "Pay me" }, attacker()));
    }
    await catalogCaughtUp();
    expect(await listed("/victim")).toEqual(before);
    expect(await listed("/unlisted")).toBeUndefined();
  });

  test.each([
    ["a page that answers 200", (body: string) => ({ status: 200, headers: { "payment-required": body } })],
    ["a page that is not there", () => ({ status: 404, headers: {} })],
    [
      "a redirect to the attacker's own quote",
      () => ({ status: 302, headers: { location: `${catalog.server.url}/theirs` } }),
    ],
    ["a 402 with a broken quote", () => ({ status: 402, headers: { "payment-required": "e30=!" } })],
  ])("through %s", async (_, answer) => {
    const terms = attacker();
    const said = { x402Version: 2, accepts: [requirementsOf(terms)], extensions: { bazaar: bazaar() } };
    const quote = Buffer.from(JSON.stringify(said)).toString("base64");
    catalog.server.answer("/theirs", announcing([requirementsOf(terms)]));
    catalog.server.answer("/prey", (response) => {
      const { status, headers } = answer(quote);
      response.writeHead(status, headers as Record<string, string>).end(quote);
    });
    await settle(await paymentFor("/prey", {}, terms));
    await catalogCaughtUp();
    expect(await listed("/prey")).toBeUndefined();
  });

  test("through a query that makes the URL answer as told", async () => {
    const terms = attacker();
    catalog.server.answer("/proxy", (response, request) => {
      if (request.url?.includes("say=")) announcing([requirementsOf(terms)])(response, request);
      else announcing([requirementsOf(catalog.setting.terms)])(response, request);
    });
    await settle(await paymentFor("/proxy?say=attacker", {}, terms));
    await catalogCaughtUp();
    expect(await listed("/proxy")).toBeUndefined();
  });

  test("by a route template that covers another's path", async () => {
    const terms = attacker();
    const declaration = { ...bazaar(), routeTemplate: "/tenant-a/:x" };
    catalog.server.answer("/tenant-b/x", announcing([requirementsOf(terms)], {}, declaration));
    await settle(await paymentFor("/tenant-b/x", { "paymentPayload.extensions.bazaar": declaration }, terms));
    await eventually(() => listed("/tenant-b/x")).toBeDefined();
    expect(await listed("/tenant-a/:x")).toBeUndefined();
  });
});

test("under a route template that another wallet's path began, only a wallet that path names as well is taken in", async () => {
  const [first, second] = [catalog.setting.terms, { ...catalog.setting.terms, payTo: newBuyer().address }];
  const declaration = { ...bazaar(), routeTemplate: "/sellers/:name" };
  const template = { "paymentPayload.extensions.bazaar": declaration };
  const taking = (...accepted: (typeof first)[]) => announcing(accepted.map(requirementsOf), {}, declaration);
  catalog.server.answer("/sellers/anna", taking(first));
  catalog.server.answer("/sellers/bob", taking(second));
  await settle(await paymentFor("/sellers/anna", template, first));
  await eventually(() => listed("/sellers/:name")).toBeDefined();
  const before = await listed("/sellers/:name");
  await settle(await paymentFor("/sellers/bob", template, second));
  await catalogCaughtUp();
  expect(await listed("/sellers/:name")).toEqual(before);

  catalog.server.answer("/sellers/anna", taking(first, second));
  catalog.server.answer("/sellers/bob", taking(first, second));
  await settle(await paymentFor("/sellers/bob", template, second));
  await eventually(async () => (await listed("/sellers/:name")).accepts).toHaveLength(2);
});

describe("a stranger who pays a seller's wallet lists nothing in the seller's name", () => {
  const words = {
    "paymentPayload.resource.description": "Buy elsewhere",
    "paymentPayload.resource.serviceName": "Mine",
  };
  const template = { "paymentPayload.extensions.bazaar": { ...bazaar(), routeTemplate: "/:any" } };

  test("of a quote that does not announce itself, by whatever template", async () => {
    const { terms } = catalog.setting;
    catalog.server.answer("/unannounced", quoteV2([requirementsOf(terms)]));
    await settle(await paymentFor("/unannounced", { ...words, ...template }, { ...terms, amount: "1" }));
    await settle(await paymentFor("/unannounced", words));
    await catalogCaughtUp();
    expect(await listed("/unannounced")).toBeUndefined();
    expect(await listed("/:any")).toBeUndefined();
  });

  test("of a version 1 quote that keeps itself off the list", async () => {
    const { paymentRequirements } = asV1(await paymentFor("/shy"));
    const outputSchema = { input: { type: "http", method: "GET", discoverable: false } };
    catalog.server.answer("/shy", quoteV1([{ ...paymentRequirements, outputSchema }]));
    await settle(await paymentFor("/shy", words));
    await catalogCaughtUp();
    expect(await listed("/shy")).toBeUndefined();
  });

  test("of a tool whose quote does not announce itself, by whatever name", async () => {
    const { terms } = catalog.setting;
    catalog.server.answer("/tools", (response) => {
      const structuredContent = { x402Version: 2, accepts: [requirementsOf(terms)] };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { isError: true, structuredContent } }));
    });
    const info = { input: { type: "mcp", toolName: "made-up", inputSchema: { type: "object" } } };
    await settle(await paymentFor("/tools", { "paymentPayload.extensions.bazaar": { ...bazaar(), info } }));
    await catalogCaughtUp();
    expect(await listed("/tools")).toBeUndefined();
  });
});

describe("the probe goes out through the guard alone", () => {
  const declared = (url: string) => {
    const announcement = { x402Version: 2, url, description: "", mimeType: "", bazaar: bazaar() } as const;
    const declaration = readAnnouncement(announcement, { allowLocalhost: false });
    if ("rejectedReason" in declaration) throw new Error(declaration.rejectedReason);
    return declaration;
  };
  const ask = async (addresses: readonly string[][], url = "https://shop.example.org/x") => {
    const answers = [...addresses];
    const resolve = async () =>
      (answers.shift() ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    const outbound = createOutbound({ resolve });
    try {
      const fetchUnpaid = createUnpaidFetch(outbound, { allowLocalhost: false });
      return await askResource(fetchUnpaid, declared(url), new AbortController().signal);
    } finally {
      await outbound.stop();
    }
  };

  test.each([
    ["this machine", [["127.0.0.1"]]],
    ["a private network", [["10.1.2.3"]]],
    ["the cloud's metadata", [["169.254.169.254"]]],
    ["a public and a private address at once", [["93.184.215.14", "::1"]]],
    ["a mapped address", [["::ffff:127.0.0.1"]]],
  ])("a probed name that resolves to %s is not asked", async (_, addresses) => {
    const before = catalog.server.requests.length;
    expect(await ask(addresses)).toMatchObject({ problem: expect.stringMatching(/could not be asked: .*address/) });
    expect(catalog.server.requests).toHaveLength(before);
  });

  test("a probe takes a redirect for an answer and does not follow it; it reads a quote in a header", async () => {
    const outbound = createOutbound({ allowHosts: [new URL(catalog.server.url).host] });
    const announcement = {
      x402Version: 2,
      url: `${catalog.server.url}/moved`,
      description: "",
      mimeType: "",
      bazaar: bazaar(),
    } as const;
    const declaration = readAnnouncement(announcement, { allowLocalhost: true }) as ReturnType<typeof declared>;
    const fetchUnpaid = createUnpaidFetch(outbound, { allowLocalhost: false });
    const asked = () => askResource(fetchUnpaid, declaration, new AbortController().signal);
    try {
      catalog.server.answer("/moved-to", announcing([requirementsOf(catalog.setting.terms)]));
      catalog.server.answer("/moved", (response) => response.writeHead(302, { location: "/moved-to" }).end());
      expect(await asked()).toMatchObject({ problem: "the resource answered 302 instead of a quote" });
      catalog.server.answer("/moved", announcing([requirementsOf(catalog.setting.terms)]));
      expect(await asked()).toMatchObject({ accepts: [requirementsOf(catalog.setting.terms)] });
    } finally {
      await outbound.stop();
    }
  });

  test("a probe asks no port but the usual one of its scheme", async () => {
    const asked = await ask([["93.184.215.14"]], "https://shop.example.org:8443/x");
    expect(asked).toMatchObject({ problem: expect.stringMatching(/could not be asked: the port/) });
  });
});
