import { Client } from "pg";
import { expect } from "vitest";
import { elapse } from "../support/elapse.ts";
import { paidTest } from "../support/fixtures.ts";
import { usdcOf } from "../support/hedera-payments.ts";
import { until } from "../support/marketplace.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { part, perFile } from "../support/part.ts";
import { type PaidAnswer, payQuote, post as postTo } from "../support/pay-call.ts";

const price = 50_000;

const test = paidTest()
  .extend(
    "postgres",
    perFile,
    part(() => startOwnPostgres({ durable: true })),
  )
  .extend("options", perFile, async ({ postgres }) => ({
    databaseUrl: await postgres.createDatabase("marketplace"),
    env: { RUN_LEASE_MS: "2000" },
  }));

let postgres: OwnPostgres;
let paid: PaidMarket;
test.beforeAll(({ postgres: own, paid: started }) => {
  [postgres, paid] = [own, started];
});

const post = (proof?: object) => postTo(paid.url, { body: { text: "hello" }, ...(proof && { proof }) });
const wallet = () => usdcOf(paid.ledger, paid.ledger.accounts.creator.accountId);

/** What the buyer gets in the end, who comes back with the same payment as long as the answer is "not known yet". */
async function insist(proof: object, first: PaidAnswer): Promise<PaidAnswer> {
  for (let answer = first; ; answer = await post(proof)) {
    if (answer.status < 500) return answer;
    expect(answer.status).toBe(503);
    await elapse(100, "until the buyer asks again");
  }
}

async function expectPaidOnce(proof: object, before: number): Promise<void> {
  await expect.poll(wallet).toBe(before + price);
  expect(await post(proof)).toMatchObject({
    status: 402,
    body: { error: expect.stringContaining("already_settled") },
  });
  const { rows } = await paid.marketplace.context.db.query(
    "select output is not null as done, transaction_id is not null as settled, delivered_at is not null as delivered from paid_calls",
  );
  expect(rows.every(({ done, settled, delivered }) => done && settled && delivered)).toBe(true);
  expect(await wallet()).toBe(before + price);
}

test.each([0, 150, 600])(
  "a database that crashes %i ms into a run forgets no money: one result, one charge",
  async (intoMs) => {
    const { model } = paid.marketplace;
    const proof = await payQuote(paid, "hedera", await post());
    const before = await wallet();
    const asked = model.asked();
    model.injectFault({ delayMs: 1_200 });
    const first = post(proof);
    await until(() => model.asked() > asked);
    await elapse(intoMs, "how far into the run the database crashes");
    await postgres.crash();
    expect(await insist(proof, await first)).toMatchObject({ status: 200, body: { success: true } });
    await expectPaidOnce(proof, before);
  },
);

test("a database that crashes while the payment is settled has the result still: no second run, one charge", async () => {
  const { model } = paid.marketplace;
  const proof = await payQuote(paid, "hedera", await post());
  const before = await wallet();
  const asked = model.asked();
  let crashed: Promise<void> | undefined;
  paid.toFacilitator.behave((path) => {
    if (path !== "/settle") return "pass";
    crashed ??= postgres.crash();
    return "lose-answer";
  });
  const first = await post(proof);
  paid.toFacilitator.behave(() => "pass");
  await crashed;
  expect(first.status).toBe(503);
  expect(await insist(proof, first)).toMatchObject({ status: 200, body: { success: true } });
  expect(model.asked()).toBe(asked + 1);
  await expectPaidOnce(proof, before);
});

test("a database that crashes right after a result was handed out charges nothing and runs nothing for it again", async () => {
  const { model } = paid.marketplace;
  const proof = await payQuote(paid, "hedera", await post());
  const before = await wallet();
  const asked = model.asked();
  const first = await post(proof);
  await postgres.crash();
  expect(first).toMatchObject({ status: 200, body: { success: true } });
  const again = await insist(proof, await post(proof));
  if (again.status === 200) expect(again.body).toEqual(first.body);
  expect(model.asked()).toBe(asked + 1);
  await expectPaidOnce(proof, before);
});

test("a result that was handed out while the database was away is recorded when it is back", async () => {
  const proof = await payQuote(paid, "hedera", await post());
  const before = await wallet();
  paid.toFacilitator.behave((path) => (path === "/settle" ? "hold" : "pass"));
  const answer = post(proof);
  await until(() => paid.toFacilitator.held() > 0);
  // The record cannot be written before the crash: what is written right before one may be lost with it.
  const locker = new Client(postgres.urlOf("marketplace"));
  locker.on("error", () => {});
  await locker.connect();
  await locker.query("begin; lock table paid_calls in share row exclusive mode");
  paid.toFacilitator.behave(() => "pass");
  expect(await answer).toMatchObject({ status: 200, body: { success: true } });
  await postgres.crash();
  const handedOut = async () => {
    const { rows } = await paid.marketplace.context.db.query("select 1 from paid_calls where delivered_at is null");
    return rows.length === 0;
  };
  await expect.poll(() => handedOut().catch(() => false)).toBe(true);
  await expectPaidOnce(proof, before);
});
