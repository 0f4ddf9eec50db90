import { AccountId, Hbar, PrivateKey, TransferTransaction } from "@hashgraph/sdk";
import { createTestClient, http, parseEther, parseGwei, walletActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { openLedger } from "../infra/local-hedera/sdk.ts";
import { documented } from "../support/documented.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainTest } from "../support/fixtures.ts";
import { hederaProof, hederaTerms, hederaVariables } from "../support/hedera-payments.ts";
import { part, perFile } from "../support/part.ts";
import { freshDatabase } from "../support/postgres.ts";

const test = chainTest().extend("open", perFile, part(openLedger));

const gasMoney = (setting: EvmSetting, address: string, value: bigint) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(walletActions)
    .setBalance({ address: address as `0x${string}`, value });

/** From the newest block on. */
function gasCosts(setting: EvmSetting) {
  const client = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) });
  return async (baseFeePerGas: bigint) => {
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas });
    await client.mine({ blocks: 1 });
  };
}

async function daemonWith(setting: EvmSetting, variables: Record<string, string> = {}) {
  const FACILITATOR_DATABASE_URL = await freshDatabase("facilitator");
  return documented(await startFacilitator({ ...setting.variables, FACILITATOR_DATABASE_URL, ...variables }));
}

const traces = async ({ context: { db } }: Awaited<ReturnType<typeof daemonWith>>) => {
  const { rows } = await db.query(
    `select (select count(*)::int from transactions) as records, (select count(*)::int from payer_failures) as failures,
            (select json_agg(json_build_object('state', state, 'retryable', retryable, 'raw', raw_transactions)) from payments) as payments`,
  );
  return rows[0];
};

/** A balancer keeps a copy that settles nothing, as no copy does, and a network that takes no payment is seen by who watches. */
async function expectServed(daemon: Awaited<ReturnType<typeof daemonWith>>): Promise<void> {
  const networks = { "eip155:84532": false };
  expect(await daemon.get("/readyz")).toMatchObject({ status: 200, body: { ready: true, networks } });
  const figures = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(figures).toContain('facilitator_network_settling{network="eip155:84532"} 0\n');
  expect(figures).toMatch(/^facilitator_fee_payer_low\{.*\} 0$/m);
}

test("a send refused for want of gas money is 503, claims nothing, and is known at once; when there is money it settles", async ({
  setting,
}) => {
  const daemon = await daemonWith(setting);
  try {
    const buyer = await setting.fundedBuyer();
    const bodies = await Promise.all([1, 2, 3, 4].map(() => paymentBody(buyer, setting.terms)));
    await gasMoney(setting, setting.signer, 1_000n);
    const answers = await Promise.all(bodies.map((body) => daemon.settle(body)));
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { success: false, transaction: "", network: "eip155:84532" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    const held = await daemon.context.db.query("select 1 from payment_holds where until > now()");
    expect(held.rows).toEqual([]);
    expect(await daemon.get("/health")).toMatchObject({
      status: 503,
      body: { status: "degraded", chains: [{ empty: true, lowBalance: false, settling: false }] },
    });
    await expectServed(daemon);
    expect((await daemon.verify(bodies[0])).status).toBe(503);
    const { records, failures, payments } = await traces(daemon);
    expect({ records, failures }).toEqual({ records: 0, failures: 0 });
    for (const row of payments ?? []) expect(row).toEqual({ state: "failed", retryable: true, raw: null });

    await gasMoney(setting, setting.signer, parseEther("10"));
    await expect.poll(async () => (await daemon.get("/health")).body.chains[0].settling).toBe(true);
    for (const body of bodies) expect((await daemon.settle(body)).body).toMatchObject({ success: true });
  } finally {
    await gasMoney(setting, setting.signer, parseEther("10"));
    await daemon.stop();
  }
});

test("gas dearer than the limit is 503 at once, blamed on no payer, and the same payment settles when it costs less", async ({
  setting,
}) => {
  const costs = gasCosts(setting);
  const daemon = await daemonWith(setting);
  try {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    await costs(parseGwei("100"));
    const answers = [await daemon.settle(body), await daemon.settle(body), await daemon.verify(body)];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { network: "eip155:84532" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await daemon.get("/health")).toMatchObject({
      status: 503,
      body: { status: "degraded", chains: [{ empty: false, settling: false, feesTooHigh: true }] },
    });
    await expectServed(daemon);
    const { rows: held } = await daemon.context.db.query("select 1 from payment_holds where until > now()");
    expect(held).toEqual([]);
    const { records, failures, payments } = await traces(daemon);
    expect({ records, failures }).toEqual({ records: 0, failures: 0 });
    for (const row of payments ?? []) expect(row).toEqual({ state: "failed", retryable: true, raw: null });

    await costs(parseGwei("1"));
    await expect.poll(async () => (await daemon.get("/health")).status).toBe(200);
    expect((await daemon.settle(body)).body).toMatchObject({ success: true });
  } finally {
    await costs(parseGwei("1"));
    await daemon.stop();
  }
});

test("gas dearer than the limit is known before a payment comes, by what is read of the fee payers", async ({
  setting,
}) => {
  const costs = gasCosts(setting);
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  await costs(parseGwei("100"));
  const daemon = await daemonWith(setting);
  try {
    expect((await daemon.get("/health")).body.chains).toMatchObject([{ settling: false, feesTooHigh: true }]);
    expect((await daemon.verify(body)).status).toBe(503);
    expect((await traces(daemon)).payments).toBeNull();
  } finally {
    await costs(parseGwei("1"));
    await daemon.stop();
  }
});

test("a fee payer that cannot pay while gas is dear settles when it costs less again, without a top-up", async ({
  setting,
}) => {
  const costs = gasCosts(setting);
  await costs(parseGwei("20"));
  const daemon = await daemonWith(setting);
  try {
    const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
    await costs(parseGwei("20"));
    await gasMoney(setting, setting.signer, parseEther("0.002"));
    expect(await daemon.settle(body)).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
    expect((await daemon.get("/health")).body.chains).toMatchObject([{ empty: true, settling: false }]);
    await costs(parseGwei("1"));
    await expect.poll(async () => (await daemon.get("/health")).body.chains[0].settling).toBe(true);
    expect((await daemon.settle(body)).body).toMatchObject({ success: true });
  } finally {
    await gasMoney(setting, setting.signer, parseEther("10"));
    await daemon.stop();
  }
});

test("another fee payer that has money sends it instead, and its caller hears of nothing", async ({ setting }) => {
  const keys = [generatePrivateKey(), generatePrivateKey()];
  const [rich, poor] = keys.map((key) => privateKeyToAccount(key).address) as [string, string];
  await Promise.all([rich, poor].map((address) => gasMoney(setting, address, parseEther("10"))));
  const daemon = await daemonWith(setting, { EIP155_84532_SIGNERS: keys.toReversed().join(",") });
  try {
    await gasMoney(setting, poor, 1_000n);
    const bodies = await Promise.all(
      Array.from({ length: 8 }, async () => paymentBody(await setting.fundedBuyer(), setting.terms)),
    );
    const answers = await Promise.all(bodies.map((body) => daemon.settle(body)));
    for (const { body } of answers) expect(body).toMatchObject({ success: true });
    expect((await daemon.get("/health")).body.chains).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ feePayer: poor, empty: true, settling: true }),
        expect.objectContaining({ feePayer: rich, empty: false, settling: true }),
      ]),
    );
  } finally {
    await daemon.stop();
  }
});

test("on Hedera the same: the node's refusal is 503, nothing is claimed, and the payment settles once there is HBAR", async ({
  open,
}) => {
  const { ledger } = open;
  const { feePayer, buyer, operator } = ledger.accounts;
  const FACILITATOR_DATABASE_URL = await freshDatabase("facilitator");
  const daemon = documented(await startFacilitator({ FACILITATOR_DATABASE_URL, ...hederaVariables(ledger) }));
  const move = (tinybars: bigint) =>
    open.run(
      new TransferTransaction()
        .addHbarTransfer(AccountId.fromString(feePayer.accountId), Hbar.fromTinybars(tinybars.toString()))
        .addHbarTransfer(AccountId.fromString(operator.accountId), Hbar.fromTinybars((-tinybars).toString())),
      PrivateKey.fromStringDer(feePayer.privateKey),
    );
  try {
    const terms = hederaTerms(ledger, feePayer.accountId);
    const body = {
      paymentPayload: await hederaProof(buyer, terms, { url: "https://a.example.com" }),
      paymentRequirements: terms,
    };
    const { balance } = (await daemon.get("/health")).body.chains[0];
    const all = BigInt(Math.round(balance * 1e8)) - 1_000n;
    await move(-all);
    expect(await daemon.settle(body)).toMatchObject({ status: 503, body: { network: "hedera:testnet" } });
    expect((await daemon.get("/health")).body.chains).toMatchObject([{ empty: true, settling: false }]);
    expect(await daemon.verify(body)).toMatchObject({ status: 503 });
    const { records, failures, payments } = await traces(daemon);
    expect({ records, failures }).toEqual({ records: 0, failures: 0 });
    // No row at all where the balance was read before the payment came.
    for (const row of payments ?? []) expect(row).toEqual({ state: "failed", retryable: true, raw: null });
    await move(all);
    await expect.poll(async () => (await daemon.settle(body)).body.success).toBe(true);
  } finally {
    await daemon.stop();
  }
});
