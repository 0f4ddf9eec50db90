import { beforeEach, describe, expect, vi } from "vitest";
import type { MockModels } from "../../infra/mock-models/server.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { credits } from "../../marketplace/credits/amount.ts";
import { grant } from "../../marketplace/credits/ledger.ts";
import { newId } from "../../marketplace/ids.ts";
import { setModelBudget } from "../../marketplace/models/budget.ts";
import { type ModelBuyer, settleModelDays } from "../../marketplace/models/model-claims.ts";
import type { ModelUser } from "../../marketplace/models/version-model.ts";
import { inTransaction } from "../../shared/postgres.ts";
import { startCutProxy } from "../support/cut-proxy.ts";
import { marketTest } from "../support/fixtures.ts";
import {
  type Answer,
  balanceOf,
  call,
  echoAgent,
  type Market,
  proveLedger,
  run,
  seedMarket,
  spendable,
  startMarketplace,
  type TestMarketplace,
  until,
} from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";

const env = {
  LLM_MODELS: "small=1:500:2000,large=4:500:2000,huge=10:500:2000",
  IMAGES_MODELS: "painter=2:4:1000",
  PLATFORM_FEE_BASIS_POINTS: "1000",
  MODEL_CREDITS_LENT_MAX: "10",
  LIMIT_MODEL_FAILURES_PER_HOUR: "100",
  LIMIT_FREE_CALLS_PER_ADDRESS: "0",
  LIMIT_FREE_CALLS_PER_AGENT: "0",
};

const test = marketTest({ env });
let copy: TestMarketplace;
let model: MockModels;
test.beforeAll(({ market, copy: started }) => {
  [model, copy] = [market.model, started];
});
beforeEach(() => model.clearFaults());

/** A creator with so many credits and one agent. */
async function creator(market: TestMarketplace, has: number, price: number, agent: object = {}): Promise<Market> {
  const seeded = await seedMarket(market.context, { price, balance: 1_000, agent });
  if (has > 0) await grant(market.context.db, { accountId: seeded.creator.id, credits: credits(BigInt(has)) });
  return seeded;
}

const anonymously = (market: TestMarketplace, agent: string, n = 0, url = n % 2 ? copy.url : market.url) =>
  call(url, `/api/agent/${agent}`, { body: { text: `hello ${n}` } });

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

const count = (answers: readonly Answer[], status: number) => answers.filter((one) => one.status === status).length;

/** What the creator has left, once all that lies idle has been given back; the ledger holds all the while. */
async function leftOf(market: TestMarketplace, seeded: Market): Promise<number> {
  await Promise.all([market.context.backgroundWork.idle(), copy.context.backgroundWork.idle()]);
  await proveLedger(market.context);
  await market.context.db.query("update model_days set touched_at = now() - interval '1 hour'");
  await settleModelDays(market.context.db);
  await proveLedger(market.context);
  return spendable(market.context, seeded.creator);
}

async function earnedBy(market: TestMarketplace, seeded: Market): Promise<number> {
  const { rows } = await market.context.db.query(
    "select coalesce(sum(amount), 0)::integer as earned from postings where to_purse = $1",
    [`earned:${seeded.creator.id}`],
  );
  return rows[0].earned;
}

function refusedFor(answers: readonly Answer[]): void {
  for (const { status, headers, body } of answers.filter((one) => one.status !== 200)) {
    expect(status).toBe(503);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(body).toEqual({ error: expect.any(String) });
  }
}

describe("a free agent", () => {
  test("of a creator without credits runs for none of 150 strangers", async ({ market }) => {
    const seeded = await creator(market, 0, 0);
    const asked = model.asked();
    const answers = await times(150, (n) => anonymously(market, seeded.agent.address, n));
    expect(count(answers, 503)).toBe(150);
    refusedFor(answers);
    expect(model.asked()).toBe(asked);
    // By key and as a tool it is the same agent.
    expect((await run(market, seeded.key, seeded.agent.address)).status).toBe(503);
  });

  test("of many agents of two creators claims models over two copies at once, and no claim waits for one that waits for it", async ({
    market,
  }) => {
    const creators = await Promise.all([creator(market, 100_000, 0), creator(market, 100_000, 0)]);
    const agents: string[] = [];
    for (const { creator: owner } of creators) {
      for (const slug of ["one", "two", "three", "four"]) {
        agents.push((await publishAgent(market.context, owner, slug, { ...echoAgent, price_credits: 0 })).agentId);
      }
    }
    // As claimAll asks it, but for the second try of a statement that the database ended.
    const claim = ({ context }: TestMarketplace, n: number) => {
      const asked = [...new Set([agents[n % 8]!, agents[(n * 5 + 3) % 8]!, agents[(n * 3 + 1) % 8]!])].toSorted();
      const each = <T>(value: T) => asked.map(() => value);
      return context.db.query("select claim_models($1, $2, $3, $4, 1000000, 100, 0, 1000000, $5, $5, 0) as outcome", [
        asked.map((agent) => `${agent}-${n}`),
        asked,
        each(60),
        each(false),
        each(null),
      ]);
    };
    const answers = await times(600, (n) => claim(n % 2 ? copy : market, n));
    expect(answers.flatMap(({ rows }) => rows.filter(({ outcome }) => outcome !== "ok"))).toEqual([]);
    await proveLedger(market.context);
  });

  test("runs as often as its creator's credits pay for, over two copies at once", async ({ market }) => {
    const seeded = await creator(market, 30, 0);
    const answers = await times(150, (n) => anonymously(market, seeded.agent.address, n));
    expect(count(answers, 200)).toBe(30);
    refusedFor(answers);
    expect(await leftOf(market, seeded)).toBe(0);
  });

  test("runs as often as its day's budget pays for, and leaves the rest to the creator's other agents", async ({
    market,
  }) => {
    const seeded = await creator(market, 100, 0, { settings: { prompt: "{{text}}", model: "large" } });
    await setModelBudget(market.context.db, seeded.agent.agentId, 43);
    const answers = await times(60, (n) => anonymously(market, seeded.agent.address, n));
    expect(count(answers, 200)).toBe(10);
    refusedFor(answers);
    expect(await leftOf(market, seeded)).toBe(60);
    await setModelBudget(market.context.db, seeded.agent.agentId, 48);
    expect(count(await times(10, (n) => anonymously(market, seeded.agent.address, n)), 200)).toBe(2);
    expect(await leftOf(market, seeded)).toBe(52);
  });

  test("stops at a day's budget that is lowered, whatever is set aside for it already", async ({ market }) => {
    const seeded = await creator(market, 500, 0);
    const { agentId, address } = seeded.agent;
    expect((await anonymously(market, address)).status).toBe(200);
    const sold = await creator(market, 500, 10);
    expect((await run(market, sold.key, sold.agent.address)).status).toBe(200);
    await setModelBudget(market.context.db, agentId, 3);
    await setModelBudget(market.context.db, sold.agent.agentId, 0);
    const answers = await times(20, (n) => anonymously(market, address, n));
    expect(count(answers, 200)).toBe(2);
    refusedFor(answers);
    expect((await run(market, sold.key, sold.agent.address)).status).toBe(503);
    await setModelBudget(market.context.db, agentId, 4);
    expect(count(await times(5, (n) => anonymously(market, address, n)), 200)).toBe(1);
    expect(await leftOf(market, seeded)).toBe(496);
  });

  test("costs nothing for calls that the model refused or that never reached it, and for those it answered", async ({
    market,
  }) => {
    const seeded = await creator(market, 10, 0);
    for (const fault of [{ status: 429 }, { status: 500 }, { status: 400 }]) model.injectFault(fault);
    for (const n of [1, 2, 3]) expect((await anonymously(market, seeded.agent.address, n)).status).toBe(500);
    expect(await leftOf(market, seeded)).toBe(10);
    // Answered, although nothing can be done with it; cut off on the way.
    for (const fault of [{ truncate: true }, { refuse: true }, { garbled: true }, { hangUp: true }]) {
      model.injectFault(fault);
      expect((await anonymously(market, seeded.agent.address)).status).toBe(500);
    }
    expect(await leftOf(market, seeded)).toBe(6);
    const unreachable = await startMarketplace({
      databaseUrl: market.databaseUrl,
      model,
      env: { ...env, LLM_BASE_URL: "http://127.0.0.1:1" },
    });
    expect((await anonymously(market, seeded.agent.address, 0, unreachable.url)).status).toBe(500);
    await unreachable.stop();
    expect(await leftOf(market, seeded)).toBe(6);
  });

  test("that draws costs each picture", async ({ market }) => {
    const seeded = await creator(market, 9, 0, {
      connector: "image-generator",
      settings: { prompt: "{{text}}", count: 2 },
    });
    const answers = await times(4, (n) => anonymously(market, seeded.agent.address, n));
    expect(count(answers, 200)).toBe(2);
    expect(await leftOf(market, seeded)).toBe(1);
  });
});

describe("a run paid with credits", () => {
  test("pays for its model out of the price, and its creator needs no credits for that", async ({ market }) => {
    const seeded = await creator(market, 0, 10, { settings: { prompt: "{{text}}", model: "large" } });
    const answers = await times(8, (n) => run(n % 2 ? copy : market, seeded.key, seeded.agent.address));
    const worked = count(answers, 200);
    // What is lent to a creator without credits bounds how many run at once.
    expect(worked).toBeGreaterThanOrEqual(2);
    refusedFor(answers);
    expect(await earnedBy(market, seeded)).toBe(worked * (10 - 1 - 4));
    expect(await leftOf(market, seeded)).toBe(0);
    const { rows } = await market.context.db.query("select owed from model_debts where account_id = $1", [
      seeded.creator.id,
    ]);
    expect(Number(rows[0].owed)).toBe(0);
  });

  test("takes what the price does not cover, once the platform has its fee, from the creator's balance", async ({
    market,
  }) => {
    const seeded = await creator(market, 3, 10, { settings: { prompt: "{{text}}", model: "huge" } });
    const once = () => run(market, seeded.key, seeded.agent.address);
    expect((await once()).status).toBe(503);
    await grant(market.context.db, { accountId: seeded.creator.id, credits: credits(9n) });
    expect((await once()).body).toMatchObject({ success: true, credits_used: 10 });
    expect(await earnedBy(market, seeded)).toBe(0);
    expect(await leftOf(market, seeded)).toBe(11);
  });

  test("by its own creator leaves what the price takes, as far as the balance has both", async ({ market }) => {
    const seeded = await creator(market, 100, 90);
    const own = await createKey(market.context.db, { accountId: seeded.creator.id, name: "own" });
    const answer = await run(market, own.token, seeded.agent.address);
    expect(answer).toMatchObject({ status: 200, body: { success: true, credits_used: 90 } });
    expect(await leftOf(market, seeded)).toBe(10);
    expect(await earnedBy(market, seeded)).toBe(90 - 9 - 1);
  });

  test("that fails after the model answered is refunded, and its creator bears the model", async ({ market }) => {
    const seeded = await creator(market, 5, 10);
    model.injectFault({ truncate: true });
    expect((await run(market, seeded.key, seeded.agent.address)).body).toMatchObject({ success: false });
    expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 1_000, held_credits: 0 });
    expect(await leftOf(market, seeded)).toBe(4);
    model.injectFault({ status: 500 });
    expect((await run(market, seeded.key, seeded.agent.address)).body).toMatchObject({ success: false });
    expect(await leftOf(market, seeded)).toBe(4);
  });

  test("that always fails can be run for nothing only as far as the platform lends, and the debt is paid first", async ({
    market,
  }) => {
    const seeded = await creator(market, 0, 10);
    model.injectFault({ truncate: true, times: 1_000 });
    const answers = await times(60, (n) => run(n % 2 ? copy : market, seeded.key, seeded.agent.address));
    expect(count(answers, 200)).toBe(10);
    refusedFor(answers);
    expect(await leftOf(market, seeded)).toBe(0);
    expect((await run(market, seeded.key, seeded.agent.address)).status).toBe(503);
    model.clearFaults();
    await grant(market.context.db, { accountId: seeded.creator.id, credits: credits(25n) });
    expect((await run(market, seeded.key, seeded.agent.address)).body.success).toBe(true);
    expect(await leftOf(market, seeded)).toBe(15);
  });

  test("a buyer who cannot pay is refused with 402 and claims nothing, however many runs are asked for at once", async ({
    market,
  }) => {
    const seeded = await creator(market, 5, 10);
    const poor = await seedMarket(market.context, { balance: 9 });
    const capped = (cap: object) =>
      createKey(market.context.db, { accountId: seeded.buyer.id, name: "capped", rateLimitPerMinute: 10_000, ...cap });
    const [byDay, byMonth] = [await capped({ maxCreditsPerDay: 9 }), await capped({ maxCreditsPerMonth: 9 })];
    for (const key of [poor.key, byDay.token, byMonth.token]) {
      const answers = await times(40, (n) => run(n % 2 ? copy : market, key, seeded.agent.address));
      expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(402));
    }
    // Not for a moment: so none of them kept a buyer who can pay from running.
    const { rows } = await market.context.db.query("select from model_days where agent_id = $1", [
      seeded.agent.agentId,
    ]);
    expect(rows).toHaveLength(0);
    expect(await leftOf(market, seeded)).toBe(5);
  });
});

describe("what nobody pays for", () => {
  const bounded = async (
    market: TestMarketplace,
    more: Record<string, string>,
    work: (copies: TestMarketplace[]) => Promise<void>,
  ) => {
    const start = () =>
      startMarketplace({
        databaseUrl: market.databaseUrl,
        model,
        env: { ...env, MODEL_CREDITS_LENT_MAX: "100", ...more },
      });
    const copies = await Promise.all([start(), start()]);
    await work(copies).finally(() => Promise.all(copies.map((one) => one.stop())));
  };

  test("a buyer's runs that fail at the creator's cost are few in an hour, over all copies; others' runs go on", ({
    market,
  }) =>
    bounded(market, { LIMIT_MODEL_FAILURES_PER_HOUR: "3" }, async ([here, there]) => {
      const seeded = await creator(market, 500, 10);
      const other = await seedMarket(market.context, { balance: 100 });
      model.injectFault({ truncate: true, times: 3 });
      for (const one of [here!, there!, here!]) {
        expect((await run(one, seeded.key, seeded.agent.address)).body).toMatchObject({ success: false });
      }
      const asked = model.asked();
      for (const one of [here!, there!]) {
        const refused = await run(one, seeded.key, seeded.agent.address);
        expect(refused.status).toBe(429);
        expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      expect(model.asked()).toBe(asked);
      expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 1_000, held_credits: 0 });
      expect((await run(here!, other.key, seeded.agent.address)).body.success).toBe(true);
      expect((await run(here!, seeded.key, other.agent.address)).status).not.toBe(429);
      await market.context.db.query("update model_failures set since = since - interval '61 minutes'");
      expect((await run(there!, seeded.key, seeded.agent.address)).body.success).toBe(true);
      expect(await leftOf(market, seeded)).toBe(497);
    }));

  test("what the model refused counts against no buyer", ({ market }) =>
    bounded(market, { LIMIT_MODEL_FAILURES_PER_HOUR: "2" }, async ([here]) => {
      const seeded = await creator(market, 50, 10);
      model.injectFault({ status: 500, times: 4 });
      for (let n = 0; n < 4; n += 1) expect((await run(here!, seeded.key, seeded.agent.address)).status).toBe(200);
      expect((await run(here!, seeded.key, seeded.agent.address)).body.success).toBe(true);
    }));

  test("a burst of them costs the creator no more than eight for each that may fail", ({ market }) =>
    bounded(market, { LIMIT_MODEL_FAILURES_PER_HOUR: "2" }, async (copies) => {
      const seeded = await creator(market, 500, 10);
      model.injectFault({ truncate: true, delayMs: 500, times: 80 });
      const answers = await times(80, (n) => run(copies[n % 2]!, seeded.key, seeded.agent.address));
      model.clearFaults();
      expect(count(answers, 200) + count(answers, 429)).toBe(80);
      expect(count(answers, 200)).toBeGreaterThan(0);
      expect(500 - (await leftOf(market, seeded))).toBeLessThanOrEqual(16);
    }));

  test("nor does a burst of drawings that are paid for after they were made cost the platform more", ({ market }) =>
    bounded(market, { LIMIT_MODEL_FAILURES_PER_HOUR: "2" }, async ([here]) => {
      const { modelFunds } = here!.context;
      const { agent } = await creator(market, 0, 10);
      const drawing = { id: agent.agentId, isAtPlatformsCost: true } as ModelUser;
      const buyer = { id: "0xbuyer", address: "192.0.2.7" };
      const begin = (by: ModelBuyer) => modelFunds.charge(drawing, newId("run"), { buyer: by });
      const begun = await Promise.allSettled(Array.from({ length: 20 }, () => begin(buyer)));
      const charges = begun.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(charges).toHaveLength(16);
      const refusal = { code: "rate_limited", headers: { "retry-after": "3" } };
      await expect(begin({ id: "0xanother", address: buyer.address })).rejects.toMatchObject(refusal);
      await begin({ id: "0xanother", address: "192.0.2.8" });
      await modelFunds.noteUnpaid(newId("run"), drawing, buyer);
      await modelFunds.end(newId("run"), charges[0]);
      await expect(begin(buyer)).rejects.toMatchObject(refusal);
      for (const charge of charges.slice(1, 9)) await modelFunds.end(newId("run"), charge);
      await begin(buyer);
    }));

  test("what is lent to all creators together is bound by the day, to the credit, over all copies", async ({
    market,
  }) => {
    const { rows } = await market.context.db.query("select coalesce(sum(lent), 0)::integer as lent from model_days");
    const before = rows[0].lent;
    await bounded(market, { MODEL_CREDITS_LENT_PER_DAY: String(before + 7) }, async (copies) => {
      const poor = await times(12, () => creator(market, 0, 10));
      model.injectFault({ truncate: true, times: 1_000 });
      const answers = await times(60, (n) => run(copies[n % 2]!, poor[n % 12]!.key, poor[n % 12]!.agent.address));
      model.clearFaults();
      expect(count(answers, 200)).toBe(7);
      refusedFor(answers);
      await Promise.all(copies.map((one) => one.context.backgroundWork.idle()));
      const { rows: debts } = await market.context.db.query(
        "select sum(owed)::integer as owed from model_debts where account_id = any($1)",
        [poor.map((one) => one.creator.id)],
      );
      expect(debts[0].owed).toBe(7);
      await proveLedger(market.context);
      // Creators with credits of their own borrow nothing.
      const seeded = await creator(market, 20, 10);
      expect((await run(copies[0]!, seeded.key, seeded.agent.address)).body.success).toBe(true);
    });
  });
});

test("an equal request that finds the last of the budget taken waits for the one that took it", async ({ market }) => {
  const seeded = await creator(market, 0, 5);
  await setModelBudget(market.context.db, seeded.agent.agentId, 1);
  const body = { agent: seeded.agent.address, input: { text: "once" } };
  const ask = (url: string) =>
    call(url, "/api/v1/run", { key: seeded.key, body, headers: { "idempotency-key": "same" } });
  const isClaimed = async () => {
    const { rows } = await market.context.db.query("select from model_claims where agent_id = $1", [
      seeded.agent.agentId,
    ]);
    return rows.length === 1;
  };
  const asked = await inTransaction(market.context.db, async (tx) => {
    await tx.query("set local idle_in_transaction_session_timeout = 0");
    await tx.query("select from balances where account_id = $1 for update", [seeded.buyer.id]);
    const first = ask(market.url);
    await until(isClaimed);
    const looks = vi.spyOn(copy.context.modelFunds, "isClaiming");
    const second = ask(copy.url);
    // The second has been refused, found the first about to start, and looks again.
    await until(() => looks.mock.calls.length > 1);
    looks.mockRestore();
    return [first, second];
  });
  const [first, second] = await Promise.all(asked);
  expect([first!.status, first!.body.success]).toEqual([200, true]);
  expect([second!.status, second!.text]).toEqual([200, first!.text]);
  expect((await balanceOf(market, seeded.key)).credits).toBe(995);
});

test("a copy killed in the middle of its runs leaves books that agree, and what it had begun is borne once", async ({
  market,
}) => {
  const free = await creator(market, 50, 0);
  const sold = await creator(market, 50, 10);
  const doomed = await startProcess(market.environment);
  model.injectFault({ delayMs: 600_000, times: 10 });
  const lost = Promise.allSettled([
    ...Array.from({ length: 5 }, (_, n) => anonymously(market, free.agent.address, n, doomed.url)),
    ...Array.from({ length: 5 }, () => run({ ...market, url: doomed.url }, sold.key, sold.agent.address)),
  ]);
  const claims = async () =>
    (await market.context.db.query("select count(*)::integer as open from model_claims where not borne")).rows[0].open;
  const before = model.asked();
  await until(() => model.asked() - before >= 0 && claims().then((open) => open >= 10));
  await until(async () => (await balanceOf(market, sold.key)).held_credits === 50);
  doomed.child.kill("SIGKILL");
  await lost;
  await proveLedger(market.context);
  model.clearFaults();
  await market.context.db.query("update runs set lease_until = now() - interval '1 second' where state = 'running'");
  await until(async () => (await balanceOf(market, sold.key)).credits === 1_000);
  expect((await anonymously(market, free.agent.address)).status).toBe(200);
  expect((await run(market, sold.key, sold.agent.address)).body.success).toBe(true);
  expect(await leftOf(market, sold)).toBe(45);
  // Runs that no buyer's credits are held for are counted out once no process can be running them any more.
  await market.context.db.query("update model_claims set claimed_at = claimed_at - interval '1 hour'");
  expect(await leftOf(market, free)).toBe(44);
});

/** A copy whose connections to the database can be cut. */
async function startFar(market: TestMarketplace, options: { readonly jobs?: false }) {
  const proxy = await startCutProxy(market.databaseUrl);
  const { host } = new URL(proxy.url);
  const databaseUrl = Object.assign(new URL(market.databaseUrl), { host }).href;
  return { proxy, far: await startMarketplace({ databaseUrl, model, env, ...options }) };
}

test("a claim that is written after its connection was lost costs the creator nothing, once it is ended again", async ({
  market,
}) => {
  const { db } = market.context;
  const { far, proxy } = await startFar(market, { jobs: false });
  try {
    const seeded = await creator(market, 10, 10);
    const { agentId, address } = seeded.agent;
    expect((await run(market, seeded.key, address)).status).toBe(200);
    await market.context.backgroundWork.idle();
    const left = await leftOf(market, seeded);
    const claims = async () => (await db.query("select from model_claims where agent_id = $1", [agentId])).rowCount;
    await inTransaction(db, async (tx) => {
      await tx.query("select from model_days where agent_id = $1 for update", [agentId]);
      const asked = run(far, seeded.key, address);
      const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      await expect.poll(async () => (await db.query(waiting)).rowCount).toBeGreaterThan(0);
      proxy.cut();
      expect((await asked).status).toBe(503);
    });
    // PostgreSQL does not look at a connection while a statement waits: the lock is free now, and the claim is written.
    await expect.poll(claims).toBe(1);
    await far.context.modelFunds.endLeft();
    expect(await claims()).toBe(0);
    expect(await leftOf(market, seeded)).toBe(left);
  } finally {
    await far.stop();
    await proxy.stop();
  }
});

test("a claim whose answer was lost on its way from the database costs the creator nothing, on either rail", async ({
  market,
}) => {
  const { db } = market.context;
  const { far, proxy } = await startFar(market, { jobs: false });
  // The answer to a claim is the one with a column of this name and "ok": once it comes, the claim is committed.
  let lost = 0;
  const loseNextAnswer = () => {
    const before = lost;
    proxy.behave((bytes) => {
      if (lost > before || !(bytes.includes("outcome\0") && bytes.includes("\x02ok"))) return "pass";
      lost += 1;
      return "cut";
    });
  };
  try {
    for (const price of [0, 10]) {
      const seeded = await creator(market, 10, price);
      const claimed = async () => {
        const { rows } = await db.query("select from model_claims where agent_id = $1", [seeded.agent.agentId]);
        return rows.length;
      };
      const ask = () =>
        price === 0
          ? anonymously(market, seeded.agent.address, 0, far.url)
          : run(far, seeded.key, seeded.agent.address);
      loseNextAnswer();
      const refused = await ask();
      expect({ price, lost, status: refused.status, text: refused.text }).toMatchObject({ status: 503 });
      expect([await claimed(), await balanceOf(market, seeded.key)]).toMatchObject([0, { credits: 1_000 }]);
      await db.query("update model_claims set claimed_at = claimed_at - interval '1 hour'");
      expect(await leftOf(market, seeded)).toBe(10);
      expect((await ask()).status).toBe(200);
    }
    expect(lost).toBe(2);
  } finally {
    await far.stop();
    await proxy.stop();
  }
});

test("what a model did while the database was away is borne or not as it was, though another copy ends the run meanwhile", async ({
  market,
}) => {
  const { db } = market.context;
  const { far, proxy } = await startFar(market, {});
  const notEnded = () => far.lines.filter((line) => line.includes("could not be ended")).length;
  try {
    for (const [price, fault, left] of [
      [10, { status: 500 }, 10],
      [10, { truncate: true }, 9],
      [0, { status: 500 }, 10],
      [0, { truncate: true }, 9],
    ] as const) {
      const seeded = await creator(market, 10, price);
      const { address, agentId } = seeded.agent;
      const before = model.asked();
      model.injectFault({ ...fault, delayMs: 600_000 });
      const asked = price === 0 ? anonymously(market, address, 0, far.url) : run(far, seeded.key, address);
      await until(() => model.asked() > before);
      proxy.behave(() => "cut");
      proxy.cut();
      const said = notEnded();
      model.answerHeld();
      await until(() => notEnded() > said);
      await db.query("update runs set lease_until = now() - interval '1 s' where agent_id = $1", [agentId]);
      await until(async () => {
        const { rows } = await db.query("select from runs where agent_id = $1 and state = 'lost'", [agentId]);
        return rows.length === 1;
      });
      expect(await balanceOf(market, seeded.key)).toMatchObject({ credits: 1_000, held_credits: 0 });
      proxy.behave(() => "pass");
      await asked;
      const open = "select from model_claims where agent_id = $1 and not borne";
      await until(async () => (await db.query(open, [agentId])).rows.length === 0);
      expect({ price, fault, left: await leftOf(market, seeded) }).toEqual({ price, fault, left });
    }
  } finally {
    await far.stop();
    await proxy.stop();
  }
});

test("a day that is over is closed: what was borne is spent, the rest is back", async ({ market }) => {
  const seeded = await creator(market, 40, 0);
  await times(7, (n) => anonymously(market, seeded.agent.address, n));
  await Promise.all([market.context.backgroundWork.idle(), copy.context.backgroundWork.idle()]);
  const before = await proveLedger(market.context);
  // At once: the services settle days, too.
  await market.context.db.query("update model_days set day = day - 2; update model_claims set day = day - 2");
  await Promise.all([settleModelDays(market.context.db), settleModelDays(copy.context.db)]);
  const open = "select count(*)::integer as open from model_days where not closed";
  await until(async () => (await market.context.db.query(open)).rows[0].open === 0);
  const after = await proveLedger(market.context);
  expect(after.set_aside_for_models).toBe(0n);
  expect(after.models - before.models).toBeGreaterThanOrEqual(7n);
  expect(await spendable(market.context, seeded.creator)).toBe(33);
});
