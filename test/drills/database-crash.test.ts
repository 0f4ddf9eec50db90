import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LocalPostgres, startPostgres } from "../../infra/dev/postgres.ts";
import { usdcOf } from "../support/hedera-payments.ts";
import { until } from "../support/marketplace.ts";
import { type PaidMarket, startPaidMarket } from "../support/paid-market.ts";
import { type PaidAnswer, payQuote, post as postTo } from "../support/pay-call.ts";

const price = 50_000;

let directory: string;
let postgres: LocalPostgres;
let paid: PaidMarket;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "crash-"));
  postgres = await startPostgres({ directory: join(directory, "cluster"), durable: true });
  const databaseUrl = await postgres.createDatabase("marketplace");
  paid = await startPaidMarket({ databaseUrl, env: { RUN_LEASE_MS: "2000" } });
});
afterAll(async () => {
  await paid?.stop();
  await postgres?.stop();
  await rm(directory, { recursive: true, force: true });
});

const post = (proof?: object) => postTo(paid.url, { body: { text: "hello" }, ...(proof && { proof }) });
const wallet = () => usdcOf(paid.ledger, paid.ledger.accounts.creator.accountId);

/** PostgreSQL stops at once, as when it crashes: what it had not written to its log is gone. It comes back. */
async function crash(): Promise<void> {
  const { pid, port } = postgres;
  process.kill(pid, "SIGQUIT");
  await until(() => !isAlive(pid));
  postgres = await startPostgres({ directory: join(directory, "cluster"), port, durable: true });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** What the buyer gets in the end, who comes back with the same payment as long as the answer is "not known yet". */
async function insist(proof: object, first: PaidAnswer): Promise<PaidAnswer> {
  for (let answer = first; ; answer = await post(proof)) {
    if (answer.status < 500) return answer;
    expect(answer.status).toBe(503);
    await new Promise((resolve) => setTimeout(resolve, 100));
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
    await new Promise((resolve) => setTimeout(resolve, intoMs));
    await crash();
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
    crashed ??= crash();
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
  await crash();
  expect(first).toMatchObject({ status: 200, body: { success: true } });
  const again = await insist(proof, await post(proof));
  if (again.status === 200) expect(again.body).toEqual(first.body);
  expect(model.asked()).toBe(asked + 1);
  await expectPaidOnce(proof, before);
});

test("a result that was handed out while the database was away is recorded when it is back", async () => {
  const proof = await payQuote(paid, "hedera", await post());
  const before = await wallet();
  expect(await post(proof)).toMatchObject({ status: 200, body: { success: true } });
  await crash();
  const handedOut = async () => {
    const { rows } = await paid.marketplace.context.db.query("select 1 from paid_calls where delivered_at is null");
    return rows.length === 0;
  };
  await expect.poll(() => handedOut().catch(() => false)).toBe(true);
  await expectPaidOnce(proof, before);
});
