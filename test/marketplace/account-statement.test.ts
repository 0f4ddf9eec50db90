import { describe, expect } from "vitest";
import { accountByHandle } from "../../marketplace/accounts/create.ts";
import { exportAccount } from "../../marketplace/accounts/export.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { type Browser, withAccount } from "../support/browser.ts";
import { marketTest } from "../support/fixtures.ts";
import { call, echoAgent, proveLedger, run, type TestMarketplace } from "../support/marketplace.ts";

/** An account that sells and buys, and some of whose runs fail. */
async function newTrader(market: TestMarketplace) {
  const { browser, handle } = await withAccount(market);
  const { rows } = await market.context.db.query<{ id: AccountId }>("select id from accounts where handle = $1", [
    handle,
  ]);
  const { id } = rows[0]!;
  await grant(market.context.db, { accountId: id, credits: credits(100n), note: '=HYPERLINK("https://evil")' });
  await browser.put("/api/account/agents/echo", echoAgent);
  await browser.post("/api/account/agents/echo/publish");
  const key = (await browser.post("/api/account/keys", { name: "=1+1" })).body;
  const work = async (fails = false) => {
    if (fails) market.model.injectFault({ status: 500 });
    const { body } = await run(market, key.token, `${handle}/echo`);
    market.model.clearFaults();
    return body.run_id as string;
  };
  return { browser, handle, id, key, work };
}

const test = marketTest({ env: { PLATFORM_FEE_BASIS_POINTS: "2000" } });

const statement = async (browser: Browser, query = "") => (await browser.get(`/api/account/ledger${query}`)).body;
const sumOf = (totals: ReadonlyArray<Record<string, number>>, name: string) =>
  totals.reduce((sum, total) => sum + (total[name] as number), 0);

/** Nothing else may have moved what was there when the period began to what is there at its end. */
function addsUp({ opening, closing, totals }: Awaited<ReturnType<typeof statement>>): void {
  for (const name of ["credits", "earned_credits"]) {
    expect(opening[name] + sumOf(totals, name), name).toBe(closing[name]);
  }
}

describe("a statement", () => {
  test("adds up to the ledger, of all time and of each of its months", async ({ market }) => {
    const trader = await newTrader(market);
    for (const fails of [false, true, false]) await trader.work(fails);
    const { db } = market.context;
    await db.query("alter table postings disable trigger postings_append_only");
    await db.query(
      `update postings set created_at = created_at - interval '40 days'
       where 'spendable:' || $1::text in (from_purse, to_purse) or to_purse = 'earned:' || $1`,
      [trader.id],
    );
    await db.query("alter table postings enable trigger postings_append_only");
    await trader.work();
    await trader.browser.post("/api/account/credits/transfer", { credits: 10 });

    const whole = await statement(trader.browser);
    expect(whole.opening).toEqual({ credits: 0, earned_credits: 0 });
    expect(whole.closing).toEqual({ credits: 95, earned_credits: 2 });
    addsUp(whole);
    const { body: now } = await trader.browser.get("/api/account/credits");
    expect(now).toMatchObject(whole.closing);
    expect(sumOf(whole.totals, "postings")).toBe(whole.postings.length);

    const day = new Date(Date.now() - 20 * 86_400_000).toISOString().slice(0, 10);
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    const [before, after] = [
      await statement(trader.browser, `?to=${day}`),
      await statement(trader.browser, `?from=${next}`),
    ];
    for (const part of [before, after]) addsUp(part);
    expect(before.closing).toEqual(after.opening);
    expect(before.closing).toEqual({ credits: 90, earned_credits: 8 });
    expect([...after.postings, ...before.postings]).toEqual(whole.postings);
    await proveLedger(market.context);
  });

  test("of a period that ends before it begins is refused, as it would not add up", async ({ market }) => {
    const { browser, key } = await newTrader(market);
    const period = "from=2026-03-02&to=2026-03-01";
    for (const answer of [
      await browser.get(`/api/account/ledger?${period}`),
      await browser.get(`/api/account/ledger.csv?${period}`),
      await call(market.url, `/api/v1/ledger?${period}`, { key: key.token }),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { error: '"to" is before from.', field: "to" } });
    }
    expect((await browser.get("/api/account/ledger?from=2026-03-02&to=2026-03-02")).status).toBe(200);
  });

  test("says beside each posting what could be spent after it, on every page", async ({ market }) => {
    const { browser, work } = await newTrader(market);
    await work();
    await work(true);
    const shown: number[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await statement(browser, `?limit=2&cursor=${cursor}`);
      shown.push(...page.postings.filter(({ kind }: { kind: string }) => kind !== "capture").map(balanceOf));
      cursor = page.cursor;
    }
    expect(shown).toEqual([95, 90, 95, 100]);
  });

  test("shows what its filters select, and their totals", async ({ market }) => {
    const { browser, handle, key, work } = await newTrader(market);
    const runId = await work();
    await work(true);
    const kindsFor = async (query: string) => {
      const { postings, totals } = await statement(browser, query);
      expect(postings.every(({ balance }: { balance: unknown }) => balance === null)).toBe(true);
      expect(sumOf(totals, "postings")).toBe(postings.length);
      return postings.map(({ kind }: { kind: string }) => kind);
    };
    expect(await kindsFor("?kind=grant")).toEqual(["grant"]);
    expect(await kindsFor("?kind=hold,release")).toEqual(["release", "hold", "hold"]);
    expect(await kindsFor(`?run_id=${runId}`)).toEqual(["hold"]);
    expect(await kindsFor(`?key_id=${key.id}`)).toEqual(["release", "hold", "hold"]);
    expect(await kindsFor(`?agent=${handle}/echo&kind=capture`)).toEqual(["capture"]);
    expect(await kindsFor(`?agent=${handle}/other`)).toEqual([]);
    const { postings } = await statement(browser, "?kind=hold&limit=1");
    expect(postings[0].key).toEqual({ id: key.id, name: "=1+1" });
  });

  test("of others is nothing that a filter finds", async ({ market }) => {
    const [one, other] = [await newTrader(market), await newTrader(market)];
    const runId = await one.work();
    for (const query of [`?run_id=${runId}`, `?key_id=${one.key.id}`, `?agent=${one.handle}/echo`]) {
      expect((await statement(other.browser, query)).postings).toEqual([]);
    }
    // The creator sees the sale, and neither whose it was nor by which run.
    await run(market, other.key.token, `${one.handle}/echo`);
    const { postings } = await statement(one.browser, "?limit=1");
    expect(postings[0]).toMatchObject({ kind: "capture", run_id: null, key: null });
    expect((await statement(one.browser, `?key_id=${other.key.id}`)).postings).toEqual([]);
  });

  test("as a file runs nothing in a spreadsheet, and has every posting", async ({ market }) => {
    const { browser, handle, work } = await newTrader(market);
    const runId = await work();
    const { status, headers, text } = await browser.get("/api/account/ledger.csv");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    const lines = text.trimEnd().split("\r\n");
    expect(lines[0]).toBe("utc,posting,kind,credits,earned_credits,from,to,agent,run_id,key,network,transaction,note");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toContain(",capture,0,4,held,earned,");
    expect(lines[2]).toContain(`,hold,-5,0,spendable,held,${handle}/echo,${runId},'=1+1,,,`);
    expect(lines[3]).toContain(`,grant,100,0,issued,spendable,,,,,,"'=HYPERLINK(""https://evil"")"`);
    expect((await browser.get("/api/account/ledger.csv?kind=grant")).text.trimEnd().split("\r\n")).toHaveLength(2);
  });

  test("of more postings than a copy of the account has says there that it is cut", async ({ market }) => {
    const { db } = market.context;
    const account = await accountByHandle(db, (await withAccount(market)).handle);
    const copied = async () => {
      let text = "";
      for await (const piece of exportAccount(db, account, null)) text += piece;
      const { statement, statement_are_cut_at } = JSON.parse(text);
      return [statement.length, statement_are_cut_at];
    };
    const post = (postings: number) =>
      db.query(
        `with posted as (insert into postings (kind, from_purse, to_purse, amount, created_at)
           select 'grant', 'platform:issued', 'spendable:' || $1, 1, now() - n * interval '1 s' from generate_series(1, $2::integer) n)
         update balances set spendable = spendable + $2 where account_id = $1`,
        [account.id, postings],
      );
    await post(100_000);
    expect(await copied()).toEqual([100_000, undefined]);
    await post(1);
    expect(await copied()).toEqual([100_000, 100_000]);
  });

  test.for([
    ["kind=tips", "kind"],
    ["from=yesterday", "from"],
    ["to=2026-02-30", "to"],
    ["cursor=x", "cursor"],
  ])("%s is a 400 that names it", async ([query, field], { market }) => {
    const { browser } = await withAccount(market);
    expect(await browser.get(`/api/account/ledger?${query}`)).toMatchObject({ status: 400, body: { field } });
  });
});

describe("moving what was earned", () => {
  test("from two tabs at once moves it once", async ({ market }) => {
    const { browser, work } = await newTrader(market);
    await work();
    const move = () => browser.post("/api/account/credits/transfer", { credits: 4 });
    const answers = await Promise.all([move(), move()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect((await browser.get("/api/account/credits")).body).toMatchObject({ credits: 99, earned_credits: 0 });
    await proveLedger(market.context);
  });

  test("by a named request moves it once, however often that is posted", async ({ market }) => {
    const { browser, work } = await newTrader(market);
    await work();
    await work();
    const move = () =>
      browser.post("/api/account/credits/transfer", { credits: 4 }, { "idempotency-key": "from the page" });
    const answers = await Promise.all([move(), move(), move()]);
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]!.body });
    expect((await browser.get("/api/account/credits")).body).toMatchObject({ earned_credits: 4 });
    await proveLedger(market.context);
  });

  test("is refused to a page of another origin, and to a session without an account", async ({ market }) => {
    const { browser } = await newTrader(market);
    const foreign = { origin: "https://elsewhere.example" };
    expect((await browser.post("/api/account/credits/transfer", { credits: 1 }, foreign)).status).toBe(403);
  });
});

const balanceOf = ({ balance }: { balance: number }) => balance;
