import { Client, Hbar, PrivateKey, TransferTransaction } from "@hashgraph/sdk";
import pg from "pg";
import supertest from "supertest";
import {
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  parseEther,
  publicActions,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { createContext } from "../../facilitator/compose.ts";
import { readConfig } from "../../facilitator/config.ts";
import type { Context } from "../../facilitator/context.ts";
import { createServer } from "../../facilitator/server.ts";
import { usdcStandIn } from "../../infra/local-evm/artifacts.ts";
import type { LocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import { documented } from "../support/documented.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainsTest } from "../support/fixtures.ts";
import { kept, keptAll, perFile } from "../support/part.ts";
import { freshDatabase } from "../support/postgres.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { statementVariables } from "../support/statements.ts";
import { buyerOf, newBuyer, signedPayment, type Terms } from "./exact-hedera/setting.ts";

let evm: EvmSetting;
let ledger: LocalHedera;
let copies: Array<Awaited<ReturnType<typeof startFacilitator>>>;

const test = chainsTest()
  .extend("copies", perFile, ({ forBoth }, { onCleanup }) => {
    const variables = { ...forBoth, HEDERA_TESTNET_ASSETS: "0.0.429274,0.0.0" };
    return keptAll([startFacilitator(variables).then(documented), startFacilitator(variables)], onCleanup);
  })
  .extend("proxy", perFile, ({ setting }, { onCleanup }) => kept(startRpcProxy(setting.chain.rpcUrl), onCleanup))
  // With a database and a fee payer of its own, and nothing in the background.
  .extend("still", perFile, async ({ setting, proxy }, { onCleanup }) => {
    const key = generatePrivateKey();
    await setting.chain.fund(privateKeyToAccount(key).address, { wei: parseEther("1") });
    const own = {
      FACILITATOR_DATABASE_URL: await freshDatabase("facilitator"),
      EIP155_84532_SIGNERS: key,
      EIP155_84532_RPC_URL: proxy.url,
    };
    const variables = { LOG_LEVEL: "silent", ...statementVariables, ...setting.variables, ...own };
    const context = await kept(createContext(readConfig(variables)), onCleanup);
    await context.schemes.start(context.log);
    return context;
  });
test.beforeAll(async ({ setting, ledger: ownLedger, copies: started }) => {
  evm = setting;
  ledger = ownLedger;
  copies = started;
  // Where the search begins, it must have begun.
  while ((await marks()).length < 2) await search();
});

const never = new AbortController().signal;
const searchBy = ({ schemes, lostSettlements }: Pick<Context, "schemes" | "lostSettlements">) =>
  Promise.all(schemes.all.map(({ network }) => lostSettlements.search(network, never)));
const search = () => Promise.all([...copies, ...copies].map(({ context }) => searchBy(context)));
const db = () => copies[0]!.context.db;
const marks = async (on: Pick<pg.Client, "query"> = db()) =>
  (await on.query("select network, fee_payer, searched_until, next_nonce from searched_settlements")).rows;

const onEvm = async () => paymentBody(await evm.fundedBuyer(), evm.terms);
async function onHedera(terms: Partial<Terms> = {}) {
  const { requirements, payload } = await signedPayment({ ...buyerOf(ledger), ...terms });
  const version = { x402Version: 2 };
  return {
    ...version,
    paymentPayload: { ...version, accepted: requirements, payload },
    paymentRequirements: requirements,
  };
}

async function settled(...bodies: readonly object[]): Promise<string[]> {
  const answers = await Promise.all(bodies.map((body) => copies[0]!.settle(body)));
  for (const { body } of answers) expect(body).toMatchObject({ success: true });
  return answers.map(({ body }) => body.transaction as string);
}

/** As a standby knows it that became primary and had not received what was written since `before`. */
async function forget(
  before: Awaited<ReturnType<typeof marks>>,
  transactions: readonly string[],
  on: Pick<pg.Client, "query"> = db(),
): Promise<void> {
  const statements = [
    "delete from payments where transaction_id = any ($1)",
    "delete from transactions where tx_id = any ($1)",
  ];
  for (const statement of statements) await on.query(statement, [transactions]);
  for (const { network, fee_payer, searched_until, next_nonce } of before) {
    await on.query(
      "update searched_settlements set searched_until = $3, next_nonce = $4 where network = $1 and fee_payer = $2",
      [network, fee_payer, searched_until, next_nonce],
    );
  }
}

const rows = async (transactions: readonly string[]) =>
  (
    await db().query(
      `select network, payment_key, state, scheme, payer, pay_to, asset, amount_atomic, fee_payer, nonce, transaction_id,
              expires_at, landed_by_another, retryable, error_reason
         from payments where transaction_id = any ($1) order by payment_key`,
      [transactions],
    )
  ).rows;
const recorded = async (transactions: readonly string[], on: Pick<pg.Client, "query"> = db()) =>
  (
    await on.query(
      `select network, status, kind, payer, pay_to, asset, amount_atomic, tx_id from transactions
        where tx_id = any ($1) order by tx_id`,
      [transactions],
    )
  ).rows;
const foundAgain = async () =>
  (await db().query("select coalesce(sum(found_again), 0)::int as n from searched_settlements")).rows[0].n as number;
const untilFound = (transactions: readonly string[]) =>
  expect
    .poll(async () => [await search(), (await recorded(transactions)).length][1], { timeout: 60_000 })
    .toBe(transactions.length);

/** What the fee payers do that settles nothing. */
async function otherTransactions(): Promise<void> {
  const account = privateKeyToAccount(evm.variables.EIP155_84532_SIGNERS as Hex);
  const wallet = createWalletClient({ account, transport: http(evm.chain.rpcUrl) }).extend(publicActions);
  const { paymentPayload } = await onEvm();
  const { from, to, value, validAfter, validBefore, nonce } = paymentPayload.payload.authorization;
  const { abi } = usdcStandIn;
  const own = encodeFunctionData({ abi, functionName: "transfer", args: [evm.terms.payTo as Hex, 5_000n] });
  const signature: Hex = `0x${"11".repeat(65)}`;
  const worthless = encodeFunctionData({
    abi,
    functionName: "transferWithAuthorization",
    args: [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature],
  });
  await evm.chain.fund(account.address, { usdc: 5_000n });
  const sent = [
    { to: account.address, value: 1n },
    { to: evm.chain.usdc, data: own },
    { to: evm.chain.usdc, data: worthless },
  ];
  for (const one of sent) {
    const hash = await wallet.sendTransaction({ ...one, gas: 300_000n, chain: null });
    await evm.chain.receipt(hash);
  }
  const { feePayer, creator } = ledger.accounts;
  const buyer = newBuyer(ledger, { usdc: 100n });
  const client = Client.forNetwork(ledger.nodes).setOperator(
    feePayer.accountId,
    PrivateKey.fromStringDer(feePayer.privateKey),
  );
  const toTwo = new TransferTransaction()
    .addTokenTransfer(ledger.usdc, buyer.payer, -100)
    .addTokenTransfer(ledger.usdc, creator.accountId, 60)
    .addTokenTransfer(ledger.usdc, ledger.accounts.buyer.accountId, 40);
  const ofItsOwn = new TransferTransaction()
    .addHbarTransfer(feePayer.accountId, Hbar.fromTinybars(-700))
    .addHbarTransfer(creator.accountId, Hbar.fromTinybars(700));
  try {
    await (await (await toTwo.freezeWith(client).sign(buyer.keys[0]!)).execute(client)).getReceipt(client);
    await (await ofItsOwn.execute(client)).getReceipt(client);
  } finally {
    client.close();
  }
}

test("what the database lost of settlements is found again on their chains, each once, by copies that search at the same time; nothing else is", async () => {
  const before = await marks();
  const bodies = [
    ...[await onEvm(), await onEvm(), await onEvm()],
    ...[await onHedera(), await onHedera({ asset: "0.0.0", ...newBuyer(ledger, { hbar: 1_000_000_000n }) })],
  ];
  const transactions = await settled(...bodies);
  const kept = await settled(await onEvm(), await onHedera());
  await otherTransactions();
  const [rowsBefore, recordBefore, countBefore] = [
    await rows(transactions),
    await recorded(transactions),
    await foundAgain(),
  ];
  const all = async () => (await db().query("select count(*)::int as n from payments")).rows[0].n;
  const allBefore = await all();
  await forget(before, transactions);
  await untilFound(transactions);
  // All of both ranges has been searched, and then once more.
  await search();
  await search();
  expect(await rows(transactions)).toEqual(rowsBefore);
  expect(await recorded(transactions)).toEqual(recordBefore);
  expect(await recorded(kept)).toHaveLength(kept.length);
  const isFoundAgain = async (transaction: string) =>
    (await copies[0]!.get(`/payments/${encodeURIComponent(transaction)}`)).body.found_again;
  expect(await Promise.all(transactions.map(isFoundAgain))).toEqual(transactions.map(() => true));
  expect(await Promise.all(kept.map(isFoundAgain))).toEqual(kept.map(() => false));
  expect(await all()).toBe(allBefore);
  expect(await foundAgain()).toBe(countBefore + transactions.length);
  const { body } = await copies[0]!.get("/health");
  const told = (body.foundAgain as Array<{ payments: number }>).reduce((sum, { payments }) => sum + payments, 0);
  expect(told).toBe(countBefore + transactions.length);
  for (const [at, again] of bodies.entries()) {
    const answers = await Promise.all(copies.map((copy) => copy.settle(again)));
    for (const { body } of answers)
      expect(body).toMatchObject({ success: false, errorReason: "already_settled", transaction: transactions[at] });
  }
});

test.for([true, false])(
  "a settlement that the database has as failed, retryable: %s, is settled there once the chain was searched",
  async (retryable) => {
    const before = await marks();
    const transactions = await settled(await onEvm(), await onHedera());
    await forget(before, []);
    await db().query(
      `update payments set state = 'failed', retryable = $2, finished_at = null, delivered_at = null
      where transaction_id = any ($1)`,
      [transactions, retryable],
    );
    const states = async () => [await search(), (await rows(transactions)).map(({ state }) => state)][1];
    await expect.poll(states, { timeout: 60_000 }).toEqual(["settled", "settled"]);
  },
);

test("a settlement whose id a stranger's transfer took after it was lost is found again in its place once that has failed, and not before", async () => {
  const before = await marks();
  const [transaction] = (await settled(await onHedera())) as [string];
  const lost = await rows([transaction]);
  const stranger = newBuyer(ledger, { usdc: 10n }).payer;
  const countBefore = await foundAgain();
  await db().query("delete from transactions where tx_id = $1", [transaction]);
  await db().query(
    `update payments set state = 'unknown', payer = $2, pay_to = '0.0.98', amount_atomic = 1, delivered_at = null, finished_at = null,
                         error_reason = 'invalid_transaction_state', lease_until = now() + interval '1 hour'
      where transaction_id = $1`,
    [transaction, stranger],
  );
  await forget(before, []);
  const taken = await rows([transaction]);
  for (let n = 0; n < 3; n += 1) await search();
  expect(await rows([transaction])).toEqual(taken);
  await db().query("update payments set state = 'failed' where transaction_id = $1", [transaction]);
  await untilFound([transaction]);
  expect(await rows([transaction])).toEqual(lost);
  expect(await recorded([transaction])).toMatchObject([{ status: "settled", payer: lost[0].payer }]);
  expect(await foundAgain()).toBe(countBefore + 1);
});

test("a copy that dies while it records what it found leaves nothing half done: it is recorded later, once", async () => {
  const before = await marks();
  const transactions = await settled(await onEvm(), await onHedera());
  const countBefore = await foundAgain();
  const blocker = new pg.Client({ connectionString: evm.variables.FACILITATOR_DATABASE_URL });
  await blocker.connect();
  try {
    await blocker.query("begin");
    await blocker.query("lock table transactions in access exclusive mode");
    await forget(before, transactions, blocker);
    await blocker.query("commit");
    await blocker.query("begin");
    await blocker.query("lock table transactions in access exclusive mode");
    // It has put the payment in and waits to put it on the public record.
    const recording = `select pid, pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%distinct on (id, token)%'`;
    let isOver = false;
    const searching = (async () => {
      while (!isOver) await search().catch(() => {});
    })();
    await expect.poll(async () => (await db().query(recording)).rowCount, { timeout: 60_000 }).toBeGreaterThan(0);
    await blocker.query("rollback");
    isOver = true;
    await searching;
  } finally {
    await blocker.end();
  }
  await untilFound(transactions);
  await search();
  expect((await rows(transactions)).map(({ state }) => state)).toEqual(["settled", "settled"]);
  expect(await recorded(transactions)).toHaveLength(2);
  expect(await foundAgain()).toBe(countBefore + 2);
});

test("what was lost in blocks far apart is found in one search, which reads no further once the rest is whole", async ({
  still,
  proxy,
}) => {
  const app = createServer(still);
  const searchOnce = async () => {
    for (const { run } of still.schemes.upkeep) await run();
    await searchBy(still);
  };
  const settle = async () => {
    const { body } = await supertest(app)
      .post("/settle")
      .send(await onEvm());
    expect(body).toMatchObject({ success: true });
    return body.transaction as string;
  };
  const tester = createTestClient({ mode: "anvil", transport: http(evm.chain.rpcUrl) }).extend(publicActions);
  await searchOnce();
  const before = await marks(still.db);
  const lost = [await settle()];
  await tester.mine({ blocks: 150 });
  lost.push(await settle());
  await tester.mine({ blocks: 400 });
  await settle();
  // It searches up to what was newest at its look before.
  await searchOnce();
  const newest = await tester.getBlockNumber();
  await forget(before, lost, still.db);
  const asked = proxy.counts.get("eth_getBlockByNumber") ?? 0;
  await searchOnce();
  expect(await recorded(lost, still.db)).toHaveLength(2);
  expect(await marks(still.db)).toMatchObject([{ searched_until: newest }]);
  expect((proxy.counts.get("eth_getBlockByNumber") ?? 0) - asked).toBeLessThan(250);
});
