import { once } from "node:events";
import { describe, expect } from "vitest";
import type { LocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { connect, type Database } from "../../../shared/postgres.ts";
import { startCutProxy } from "../../support/cut-proxy.ts";
import { spawnFacilitator, startFacilitator } from "../../support/facilitator.ts";
import { hederaTest } from "../../support/fixtures.ts";
import { lapseAll } from "../../support/lapse.ts";
import { keptAll, perFile } from "../../support/part.ts";
import { statements } from "../../support/statements.ts";
import { buyerOf, price, signedPayment, usdcOf } from "./setting.ts";

const test = hederaTest()
  .extend("db", perFile, ({ variables }, { onCleanup }) => {
    const db = connect(variables.FACILITATOR_DATABASE_URL ?? "", { poolMax: 2, statements, applicationName: "test" });
    onCleanup(() => db.end());
    return db;
  })
  .extend("daemons", perFile, ({ variables }, { onCleanup }) =>
    keptAll([startFacilitator(variables), startFacilitator(variables)], onCleanup),
  );

const creatorHas = (ledger: LocalHedera) => usdcOf(ledger, ledger.accounts.creator.accountId);

/** The body a resource server posts, in version 2. */
async function paymentBody(ledger: LocalHedera): Promise<Body> {
  const { requirements, payload } = await signedPayment(buyerOf(ledger));
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload },
    paymentRequirements: requirements,
  };
}

interface Body {
  readonly x402Version: number;
  readonly paymentPayload: { readonly x402Version: number; readonly accepted: object; readonly payload: object };
  readonly paymentRequirements: object;
}

test("twenty settlements of one payment over two daemons: one success, one transfer, nineteen told of it", async ({
  ledger,
  daemons,
}) => {
  const before = await creatorHas(ledger);
  const body = await paymentBody(ledger);
  expect((await daemons[0]!.verify(body)).body).toEqual({
    isValid: true,
    payer: ledger.accounts.buyer.accountId,
    holdId: expect.any(String),
  });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => daemons[index % 2]!.settle(body)));
  const successes = answers.filter(({ body: answer }) => answer.success);
  expect(successes).toHaveLength(1);
  const { transaction } = successes[0]!.body;
  expect(transaction).toMatch(/^0\.0\.1001@\d+\.\d{9}$/);
  for (const { body: answer } of answers.filter(({ body: { success } }) => !success)) {
    expect(answer).toMatchObject({ errorReason: "already_settled", transaction, network: "hedera:testnet" });
  }
  expect(await creatorHas(ledger)).toBe(before + price);
});

test("version 1 settles under the name it used", async ({ ledger, daemons }) => {
  const { paymentPayload, paymentRequirements } = await paymentBody(ledger);
  const { amount, ...rest } = paymentRequirements as { amount: string };
  const network = "hedera-testnet";
  const { body } = await daemons[0]!.settle({
    paymentPayload: { x402Version: 1, scheme: "exact", network, payload: paymentPayload.payload },
    paymentRequirements: { ...rest, network, maxAmountRequired: amount },
  });
  expect(body).toMatchObject({ success: true, network, payer: ledger.accounts.buyer.accountId });
});

test("a payload without a transaction is a 400 that names the field, a forged one a 200 that says why not", async ({
  ledger,
  daemons,
}) => {
  const body = await paymentBody(ledger);
  const without = { ...body, paymentPayload: { ...body.paymentPayload, payload: {} } };
  const answer = await daemons[0]!.verify(without);
  expect(answer.status).toBe(400);
  expect(JSON.stringify(answer.body)).toContain("paymentPayload.payload.transaction");
  const forged = { ...body, paymentPayload: { ...body.paymentPayload, payload: { transaction: "AAAA" } } };
  const reason = "invalid_exact_hedera_payload_transaction_could_not_be_decoded";
  expect(await daemons[0]!.verify(forged)).toMatchObject({
    status: 200,
    body: { isValid: false, invalidReason: reason },
  });
  expect(await daemons[0]!.settle(forged)).toMatchObject({
    status: 200,
    body: { success: false, errorReason: reason },
  });
});

test("a daemon killed between sending and the receipt leaves a payment that another one finishes, once", async ({
  ledger,
  db,
  variables,
  daemons,
}) => {
  const before = await creatorHas(ledger);
  const doomed = await spawnFacilitator(variables);
  ledger.faults.set({ consensusDelayMs: 100_000 });
  const body = await paymentBody(ledger);
  const lost = doomed.settle(body).catch(() => "no answer");
  await expect.poll(() => states(db)).toContain("broadcast");
  doomed.process.kill("SIGKILL");
  await once(doomed.process, "exit");
  expect(await lost).toBe("no answer");
  ledger.faults.clear();
  await lapseAll(db);
  await expect.poll(async () => new Set(await states(db))).toEqual(new Set(["settled"]));
  expect(await creatorHas(ledger)).toBe(before + price);
  expect((await daemons[1]!.settle(body)).body).toMatchObject({ success: true });
  expect((await daemons[0]!.settle(body)).body).toMatchObject({ success: false, errorReason: "already_settled" });
  expect(await creatorHas(ledger)).toBe(before + price);
});

test("a payment that was claimed with what was signed for it, which the database stored and the daemon was not told of, settles once", async ({
  ledger,
  db,
  variables,
  daemons,
}) => {
  const before = await creatorHas(ledger);
  const url = new URL(variables.FACILITATOR_DATABASE_URL as string);
  const proxy = await startCutProxy(url.href);
  const { host } = new URL(proxy.url);
  const through = Object.assign(new URL(url.href), { host }).href;
  const daemon = await spawnFacilitator({ ...variables, FACILITATOR_DATABASE_URL: through });
  const body = await paymentBody(ledger);
  let cuts = 0;
  proxy.behave((bytes) => {
    // The claim is the only row that a settlement inserts by a statement of its own.
    if (cuts > 0 || !bytes.includes("INSERT 0 1")) return "pass";
    cuts += 1;
    return "cut";
  });
  const told = await daemon.settle(body);
  expect(cuts).toBe(1);
  expect(told.body.success || told.body.errorReason === "settlement_pending").toBe(true);
  await expect.poll(async () => new Set(await states(db))).toEqual(new Set(["settled"]));
  const again = await Promise.all(daemons.map((other) => other!.settle(body)));
  expect([told, ...again].filter(({ body: { success } }) => success)).toHaveLength(1);
  expect(await creatorHas(ledger)).toBe(before + price);
  daemon.process.kill("SIGKILL");
  await once(daemon.process, "exit");
  await proxy.stop();
});

describe("a success that the database has down as told, which the daemon was not told of", () => {
  /** A daemon whose database's answers go through a proxy. */
  const startBehindProxy = async (variables: Record<string, string | undefined>) => {
    const url = new URL(variables.FACILITATOR_DATABASE_URL as string);
    const proxy = await startCutProxy(url.href);
    const { host } = new URL(proxy.url);
    const through = Object.assign(new URL(url.href), { host }).href;
    const daemon = await spawnFacilitator({ ...variables, FACILITATOR_DATABASE_URL: through });
    const stop = async () => {
      daemon.process.kill("SIGKILL");
      await once(daemon.process, "exit");
      await proxy.stop();
    };
    return { proxy, daemon, stop };
  };

  test("is told to its caller when its payment has just ended", async ({ ledger, db, variables, daemons }) => {
    const { proxy, daemon, stop } = await startBehindProxy(variables);
    const body = await paymentBody(ledger);
    let cuts = 0;
    proxy.behave((bytes) => {
      // A payment's end answers with this column alone; holds have others beside it.
      if (cuts > 0 || !bytes.includes("item\0") || bytes.includes("hold_id")) return "pass";
      cuts += 1;
      return "cut";
    });
    const told = await daemon.settle(body);
    expect(cuts).toBe(1);
    await expect.poll(async () => new Set(await states(db))).toEqual(new Set(["settled"]));
    const again = await Promise.all(daemons.map((other) => other!.settle(body)));
    expect(told.body).toMatchObject({ success: true });
    expect(again.map(({ body: { errorReason } }) => errorReason)).toEqual(daemons.map(() => "already_settled"));
    await stop();
  });

  test("is told to the caller who asks for it later", async ({ ledger, db, variables, daemons }) => {
    const { proxy, daemon, stop } = await startBehindProxy(variables);
    const body = await paymentBody(ledger);
    await daemons[0]!.settle(body);
    await db.query("update payments set delivered_at = null");
    let cuts = 0;
    proxy.behave((bytes) => {
      if (cuts > 5 || !bytes.includes("UPDATE 1\0")) return "pass";
      cuts += 1;
      return "cut";
    });
    const told = await daemon.settle(body);
    expect(cuts).toBeGreaterThan(0);
    expect(told.body).toMatchObject({ success: true });
    expect((await daemons[1]!.settle(body)).body).toMatchObject({ success: false, errorReason: "already_settled" });
    await stop();
  });
});

const states = async (db: Database): Promise<readonly string[]> =>
  (await db.query("select state from payments")).rows.map(({ state }) => state);
