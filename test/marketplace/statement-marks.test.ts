import { describe, expect, inject } from "vitest";
import { findBroken } from "../../marketplace/credits/prove.ts";
import { readAccountStatement, tooManyToLookThrough } from "../../marketplace/credits/statement-totals.ts";
import { inReadingTurn } from "../../marketplace/credits/statement-turns.ts";
import type { AccountId } from "../../marketplace/ids.ts";
import { connect, type Database } from "../../shared/postgres.ts";
import { type Browser, withAccount } from "../support/browser.ts";
import { elapse } from "../support/elapse.ts";
import { marketTest } from "../support/fixtures.ts";
import { echoAgent, run, type TestMarketplace } from "../support/marketplace.ts";

const test = marketTest();

/** An account with 500 credits for each of its grants, two of which come between many moves of what was earned; and an agent. */
async function newHolder(market: TestMarketplace, moves: number) {
  const { browser, handle } = await withAccount(market);
  const { db } = market.context;
  const { rows } = await db.query<{ id: AccountId }>("select id from accounts where handle = $1", [handle]);
  const { id } = rows[0]!;
  await post(db, { id, kind: "grant", count: 1, daysAgo: 60 });
  await post(db, { id, kind: "hold and release", count: moves, daysAgo: 50 });
  await post(db, { id, kind: "grant", count: 1, daysAgo: 20 });
  await post(db, { id, kind: "hold and release", count: moves, daysAgo: 10 });
  return { browser, handle, id };
}

interface Posted {
  readonly id: AccountId;
  readonly kind: "grant" | "hold and release";
  readonly count: number;
  readonly daysAgo: number;
}

/** Several share a moment. */
async function post(db: Database, { id, kind, count, daysAgo }: Posted): Promise<void> {
  const at = `now() - interval '${daysAgo} days' + (n / 3) * interval '1 microsecond'`;
  if (kind === "grant") {
    await db.query(
      `insert into postings (kind, from_purse, to_purse, amount, created_at)
       select 'grant', 'platform:issued', 'spendable:' || $1, 500, ${at} from generate_series(1, $2) n`,
      [id, count],
    );
    await db.query("update balances set spendable = spendable + 500 * $2::integer where account_id = $1", [id, count]);
    return;
  }
  for (const move of [
    "'hold', 'spendable:' || $1, 'held:run_' || $3 || n",
    "'release', 'held:run_' || $3 || n, 'spendable:' || $1",
  ]) {
    await db.query(
      `insert into postings (kind, from_purse, to_purse, amount, run_id, created_at)
       select ${move}, 1, 'run_' || $3 || n, ${at} from generate_series(1, $2) n`,
      [id, count, `${id}${daysAgo}x`],
    );
  }
}

const statement = async (browser: Browser, query = "") => {
  const { status, body } = await browser.get(`/api/account/ledger${query}`);
  expect(status).toBe(200);
  return body;
};

/** By kind, as the postings themselves add up. */
async function summed(db: Database, id: AccountId, since = "-infinity") {
  const { rows } = await db.query(
    `select kind, count(*)::integer as postings,
       sum(case when to_purse = 'spendable:' || $1 then amount when from_purse = 'spendable:' || $1 then -amount else 0 end)::integer as credits
     from postings where 'spendable:' || $1 in (from_purse, to_purse) and created_at >= $2 group by kind order by kind`,
    [id, since],
  );
  return rows.map((row) => ({ ...row, earned_credits: 0 }));
}

describe("a statement of many postings", () => {
  test("reads few of them, of any time, and comes to what they come to", async ({ market }) => {
    const { browser, id } = await newHolder(market, 6_000);
    const { db, config } = market.context;
    const own = connect(direct(config.databaseUrl.reveal()), { poolMax: 1, applicationName: "test" });
    await readAccountStatement(own, id, { limit: 20 });
    // Nothing else reads postings until all of this is counted: other backends tell what they read up to ten seconds later.
    const read = [];
    for (const daysAgo of [0, 15, 30, 55]) {
      const from = new Date(Math.floor(Date.now() / 86_400_000 - daysAgo) * 86_400_000);
      const before = await postingsRead(own);
      read.push({ from, ...(await readAccountStatement(own, id, { from, limit: 20 })) });
      expect((await postingsRead(own)) - before).toBeLessThan(9_000);
    }
    for (const { from, opening, closing, totals } of read) {
      expect(totals).toEqual(await summed(db, id, from.toISOString()));
      expect(closing.credits).toBe(1_000);
      expect(opening.credits + totals.reduce((sum, { credits }) => sum + credits, 0)).toBe(1_000);
    }
    const whole = await statement(browser);
    expect(whole.totals).toEqual(await summed(db, id));
    expect(whole).toMatchObject({ opening: { credits: 0 }, closing: { credits: 1_000 } });
    await own.end();
  });

  test("of one kind has all of that kind, page by page and in its file", async ({ market }) => {
    const { browser, id } = await newHolder(market, 1_700);
    const { rows } = await market.context.db.query<{ id: string; kind: string }>(
      `select 'pst_' || id as id, kind from postings where 'spendable:' || $1 in (from_purse, to_purse) order by created_at desc, id`,
      [id],
    );
    for (const kinds of [["grant"], ["hold", "grant"]]) {
      const wanted = rows.filter(({ kind }) => kinds.includes(kind)).map((row) => row.id);
      const seen: string[] = [];
      for (let cursor: string | null = ""; cursor !== null && seen.length < 500; ) {
        const page: Awaited<ReturnType<typeof statement>> = await statement(
          browser,
          `?kind=${kinds.join(",")}&limit=100&cursor=${cursor}`,
        );
        seen.push(...page.postings.map((posting: { id: string }) => posting.id));
        cursor = page.cursor;
      }
      expect(seen).toEqual(wanted.slice(0, seen.length));
      expect(seen.length).toBe(Math.min(wanted.length, 500));
      const { text } = await browser.get(`/api/account/ledger.csv?kind=${kinds.join(",")}`);
      const inFile = text.trimEnd().split("\r\n").slice(1);
      expect(inFile.map((line) => line.split(",")[1])).toEqual(wanted);
    }
  });

  test("counts what was posted by a transaction that others overtook", async ({ market }) => {
    const { browser, id } = await newHolder(market, 10);
    const { db, config } = market.context;
    const slow = connect(direct(config.databaseUrl.reveal()), { poolMax: 1, applicationName: "test" });
    const tx = await slow.connect();
    await tx.query("begin");
    await tx.query(
      "insert into postings (kind, from_purse, to_purse, amount) values ('grant', 'platform:issued', $1, 7)",
      [`spendable:${id}`],
    );
    await post(db, { id, kind: "grant", count: 2_500, daysAgo: 0 });
    await elapse(5_500, "what was posted less than five seconds ago is never marked");
    await statement(browser);
    await tx.query("update balances set spendable = spendable + 7 where account_id = $1", [id]);
    await tx.query("commit");
    tx.release();
    await slow.end();
    const whole = await statement(browser);
    expect(whole.totals).toEqual(await summed(db, id));
    expect(whole.closing.credits).toBe(2_502 * 500 + 7);
  });

  test("counts what was posted while the clock was behind, seen meanwhile or not", async ({ market }) => {
    const { db } = market.context;
    const [seen, unseen] = [await newHolder(market, 1_700), await newHolder(market, 1_700)];
    await db.query(
      `insert into statement_marks (account_id, through, kind, postings, spendable, earned)
       select $1, now() + interval '1 hour', kind, count(*), sum(case when to_purse like 'spendable:%' then amount else -amount end), 0
       from postings where 'spendable:' || $1 in (from_purse, to_purse) group by kind`,
      [seen.id],
    );
    await statement(unseen.browser);
    await post(db, { id: seen.id, kind: "grant", count: 1, daysAgo: 0 });
    await post(db, { id: unseen.id, kind: "grant", count: 1, daysAgo: 55 });
    for (const { browser, id } of [seen, unseen]) {
      const { closing, totals } = await statement(browser);
      expect(closing.credits).toBe(1_500);
      expect(totals).toEqual(await summed(db, id));
      expect((await statement(browser, "?kind=grant")).postings).toHaveLength(3);
    }
  });

  test("finds what was earned while the clock was behind, which the balance lacked", async ({ market }) => {
    const { db } = market.context;
    const { browser, id } = await newHolder(market, 1);
    const purse = `earned:${id}`;
    const earn = (run: string, at: string) =>
      db.query(
        `insert into postings (kind, from_purse, to_purse, amount, run_id, created_at)
         select 'capture', 'held:' || $2, $1, 7, $2, ${at}`,
        [purse, `run_${run}${id}`],
      );
    await earn("before", "now() - interval '3 hours'");
    await db.query("insert into purse_totals values ($1, 7, now() + interval '2 hours')", [purse]);
    await earn("behind", "now()");
    expect((await statement(browser)).closing.earned_credits).toBe(14);
    expect((await browser.get("/api/account/credits")).body.earned_credits).toBe(14);
    const moved = await browser.post("/api/account/credits/transfer", { credits: 14 });
    expect(moved).toMatchObject({ status: 200, body: { earned_credits: 0 } });
  });

  test("adds up in every moment while its account runs agents", async ({ market }) => {
    const { browser, handle, id } = await newHolder(market, 1_200);
    await browser.put("/api/account/agents/echo", echoAgent);
    await browser.post("/api/account/agents/echo/publish");
    const key = (await browser.post("/api/account/keys", { name: "key" })).body.token as string;
    const working = Promise.all(Array.from({ length: 20 }, () => run(market, key, `${handle}/echo`)));
    for (let read = 0; read < 10; read += 1) {
      const { opening, closing, totals, postings } = await statement(browser);
      const sum = totals.reduce((credits: number, total: { credits: number }) => credits + total.credits, 0);
      expect(opening.credits + sum).toBe(closing.credits);
      const newest = postings.find(({ kind }: { kind: string }) => kind !== "capture");
      expect(newest.balance).toBe(closing.credits);
    }
    await working;
    const { closing } = await statement(browser);
    expect((await browser.get("/api/account/credits")).body).toMatchObject(closing);
    const { rows } = await market.context.db.query("select spendable from balances where account_id = $1", [id]);
    expect(closing.credits).toBe(Number(rows[0].spendable));
    expect((await findBroken(market.context.db)).filter((broken) => broken.includes("mark"))).toEqual([]);
  });

  test("is not looked through whole for an agent or a key: the days have to be fewer", async ({ market }) => {
    const { browser, handle } = await newHolder(market, 30_000);
    const key = (await browser.post("/api/account/keys", { name: "key" })).body;
    for (const path of ["ledger", "ledger.csv"]) {
      for (const query of [`agent=${handle}/echo`, `key_id=${key.id}`]) {
        const { status, body } = await browser.get(`/api/account/${path}?${query}`);
        expect({ status, body }).toMatchObject({ status: 422, body: { error: tooManyToLookThrough, field: "from" } });
        const from = new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 10);
        expect(await browser.get(`/api/account/${path}?${query}&from=${from}`)).toMatchObject({ status: 200 });
      }
    }
  });
});

test("reads of one account take turns, and four accounts are read at once", async () => {
  let [reading, most] = [0, 0];
  const of = new Map<string, number>();
  const read = (account: string) =>
    inReadingTurn(account as AccountId, async () => {
      expect(of.get(account) ?? 0).toBe(0);
      of.set(account, 1);
      reading += 1;
      most = Math.max(most, reading);
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
      reading -= 1;
      of.set(account, 0);
      if (account === "acc_5") throw new Error("failed");
      return account;
    });
  const accounts = Array.from({ length: 30 }, (_, n) => `acc_${n % 6}`);
  const answers = await Promise.allSettled(accounts.map(read));
  expect(answers.map(({ status }) => status)).toEqual(
    accounts.map((account) => (account === "acc_5" ? "rejected" : "fulfilled")),
  );
  expect([reading, most]).toEqual([0, 4]);
});

/** Past a pooler, so that one connection has one backend. */
function direct(url: string): string {
  const address = new URL(url);
  address.port = String(inject("postgresPort"));
  return address.href;
}

/** Rows of postings that have been read so far, by whomever. */
async function postingsRead(own: Database): Promise<number> {
  await own.query("select pg_stat_force_next_flush()");
  const { rows } = await own.query(
    "select (idx_tup_fetch + seq_tup_read)::integer as read from pg_stat_user_tables where relname = 'postings'",
  );
  return rows[0].read;
}
