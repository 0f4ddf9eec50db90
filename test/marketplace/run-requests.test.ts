import { describe, expect, vi } from "vitest";
import { moveAgent } from "../../marketplace/agents/state.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { deleteOldRuns } from "../../marketplace/runs/recover.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  balanceOf,
  call,
  type Market,
  proveLedger,
  seedMarket,
  spendable,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";

const test = marketTest();
test.afterEach(async ({ market }) => {
  market.model.clearFaults();
  await proveLedger(market.context);
});

const named = (on: TestMarketplace, { key, agent }: Market, name: string, more: object = {}) =>
  call(on.url, "/api/v1/run", {
    key,
    headers: { "idempotency-key": name },
    body: { agent: agent.address, input: { text: "hello" }, ...more },
  });

describe("a request with an Idempotency-Key", () => {
  test("runs once and answers the same ever after, whatever has changed since", async ({ market, copy }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    const first = await named(market, seeded, "job-1");
    expect(first.body).toMatchObject({ success: true, credits_used: 5, credits_remaining: 15 });
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    await named(market, seeded, "job-2");
    await moveAgent(market.context.db, seeded.agent.address, "unpublish");
    const again = await named(copy, seeded, "job-1");
    expect(again).toMatchObject({ status: 200, text: first.text });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await spendable(market.context, seeded.buyer)).toBe(10);
  });

  test("that failed answers the same failure, and another name runs anew", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    market.model.injectFault({ status: 500 });
    const failed = await named(market, seeded, "job");
    expect(failed.body).toMatchObject({ success: false, credits_used: 0, credits_remaining: 20 });
    expect((await named(market, seeded, "job")).text).toBe(failed.text);
    expect((await named(market, seeded, "next job")).body.success).toBe(true);
  });

  test("sent twenty times at once to two copies runs once, on a balance for one; all get the result", async ({
    market,
    copy,
  }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 5 });
    market.model.injectFault({ delayMs: 300 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => named(n % 2 ? copy : market, seeded, "at once")),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.body).toMatchObject({ success: true, credits_used: 5, credits_remaining: 0 });
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(19);
    const { rows } = await market.context.db.query("select from runs where account_id = $1", [seeded.buyer.id]);
    expect(rows).toHaveLength(1);
  });

  test("waits with sixty-four equal ones at most, which look at the record together", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    market.model.injectFault({ delayMs: 600_000 });
    const { db } = market.context;
    const query = vi.spyOn(db, "query");
    const looks = () =>
      query.mock.calls.filter(([asked]) => `${(asked as { name?: string }).name}`.startsWith("read named run"));
    const first = named(market, seeded, "job");
    const begun = "select from runs where account_id = $1";
    await until(async () => (await db.query(begun, [seeded.buyer.id])).rowCount === 1);
    const repeated = Array.from({ length: 70 }, () => named(market, seeded, "job"));
    let refused = 0;
    for (const answer of repeated) void answer.then(({ status }) => (refused += Number(status === 503)));
    await until(() => refused === 6);
    const before = looks().length;
    await until(() => looks().length > before);
    expect(looks().length - before).toBeLessThan(10);
    market.model.answerHeld();
    const texts = (await Promise.all(repeated)).filter(({ status }) => status === 200).map(({ text }) => text);
    expect([texts.length, new Set([...texts, (await first).text]).size]).toEqual([64, 1]);
    query.mockRestore();
  });

  test("whose answers are not read is not answered for ever with megabytes", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    const { body } = await named(market, seeded, "job");
    const output = { kind: "text", text: "x".repeat(17_500_000) };
    await market.context.db.query("update runs set output = $2 where id = $1", [body.run_id, JSON.stringify(output)]);
    const ask = async () => {
      const answer = await fetch(`${market.url}/api/v1/run`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${seeded.key}`,
          "content-type": "application/json",
          "idempotency-key": "job",
          "x-forwarded-for": "192.0.2.7",
        },
        body: JSON.stringify({ agent: seeded.agent.address, input: { text: "hello" } }),
      });
      return answer;
    };
    const unread = await ask();
    expect([unread.status, (await ask()).status]).toEqual([200, 429]);
    await unread.body?.cancel();
    await expect.poll(async () => (await ask()).status).toBe(200);
  });

  test.for([
    ["another input", { input: { text: "other" } }],
    ["another agent", { agent: "no/agent" }],
    ["another limit", { max_credits: 50 }],
  ] as const)("is a 409 with %s", async ([_name, change], { market, copy }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    await named(market, seeded, "job");
    expect(await named(copy, seeded, "job", change)).toMatchObject({
      status: 409,
      body: { error: expect.any(String) },
    });
    expect(await spendable(market.context, seeded.buyer)).toBe(15);
  });

  test("is the same in whatever order and case it is written", async ({ market }) => {
    const fields = ["a", "b"].map((name) => ({ name, type: "text" }));
    const seeded = await seedMarket(market.context, { agent: { fields, settings: { prompt: "{{a}} {{b}}" } } });
    const first = await named(market, seeded, "job", { input: { a: "1", b: "2" } });
    const change = { agent: seeded.agent.address.toUpperCase(), input: { b: "2", a: "1" } };
    expect((await named(market, seeded, "job", change)).text).toBe(first.text);
  });

  test("that was refused leaves no trace", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 0 });
    expect((await named(market, seeded, "job")).status).toBe(402);
    expect((await named(market, seeded, "job", { input: {} })).status).toBe(400);
    const rich = await seedMarket(market.context, { balance: 20 });
    expect((await named(market, { ...rich, agent: seeded.agent }, "job")).body.success).toBe(true);
  });

  test("belongs to its account: another's request of the same name is another", async ({ market }) => {
    const [one, other] = [await seedMarket(market.context), await seedMarket(market.context)];
    const [a, b] = [await named(market, one, "job"), await named(market, other, "job")];
    expect(b.body).toMatchObject({ success: true });
    expect(b.body.run_id).not.toBe(a.body.run_id);
  });

  test.for([["é"], ["x".repeat(256)]] as const)("is a 400 when its name is %s", async ([name], { market }) => {
    const seeded = await seedMarket(market.context);
    const header = Buffer.from(name).toString("latin1");
    expect(await named(market, seeded, header)).toMatchObject({ status: 400, body: { field: "Idempotency-Key" } });
  });
});

describe("max_credits", () => {
  test("refuses a run that costs more with 402, and lets one pass that costs as much", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    const body = (max_credits: unknown) => ({ agent: seeded.agent.address, input: { text: "x" }, max_credits });
    const post = (max: unknown) => call(market.url, "/api/v1/run", { key: seeded.key, body: body(max) });
    expect(await post(4)).toMatchObject({
      status: 402,
      body: { credits_required: 5, credits_remaining: 20, limit_source: "request" },
    });
    expect((await post(1)).body.error).toBe("The run costs more than 1 credit.");
    expect((await post(5)).body).toMatchObject({ success: true, credits_used: 5 });
    for (const wrong of [-1, 1.5, "5"]) expect((await post(wrong)).status).toBe(400);
  });
});

describe("a key's daily cap", () => {
  const cappedKey = async (market: TestMarketplace, seeded: Market, maxCreditsPerDay: number) =>
    (
      await createKey(market.context.db, {
        accountId: seeded.buyer.id,
        name: "capped",
        rateLimitPerMinute: 1000,
        maxCreditsPerDay,
      })
    ).token;
  const post = (on: TestMarketplace, key: string, { agent }: Market) =>
    call(on.url, "/api/v1/run", { key, body: { agent: agent.address, input: { text: "x" } } });

  test("holds exactly over two copies at once, is that key's alone, and says so", async ({ market, copy }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 100 });
    const key = await cappedKey(market, seeded, 19);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post(n % 2 ? copy : market, key, seeded)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    for (const { body } of answers.filter(({ status }) => status === 402)) {
      expect(body).toMatchObject({ credits_required: 5, limit_source: "key", credits_remaining: expect.any(Number) });
    }
    expect(await spendable(market.context, seeded.buyer)).toBe(85);
    expect((await post(market, seeded.key, seeded)).status).toBe(200);
    expect((await balanceOf(market, key)).key.max_credits_per_day).toBe(19);
  });

  test("counts what was charged, not what failed, and begins anew each day", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 100 });
    const key = await cappedKey(market, seeded, 5);
    market.model.injectFault({ status: 500 });
    expect((await post(market, key, seeded)).body).toMatchObject({ success: false, credits_used: 0 });
    expect((await post(market, key, seeded)).body).toMatchObject({ success: true });
    expect((await post(market, key, seeded)).status).toBe(402);
    await market.context.db.query("update runs set created_at = created_at - interval '1 day' where account_id = $1", [
      seeded.buyer.id,
    ]);
    await market.context.db.query(
      "update key_days set day = day - 1 where key_id in (select id from api_keys where account_id = $1)",
      [seeded.buyer.id],
    );
    expect((await post(market, key, seeded)).body).toMatchObject({ success: true });
  });

  test("of zero lets free agents run and nothing else", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 0, balance: 100 });
    const priced = await seedMarket(market.context, { price: 1 });
    const key = await cappedKey(market, seeded, 0);
    expect((await post(market, key, seeded)).status).toBe(200);
    expect((await post(market, key, priced)).status).toBe(402);
  });
});

describe("GET /api/v1/runs", () => {
  test("pages through the account's own runs, newest first, without a gap or a repetition", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 1, balance: 100 });
    const other = await seedMarket(market.context);
    await named(market, other, "not mine");
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift((await named(market, seeded, `job ${n}`)).body.run_id);
    // Runs that share a moment are told apart by their ids.
    await market.context.db.query(
      "update runs set created_at = (select max(created_at) from runs) where account_id = $1",
      [seeded.buyer.id],
    );
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page = await call(market.url, `/api/v1/runs?limit=2&cursor=${cursor}`, { key: seeded.key });
      expect(page.status).toBe(200);
      seen.push(...page.body.runs.map(({ run_id }: { run_id: string }) => run_id));
      cursor = page.body.cursor;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect(new Set(seen).size).toBe(5);
  });

  test("says how each ended and what it cost; one of them, also what it answered", async ({ market }) => {
    const seeded = await seedMarket(market.context, { price: 5, balance: 20 });
    const worked = (await named(market, seeded, "works")).body;
    market.model.injectFault({ status: 500 });
    const failed = (await named(market, seeded, "fails")).body;
    market.model.clearFaults();
    market.model.injectFault({ delayMs: 600_000 });
    const before = market.model.asked();
    const running = named(market, seeded, "runs");
    const list = async () => (await call(market.url, "/api/v1/runs", { key: seeded.key })).body.runs;
    await until(async () => (await list()).length === 3);
    expect(await list()).toMatchObject([
      { state: "running", success: null, credits_used: 0, finished_at: null },
      { run_id: failed.run_id, state: "failed", success: false, credits_used: 0, error: failed.error },
      { run_id: worked.run_id, state: "succeeded", success: true, credits_used: 5, agent: seeded.agent.address },
    ]);
    await until(() => market.model.asked() > before);
    market.model.answerHeld();
    await running;
    const { body } = await call(market.url, `/api/v1/runs/${worked.run_id}`, { key: seeded.key });
    expect(body).toEqual({
      run_id: worked.run_id,
      agent: seeded.agent.address,
      state: "succeeded",
      success: true,
      output: worked.output,
      receipt: null,
      credits_used: 5,
      credits_remaining: 15,
      created_at: expect.any(String),
      finished_at: expect.any(String),
    });
  });

  test("another account's run, and one that is 30 days old, is the same 404 as none", async ({ market }) => {
    const [mine, theirs] = [await seedMarket(market.context), await seedMarket(market.context)];
    const { run_id } = (await named(market, mine, "job")).body;
    const read = (key: string, id: string) => call(market.url, `/api/v1/runs/${id}`, { key });
    const none = await read(mine.key, "run_00000000000000000000000000");
    expect(none.status).toBe(404);
    expect(await read(theirs.key, run_id)).toMatchObject({ status: 404, text: none.text });
    for (const id of ["nothing", "%00", "run_%27"]) expect((await read(mine.key, id)).status).toBe(404);
    await market.context.db.query(
      "update runs set created_at = created_at - interval '30 days', finished_at = finished_at - interval '30 days' where id = $1",
      [run_id],
    );
    expect((await read(mine.key, run_id)).status).toBe(404);
    await deleteOldRuns(market.context);
    expect((await call(market.url, "/api/v1/runs", { key: mine.key })).body.runs).toEqual([]);
  });

  test.for(["cursor=nonsense", "cursor=MS4n", "limit=0", "limit=101"] as const)(
    "%s is a 400 naming it",
    async (query, { market }) => {
      const { key } = await seedMarket(market.context);
      const { status, body } = await call(market.url, `/api/v1/runs?${query}`, { key });
      expect({ status, field: body.field }).toEqual({ status: 400, field: query.split("=")[0] });
    },
  );
});
