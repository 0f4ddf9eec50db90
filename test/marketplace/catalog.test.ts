import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, vi } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { newBuyer } from "../support/evm-payments.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent } from "../support/marketplace.ts";
import { connectMcp } from "../support/mcp.ts";

const network = "eip155:84532";
const facilitator = "https://facilitator.example.com";
const test = marketTest({
  env: { PLATFORM_WALLETS: `${network}=${newBuyer().address}`, FACILITATOR_PUBLIC_URL: facilitator },
});

const choices = Array.from({ length: 100 }, (_, n) => `${n}-`.padEnd(190, "x"));
const largeFields = Array.from({ length: 12 }, (_, n) => ({ name: `f${n}`, type: "choice", choices }));
/** Its input takes more than 200,000 characters. */
const largeAgent = { ...echoAgent, name: "Large", price_credits: 0, fields: [...echoAgent.fields, ...largeFields] };

test.beforeEach(async ({ market, seeded }) => {
  const { creator } = seeded;
  const wallet = { accountId: creator.id, network, address: newBuyer().address, checked: true };
  await addPayoutWallet(market.context.db, wallet).catch(() => {});
  await publishAgent(market.context, creator, "gratis", { ...echoAgent, name: "Gratis", price_credits: 0 });
});

describe("what is paid per call", () => {
  test("is listed without a key, with all that a call takes, for every cache and page", async ({ market, seeded }) => {
    const { status, headers, body } = await call(market.url, "/api/x402/catalog?q=says");
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("public, max-age=60");
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(body).toMatchObject({ total: 2, guide: `${market.context.config.publicUrl}/llms.txt`, facilitator });
    const echo = body.agents.find(({ agent }: { agent: string }) => agent === seeded.agent.address);
    expect(echo).toMatchObject({
      url: `${market.context.config.publicUrl}/api/agent/${seeded.agent.address}`,
      mcp_tool: seeded.agent.address.replace("/", "--"),
      price_usd: 0.05,
      networks: [network],
      output_kind: "text",
    });
    expect(body.drawings.map(({ price_usd: price }: { price_usd: number }) => price)).toEqual([0.01, 0.03, 0.08]);
    for (const { name, description, mcp_tool: tool, input_schema: schema } of body.drawings) {
      expect(tool).toMatch(/^svg_/);
      expect(description).not.toBe(name);
      for (const needed of schema.required) expect(description).toContain(`\`${needed}\``);
    }
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const item of [...body.agents, ...body.drawings]) {
      expect(ajv.validate(item.input_schema, item.example), item.name).toBe(true);
    }
    const again = { "if-none-match": headers.get("etag")! };
    expect((await call(market.url, "/api/x402/catalog?q=says", { headers: again })).status).toBe(304);
  });

  test("is listed without an agent that cannot be read here, and with the others", async ({ market, seeded }) => {
    const { db } = market.context;
    const secrets = { token: "TOKEN-MARK" };
    await publishAgent(market.context, seeded.creator, "sealed", { ...echoAgent, price_credits: 0, secrets });
    const listed = async () => {
      const { status, body } = await call(market.url, "/api/x402/catalog?limit=100");
      return { status, agents: body.agents?.map(({ agent }: { agent: string }) => agent) };
    };
    const sealed = `${seeded.creator.handle}/sealed`;
    await db.query(
      "update agent_versions set sealed_secrets = '{\"token\":\"unknown-key.x\"}' where sealed_secrets <> '{}'",
    );
    expect(await listed()).toEqual({ status: 200, agents: expect.arrayContaining([seeded.agent.address]) });
    expect((await listed()).agents).not.toContain(sealed);
    await db.query("update agents set state = 'unpublished' where slug = 'sealed'");
  });

  test("is read page by page, narrowed, and a wrong parameter says what it may be", async ({ market }) => {
    const first = (await call(market.url, "/api/x402/catalog?limit=1")).body;
    const second = (await call(market.url, `/api/x402/catalog?limit=1&cursor=${first.cursor}`)).body;
    expect([first.agents.length, second.agents.length, second.cursor]).toEqual([1, 1, null]);
    for (const narrowed of ["max_price=0", "free=true&limit=100"]) {
      const free = await call(market.url, `/api/x402/catalog?${narrowed}`);
      expect(free.body.agents.map(({ name }: { name: string }) => name)).toEqual(["Gratis"]);
    }
    const misread = await call(market.url, "/api/x402/catalog?free=yes");
    expect(misread).toMatchObject({ status: 400, body: { field: "free" } });
    const wrong = await call(market.url, "/api/x402/catalog?limit=101");
    expect(wrong).toMatchObject({
      status: 400,
      body: { field: "limit", error: expect.stringContaining("from 1 to 100") },
    });
  });

  test("with large inputs is read in pages of a few, each agent once, in every order", async ({ market }) => {
    const creator = await createAccount(market.context.db, { handle: "large-inputs" });
    for (let n = 0; n < 9; n += 1) await publishAgent(market.context, creator, `large-${n}`, largeAgent);
    for (const order of ["", "&q=large"]) {
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const at = `/api/x402/catalog?limit=100${order}${cursor && `&cursor=${cursor}`}`;
        const answer = await call(market.url, at);
        expect(answer.text.length).toBeLessThan(600_000);
        seen.push(...answer.body.agents.map(({ agent }: { agent: string }) => agent));
        cursor = answer.body.cursor;
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((agent) => agent.startsWith("large-inputs/"))).toHaveLength(9);
    }
  });

  test("with large inputs is read no further than its page goes", async ({ market }) => {
    const creator = await createAccount(market.context.db, { handle: "many-inputs" });
    for (let n = 0; n < 40; n += 1) await publishAgent(market.context, creator, `many-${n}`, largeAgent);
    const { token } = await createKey(market.context.db, { accountId: creator.id, name: "own" });
    const client = await connectMcp(market.url, token);
    const read = vi.spyOn(market.context.versions, "load");
    const { body } = await call(market.url, "/api/x402/catalog?limit=100");
    expect(body.agents.length).toBeLessThan(4);
    expect(read.mock.calls.length).toBeLessThan(10);
    const { tools } = await client.listTools();
    expect(tools.filter(({ name }) => name.startsWith("many-inputs")).length).toBeLessThan(4);
    expect(read.mock.calls.length).toBeLessThan(20);
    await client.close();
  });

  test("is found by crawlers: addresses that cost something, and the prices of operations", async ({
    market,
    seeded,
  }) => {
    const { body } = await call(market.url, "/.well-known/x402");
    const { publicUrl } = market.context.config;
    expect(body).toMatchObject({ version: 1, catalog: `${publicUrl}/api/x402/catalog`, facilitator });
    const drawings = ["svg-vectorize", "svg-generate", "svg-generate-hd"].map(
      (name) => `${publicUrl}/api/x402/${name}`,
    );
    expect(body.resources).toEqual([...drawings, `${publicUrl}/api/agent/${seeded.agent.address}`]);
    const [atRoot, below] = await Promise.all(
      ["/openapi.json", "/api/v1/openapi.json"].map(async (path) => (await call(market.url, path)).body),
    );
    expect(atRoot).toEqual(below);
    const priceOf = (path: string) => atRoot.paths[path].post["x-payment-info"];
    const fixed = { price: { mode: "fixed", currency: "USD", amount: "0.03" }, protocols: [{ x402: {} }] };
    expect(priceOf("/api/x402/svg-generate")).toEqual(fixed);
    const dynamic = { mode: "dynamic", currency: "USD", min: "0.00", max: "10000.00" };
    expect(priceOf("/api/agent/{handle}/{slug}")).toMatchObject({ price: dynamic });
  });
});
