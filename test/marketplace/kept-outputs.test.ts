import { expect } from "vitest";
import { countDays } from "../../marketplace/agents/count-days.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { letOutputsGo } from "../../marketplace/runs/kept-outputs.ts";
import { inTransaction } from "../../shared/postgres.ts";
import { withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { balanceOf, call, echoAgent, proveLedger, run, type TestMarketplace } from "../support/marketplace.ts";
import { callTool, connectMcp, textOf } from "../support/mcp.ts";

const test = marketTest({ env: { RUN_OUTPUT_BYTES_PER_ACCOUNT: "10000" }, jobs: false });

/** An account that runs an agent of its own. */
async function newBuyer(market: TestMarketplace) {
  const { browser, handle } = await withAccount(market);
  const { rows } = await market.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
    handle,
  ]);
  await grant(market.context.db, { accountId: rows[0]!.id, credits: credits(1_000n) });
  await browser.put("/api/account/agents/echo", { ...echoAgent, price_credits: 5 });
  await browser.post("/api/account/agents/echo/publish");
  const { token: key } = (await browser.post("/api/account/keys", { name: "key" })).body;
  return { browser, key: key as string, agent: `${handle}/echo` };
}

type Buyer = Awaited<ReturnType<typeof newBuyer>>;

const named = (market: TestMarketplace, { key, agent }: Buyer, name: string) =>
  call(market.url, "/api/v1/run", {
    key,
    headers: { "idempotency-key": name },
    body: { agent, input: { text: "hello" } },
  });

/** Runs an agent whose output takes some 3,000 bytes, so many hours ago, and has it counted. */
async function runBefore(market: TestMarketplace, buyer: Buyer, hours: number, name: string): Promise<string> {
  const { db } = market.context;
  const { status, body } = await named(market, buyer, name);
  expect(status).toBe(200);
  await db.query(
    `update runs set created_at = created_at - make_interval(hours => $2), finished_at = finished_at - make_interval(hours => $2),
       output = json_build_object('kind', 'text', 'text', (
         select string_agg(md5(random()::text), '') from generate_series(1, 94)))
     where id = $1`,
    [body.run_id, hours],
  );
  const { rows } = await db.query(
    `select finished_at::text as from, (finished_at + interval '1 microsecond')::text as until from runs where id = $1`,
    [body.run_id],
  );
  await inTransaction(db, (tx) => countDays(tx, rows[0]));
  return body.run_id;
}

const readRun = (market: TestMarketplace, { key }: Buyer, id: string) =>
  call(market.url, `/api/v1/runs/${id}`, { key });

test("the oldest outputs of an account that has a great many are let go, and none of its last day", async ({
  market,
}) => {
  const buyer = await newBuyer(market);
  const ids: Record<string, string> = {};
  for (const [name, hours] of [
    ["oldest", 200],
    ["older", 120],
    ["old", 72],
    ["new", 3],
    ["newer", 2],
  ] as const) {
    ids[name] = await runBefore(market, buyer, hours, name);
  }
  const other = await newBuyer(market);
  const others = await runBefore(market, other, 300, "others");
  const before = await balanceOf(market, buyer.key);
  await Promise.all([1, 2, 3].map(() => letOutputsGo(market.context)));

  for (const [name, id] of Object.entries(ids)) {
    const { status, body } = await readRun(market, buyer, id);
    const isKept = !["oldest", "older"].includes(name);
    expect({ name, status, success: body.success, kept: "output" in body }).toEqual({
      name,
      status: 200,
      success: true,
      kept: isKept,
    });
    const again = await named(market, buyer, name);
    expect({ name, status: again.status }).toEqual({ name, status: isKept ? 200 : 410 });
    if (!isKept)
      expect(again.body).toEqual({ error: "The run succeeded; its output is no longer kept.", charged: true });
  }
  const client = await connectMcp(market.url, buyer.key);
  const tool = buyer.agent.replace("/", "--");
  const refused = await callTool(client, tool, { text: "hello" }, { idempotency_key: "oldest" });
  expect(refused._meta).toEqual({ charged: true });
  expect(textOf(refused)).toBe(
    "The run succeeded; its output is no longer kept. It was charged then. Calling again will not help: tell the user.",
  );
  expect((await readRun(market, other, others)).body.output).toBeDefined();
  expect(await balanceOf(market, buyer.key)).toEqual(before);
  await proveLedger(market.context);

  const page = await fetch(`${market.url}/runs/${ids.older}`, {
    headers: { cookie: buyer.browser.cookie, accept: "text/html" },
  });
  expect(await page.text()).toContain("It is no longer kept");
  const example = await buyer.browser.put(`/api/account/runs/${ids.older}/example`, {});
  expect(example).toMatchObject({ status: 409, body: { error: "The run succeeded; its output is no longer kept." } });
});

test("an account whose outputs of a day take all the room runs nothing more until some are a day old", async ({
  market,
}) => {
  const buyer = await newBuyer(market);
  const ids: string[] = [];
  for (let n = 0; n < 14; n += 1) ids.push(await runBefore(market, buyer, 2, `run ${n}`));
  await letOutputsGo(market.context);
  const before = await balanceOf(market, buyer.key);
  const refused = await run(market, buyer.key, buyer.agent);
  expect(refused).toMatchObject({ status: 429 });
  expect(refused.headers.get("retry-after")).toBe("3600");
  expect(await balanceOf(market, buyer.key)).toEqual(before);
  // What it has already run is answered, and others run what they like.
  expect((await named(market, buyer, "run 3")).body.output.text).toHaveLength(3_008);
  expect((await run(market, (await newBuyer(market)).key, buyer.agent)).body).toMatchObject({ success: true });

  const { db } = market.context;
  await db.query(
    `update runs set created_at = created_at - interval '3 days', finished_at = finished_at - interval '3 days' where id = any($1)`,
    [ids],
  );
  await db.query(
    `update output_days set day = day - 3 where account_id = (select account_id from runs where id = $1)`,
    [ids[0]],
  );
  await letOutputsGo(market.context);
  await letOutputsGo(market.context);
  expect((await run(market, buyer.key, buyer.agent)).body).toMatchObject({ success: true });
});
