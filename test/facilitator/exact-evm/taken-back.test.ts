import { createTestClient, http, publicActions } from "viem";
import { expect } from "vitest";
import { EvmChain } from "../../../facilitator/schemes/exact-evm/chain.ts";
import { forgetFinal } from "../../../facilitator/schemes/exact-evm/forget-final.ts";
import { maintainNonces } from "../../../facilitator/schemes/exact-evm/maintain-nonces.ts";
import { JsonRpc, RpcUnreachableError } from "../../../facilitator/schemes/exact-evm/rpc.ts";
import { rollUpAll } from "../../../facilitator/settlements/rollup.ts";
import type { Log } from "../../../shared/log.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { type Buyer, paymentBody } from "../../support/evm-payments.ts";
import type { startFacilitator } from "../../support/facilitator.ts";
import { evmTest } from "../../support/fixtures.ts";

type TestFacilitator = Awaited<ReturnType<typeof startFacilitator>>;

const test = evmTest();
test.afterEach(({ setting }) => tester(setting).setAutomine(true));

const tester = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(publicActions);

/** What the copy does every minute, and what it told the operator of. */
async function forget(
  setting: EvmSetting,
  { context: { db } }: TestFacilitator,
  Chain = EvmChain,
): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  const tell = (facts: object, message: string) => told.push({ ...facts, message });
  const log = { error: tell, warn: tell } as unknown as Log;
  const rpc = new JsonRpc(setting.chain.rpcUrl, 10_000);
  const parts = { chain: new Chain(rpc, 200_000n), config: { confirmations: 1 }, db, log };
  await forgetFinal(setting.signer, setting.terms.network, parts).finally(() => rpc.stop());
  return told;
}

const rollUp = ({ context: { db, config } }: TestFacilitator) =>
  rollUpAll(db, config.environmentOf, new AbortController().signal);

/** The chain goes back to a moment, and the copy has seen that and sent again what was taken back. */
async function reorganise(setting: EvmSetting, { context: { db } }: TestFacilitator, id: `0x${string}`, taken: number) {
  await tester(setting).setAutomine(false);
  await tester(setting).revert({ id });
  const missing =
    "select from payments where state = 'settled' and raw_transactions is not null and taken_back_at is not null";
  const seen = async () => (await db.query(missing)).rowCount;
  await expect.poll(seen, { timeout: 30_000 }).toBe(taken);
  const pending = async () => (await tester(setting).getTxpoolStatus()).pending;
  await expect.poll(pending, { timeout: 30_000 }).toBe(taken);
}

async function makeFinal(setting: EvmSetting): Promise<void> {
  await tester(setting).increaseTime({ seconds: 3_600 });
  await tester(setting).mine({ blocks: 200 });
}

/** Good for a quarter of an hour of the chain's time, which tests move on. */
async function pay(setting: EvmSetting, buyer: Buyer) {
  const { timestamp } = await tester(setting).getBlock();
  return paymentBody(buyer, setting.terms, { validBefore: String(timestamp + 900n) });
}

test("a settled payment that was taken back is final by the block in which it landed anew, not by when it ended first", async ({
  setting,
  facilitator,
}) => {
  const { db } = facilitator.context;
  const body = await pay(setting, await setting.fundedBuyer());
  const id = await tester(setting).snapshot();
  const { transaction } = (await facilitator.settle(body)).body;
  const row = async () => (await db.query("select * from payments where transaction_id = $1", [transaction])).rows[0];
  await reorganise(setting, facilitator, id, 1);
  await db.query("update payments set finished_at = finished_at - interval '1 hour' where transaction_id = $1", [
    transaction,
  ]);
  await tester(setting).setAutomine(true);
  await tester(setting).mine({ blocks: 100 });
  await forget(setting, facilitator);
  expect((await row()).raw_transactions).not.toBeNull();
  await makeFinal(setting);
  expect(await forget(setting, facilitator)).toEqual([]);
  expect(await row()).toMatchObject({ state: "settled", raw_transactions: null });
});

test.for(["counted already", "not counted yet"])(
  "settled payments that were %s and that a reorganisation took back are not told as settled once they cannot land any more",
  async (when, { setting, facilitator }) => {
    const { db } = facilitator.context;
    const counting = await db.connect();
    try {
      if (when === "not counted yet") await counting.query("select pg_advisory_lock(hashtext('settlement tally'))");
      const since = (await facilitator.get("/stats?days=2")).body;
      const [lonely, loyal] = [await setting.fundedBuyer(), await setting.fundedBuyer()];
      const stays = (await facilitator.settle(await pay(setting, loyal))).body;
      const id = await tester(setting).snapshot();
      const bodies = [await pay(setting, lonely), await pay(setting, loyal)];
      const lost = [];
      for (const body of bodies) lost.push((await facilitator.settle(body)).body);
      expect(lost).toMatchObject([{ success: true }, { success: true }]);
      await rollUp(facilitator);
      const change = async () => changeOf(since, (await facilitator.get("/stats?days=2")).body);
      expect(await change()).toEqual({ settlements: 3, failed: 0, payers: 2, volume: 30_000 });

      await reorganise(setting, facilitator, id, 2);
      // Mined after they ran out, they revert.
      await makeFinal(setting);
      expect(await forget(setting, facilitator)).toEqual(
        lost.map(({ transaction }) => ({
          network: setting.terms.network,
          transaction,
          message: "a settled payment was taken back and did not land again; it is recorded as failed",
        })),
      );
      await counting.query("select pg_advisory_unlock_all()");
      const counted = async () => {
        await rollUp(facilitator);
        return change();
      };
      await expect.poll(counted).toEqual({
        settlements: 1,
        failed: 2,
        payers: 1,
        volume: 10_000,
      });
      const told = [stays, ...lost].map(({ transaction }) => transaction);
      const { rows } = await db.query("select status, tx_id from transactions where tx_id = any($1) order by id", [
        told,
      ]);
      expect(rows.map(({ status }) => status)).toEqual(["settled", "failed", "failed"]);
      for (const [at, body] of bodies.entries()) {
        expect((await facilitator.get(`/payments/${lost[at].transaction}`)).body).toMatchObject({ state: "failed" });
        const again = (await facilitator.settle(body)).body;
        expect(again.success).toBe(false);
        expect(again.errorReason).not.toBe("already_settled");
      }
      const { rows: accounts } = await db.query("select account, paid, payees from accounts where account = any($1)", [
        [lonely.address, loyal.address],
      ]);
      const paid = new Map(accounts.map(({ account, paid: count }) => [account, count]));
      expect([paid.get(lonely.address) ?? 0n, paid.get(loyal.address)]).toEqual([0n, 1n]);
      expect(await forget(setting, facilitator)).toEqual([]);
    } finally {
      counting.release(true);
    }
  },
);

const lost = "a settled payment was taken back and did not land again; it is recorded as failed";

test("a settled payment that reverted in another branch of the chain, and that nobody saw missing, has failed, and its page says that it was settled first", async ({
  setting,
  facilitator,
}) => {
  const { db } = facilitator.context;
  const body = await pay(setting, await setting.fundedBuyer());
  const id = await tester(setting).snapshot();
  const { transaction } = (await facilitator.settle(body)).body;
  await reorganise(setting, facilitator, id, 1);
  await makeFinal(setting);
  await db.query("update payments set taken_back_at = null where transaction_id = $1", [transaction]);
  expect(await forget(setting, facilitator)).toEqual([{ network: setting.terms.network, transaction, message: lost }]);
  expect((await facilitator.get(`/payments/${transaction}`)).body).toMatchObject({ state: "failed" });
  const page = await (await fetch(`${facilitator.url}/tx/${transaction}`, { headers: { accept: "text/html" } })).text();
  expect(page).toContain("settled first; its chain took that back");
  expect(page).toContain("from claim to settlement");
  expect(page).toMatch(/later<\/time><span>Taken back by its chain. Failed: /);
  expect(page).not.toContain("certainly not settled");
});

test("a settled payment that the node cannot tell of holds up no other, is told of, and is let go after two days", async ({
  setting,
  facilitator,
}) => {
  const { db } = facilitator.context;
  const bodies = [await pay(setting, await setting.fundedBuyer()), await pay(setting, await setting.fundedBuyer())];
  const id = await tester(setting).snapshot();
  const transactions: string[] = [];
  for (const body of bodies) transactions.push((await facilitator.settle(body)).body.transaction);
  await reorganise(setting, facilitator, id, 2);
  await makeFinal(setting);
  const silentAbout = bodies[0]?.paymentPayload.payload.authorization.nonce;
  class Silent extends EvmChain {
    override isNonceUsed(...asked: Parameters<EvmChain["isNonceUsed"]>): Promise<boolean> {
      if (asked[2] === silentAbout) throw new RpcUnreachableError("searches too few blocks");
      return super.isNonceUsed(...asked);
    }
  }
  const facts = { network: setting.terms.network, transaction: transactions[0], because: "searches too few blocks" };
  expect(await forget(setting, facilitator, Silent)).toEqual([
    { ...facts, message: "a settled payment that was taken back cannot be judged yet" },
    { network: setting.terms.network, transaction: transactions[1], message: lost },
  ]);
  await db.query("update payments set created_at = created_at - interval '3 days' where transaction_id = $1", [
    transactions[0],
  ]);
  // The chain's clock is ahead, by which even what was looked at a moment ago is final.
  await db.query("update signer_nonces set bytes_from = (select nonce from payments where transaction_id = $1)", [
    transactions[0],
  ]);
  expect(await forget(setting, facilitator, Silent)).toEqual([
    {
      ...facts,
      message: "a settled payment that was taken back could not be judged for two days; it stays settled on record",
    },
  ]);
  const { rows } = await db.query(
    "select state, raw_transactions as raw from payments where transaction_id = any($1) order by nonce",
    [transactions],
  );
  expect(rows).toEqual([
    { state: "settled", raw: null },
    { state: "failed", raw: null },
  ]);
  expect(await forget(setting, facilitator)).toEqual([]);
});

test("all settled payments that a reorganisation took back are marked, however many they are", async ({
  facilitator,
}) => {
  const { db } = facilitator.context;
  await db.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at,
                           lease_until, fee_payer, nonce, transaction_id, raw_transactions, finished_at)
     select 'eip155:many', 'key ' || n, 'settled', gen_random_uuid(), 'exact', 'payer', 'payee', 'asset', 1, now(),
            now(), 'signer', n, 'transaction ' || n, array['\\x01'::bytea], now()
       from generate_series(0, 149) as n`,
  );
  const parts = {
    chain: { transactionCount: async () => 0n, send: async () => {} },
    db,
    log: { error: () => {} },
    gaps: { fill: async () => {} },
  };
  const [signer, config] = [{ address: "signer" }, { network: "eip155:many", bumpAfterMs: 1_000 }];
  await maintainNonces(...([signer, config, parts] as unknown as Parameters<typeof maintainNonces>));
  const marked = "select from payments where network = 'eip155:many' and taken_back_at is not null";
  expect((await db.query(marked)).rowCount).toBe(150);
});

/** What was added to the figures since. */
function changeOf(since: Record<string, unknown>, now: Record<string, unknown>) {
  const added = (name: string) => Number(now[name]) - Number(since[name]);
  return {
    settlements: added("settlements"),
    failed: added("failed"),
    payers: added("payers"),
    volume: added("volumeAtomic"),
  };
}
