import fc from "fast-check";
import { expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { readKeySpending } from "../../marketplace/api-keys/list.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId, KeyId } from "../../marketplace/ids.ts";
import { recoverLostRuns } from "../../marketplace/runs/recover.ts";
import { type Browser, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { type Answer, call, echoAgent, proveLedger, type TestMarketplace, until } from "../support/marketplace.ts";

const test = marketTest({
  env: {
    PLATFORM_FEE_BASIS_POINTS: "2000",
    LLM_MODELS: "gpt-4o-mini=2:4000:200000",
    LIMIT_MODEL_FAILURES_PER_HOUR: "0",
  },
});

/** An account that sells two agents, one for nothing, and buys with a key and signed in. */
interface Trader {
  readonly browser: Browser;
  readonly handle: string;
  readonly id: AccountId;
  readonly key: { readonly id: KeyId; readonly token: string };
}

async function newTrader(market: TestMarketplace): Promise<Trader> {
  const { browser, handle } = await withAccount(market);
  const { id } = await accountByHandle(market.context.db, handle);
  for (const [slug, price_credits] of Object.entries({ paid: 7, free: 0 })) {
    await browser.put(`/api/account/agents/${slug}`, { ...echoAgent, price_credits });
    await browser.post(`/api/account/agents/${slug}/publish`);
  }
  await grant(market.context.db, { accountId: id, credits: credits(40n) });
  return { browser, handle, id, key: (await browser.post("/api/account/keys", { name: "k" })).body };
}

const kinds = ["run", "run", "run", "free run", "signed-in run", "grant", "transfer", "fault", "lapse"] as const;
const act = fc.record({
  by: fc.nat(1),
  of: fc.nat(1),
  amount: fc.integer({ min: 1, max: 40 }),
  kind: fc.constantFrom(...kinds),
});

async function perform(market: TestMarketplace, trader: Trader, seller: Trader, { kind, amount }: Act) {
  const { db } = market.context;
  const named: Record<string, string> = amount % 3 === 0 ? { "idempotency-key": `n${amount}` } : {};
  const asked = (slug: string) => ({ agent: `${seller.handle}/${slug}`, input: { text: "hello" } });
  switch (kind) {
    case "grant":
      return grant(db, { accountId: trader.id, credits: credits(BigInt(amount)) });
    case "transfer":
      return trader.browser.post("/api/account/credits/transfer", { credits: (amount % 9) + 1 }, named);
    case "fault":
      return market.model.injectFault({ ...(amount % 2 ? { status: 500 } : { delayMs: amount * 5 }), times: 2 });
    case "lapse":
      await db.query("update runs set lease_until = now() - interval '1 s' where state = 'running'");
      return recoverLostRuns(market.context);
    case "signed-in run":
      return trader.browser.post("/api/account/run", asked("paid"), named);
    default: {
      const body = asked(kind === "run" ? "paid" : "free");
      return call(market.url, "/api/v1/run", { key: trader.key.token, headers: named, body });
    }
  }
}

type Act = typeof act extends fc.Arbitrary<infer One> ? One : never;
type Row = Answer["body"];
const sum = (rows: readonly Row[], of: (row: Row) => number) => rows.reduce((total, row) => total + of(row), 0);

/** Of all pages. */
async function allOf(browser: Browser, path: string, name: string): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const { body }: Answer = await browser.get(`${path}?limit=100${cursor && `&cursor=${cursor}`}`);
    rows.push(...body[name]);
    cursor = body.cursor;
  }
  return rows;
}

/** The balances that are shown are what the postings come to, as pages and as a file. */
async function requireBalances(market: TestMarketplace, { browser, key }: Trader): Promise<Row[]> {
  const { credits: spendable, earned_credits: earned } = (await browser.get("/api/account/credits")).body;
  const balance = (await call(market.url, "/api/v1/balance", { key: key.token })).body;
  expect(balance).toMatchObject({ credits: spendable, held_credits: 0, earned_credits: earned });
  const { closing } = (await browser.get("/api/account/ledger")).body;
  expect(closing).toEqual({ credits: spendable, earned_credits: earned });
  const postings = await allOf(browser, "/api/account/ledger", "postings");
  expect(postings[0].balance).toBe(spendable);
  const lines = (await browser.get("/api/account/ledger.csv")).text.trim().split("\r\n").slice(1);
  const cells = lines.map((line) => line.split(","));
  expect(cells).toHaveLength(postings.length);
  expect([sum(cells, (row) => Number(row[3])), sum(cells, (row) => Number(row[4]))]).toEqual([spendable, earned]);
  return postings;
}

/** What runs cost is the same in their list, in the statement, by day, by key and since midnight. */
async function requireSpending(market: TestMarketplace, { browser, key, id }: Trader, postings: Row[]): Promise<void> {
  const runs = await allOf(browser, "/api/account/runs", "runs");
  const spent = sum(runs, (run) => run.credits_used);
  const posted = (kind: string) => sum(postings, (posting) => (posting.kind === kind ? posting.credits : 0));
  expect(posted("hold") - posted("release")).toBe(spent);
  const standing = (await browser.get("/api/account/credits")).body;
  expect(standing).toMatchObject({ spent_today: spent, runs_today: runs.length, running: 0 });
  const activity = (await browser.get("/api/account/activity")).body;
  const failed = runs.filter(({ success }) => !success).length;
  expect(activity).toMatchObject({ credits: spent, runs: runs.length, failed });
  const byKey = sum(runs, (run) => (run.key?.id === key.id ? run.credits_used : 0));
  expect(sum(activity.keys, (one) => (one.key?.id === key.id ? one.credits : 0))).toBe(byKey);
  expect((await readKeySpending(market.context.db, id)).get(key.id)).toEqual({ today: BigInt(byKey), month: null });
}

/** What the agents' figures say was earned is what others' runs posted. */
async function requireRevenue(market: TestMarketplace, { browser, id }: Trader): Promise<void> {
  const { rows } = await market.context.db.query<{ earned: bigint }>(
    `select coalesce(sum(amount), 0)::bigint as earned from postings p join runs r on r.id = p.run_id
     where p.kind = 'capture' and to_purse = 'earned:' || $1 and r.account_id <> $1`,
    [id],
  );
  const figures = await Promise.all(["paid", "free"].map((slug) => browser.get(`/api/account/agents/${slug}/figures`)));
  expect(sum(figures, ({ body }) => body.credits)).toBe(Number(rows[0]!.earned));
}

test("whatever runs, fails, is repeated, given back and moved at once, every figure that is shown agrees with the ledger", async ({
  market,
}) => {
  const { db } = market.context;
  const traders = [await newTrader(market), await newTrader(market)];
  const rounds = fc.array(fc.array(act, { minLength: 6, maxLength: 12 }), { minLength: 2, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(rounds, async (acts) => {
      for (const round of acts) {
        await Promise.all(round.map((one) => perform(market, traders[one.by]!, traders[one.of]!, one)));
      }
      market.model.clearFaults();
      await until(async () => (await db.query("select from runs where state = 'running'")).rowCount === 0);
      await db.query("delete from rate_limits");
      for (const trader of traders) {
        await requireSpending(market, trader, await requireBalances(market, trader));
      }
      await proveLedger(market.context);
    }),
    { numRuns: 6, endOnFailure: true },
  );
  const isCounted = "select counted_until > (select max(finished_at) from runs) as done from run_count_progress";
  await until(async () => (await db.query(isCounted)).rows[0].done);
  for (const trader of traders) await requireRevenue(market, trader);
});
