import { generateKeyPairSync } from "node:crypto";
import { PrivateKey } from "@hashgraph/sdk";
import { createTestClient, http, parseEther, publicActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { Kms } from "../../facilitator/signing/kms.ts";
import { startMockKms } from "../../infra/mock-kms/server.ts";
import { Secret } from "../../shared/env.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainsTest } from "../support/fixtures.ts";
import { hederaProof, hederaTerms, hederaVariables } from "../support/hedera-payments.ts";
import { part, perFile } from "../support/part.ts";
import { freshDatabase } from "../support/postgres.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG" };
const gasKey = generatePrivateKey();
const gasAddress = privateKeyToAccount(gasKey).address;
const hbarKey = PrivateKey.generateECDSA();

const test = chainsTest({ consensusDelayMs: 2 })
  .extend(
    "kms",
    perFile,
    part(() => {
      const keys = { gas: Buffer.from(gasKey.slice(2), "hex"), hbar: Buffer.from(hbarKey.toStringRaw(), "hex") };
      const otherKeys = { p256: generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey };
      return startMockKms({ keys, otherKeys, ...credentials });
    }),
  )
  .extend("variables", perFile, ({ kms }) => ({
    EIP155_84532_SIGNERS: `${gasAddress}:kms:gas`,
    KMS_ENDPOINT: kms.url,
    KMS_REGION: "eu-central-1",
    KMS_ACCESS_KEY_ID: credentials.accessKeyId,
    KMS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    KMS_TIMEOUT_MS: "5000",
  }));
test.beforeAll(({ setting }) => setting.chain.fund(gasAddress, { wei: parseEther("10") }));
test.afterEach(({ kms }) => kms.behave("answer"));

async function daemonWith(setting: EvmSetting, variables: Record<string, string> = {}) {
  const FACILITATOR_DATABASE_URL = await freshDatabase("facilitator");
  return startFacilitator({ ...setting.variables, FACILITATOR_DATABASE_URL, ...variables });
}
type Daemon = Awaited<ReturnType<typeof daemonWith>>;

const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const settling = async (daemon: Daemon) => (await daemon.get("/readyz")).body.networks["eip155:84532"];
const nonces = async ({ context: { db } }: Daemon) =>
  (await db.query("select next_nonce, vacant from signer_nonces where address = $1", [gasAddress])).rows;

test("keys that never leave a KMS settle payments on an EVM chain and on Hedera", async ({ setting, ledger, kms }) => {
  const { accountId } = ledger.faucet.createAccount({
    publicKey: hbarKey.publicKey.toStringRaw(),
    tinybars: 10n ** 10n,
  });
  const { buyer } = ledger.accounts;
  const hedera = { ...hederaVariables(ledger), HEDERA_TESTNET_FEE_PAYERS: `${accountId}:kms:hbar` };
  const daemon = await daemonWith(setting, hedera);
  try {
    const terms = hederaTerms(ledger, accountId);
    const paymentPayload = await hederaProof(buyer, terms, { url: "https://a.example.com" });
    const onEvm = await Promise.all(Array.from({ length: 8 }, () => pay(setting)));
    const answers = await Promise.all(
      [...onEvm, { paymentPayload, paymentRequirements: terms }].map((body) => daemon.settle(body)),
    );
    for (const { body } of answers) expect(body).toMatchObject({ success: true });
    expect(kms.signatures()).toBeGreaterThan(8);
    expect((await daemon.get("/supported")).body.signers).toEqual({
      "eip155:*": [gasAddress],
      "hedera:*": [accountId],
    });
  } finally {
    await daemon.stop();
  }
});

test("while a KMS is slow no lock is held; when it fails the payment is 503, no nonce is used, and it settles once the KMS is back", async ({
  setting,
  kms,
}) => {
  const daemon = await daemonWith(setting);
  try {
    const before = await nonces(daemon);
    const bodies = await Promise.all([pay(setting), pay(setting)]);
    kms.behave("hang");
    const answers = bodies.map((body) => daemon.settle(body));
    await expect.poll(() => kms.waiting()).toBeGreaterThan(0);
    // Who looks after the nonces holds it for a moment; who waited for the KMS would for five seconds.
    const free = async () => (await daemon.context.db.query("select from signer_nonces for update nowait")).rowCount;
    await expect.poll(free, { timeout: 4_000, interval: 20 }).toBe(1);
    kms.behave("fail");
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(await nonces(daemon)).toEqual(before);
    const payments = await daemon.context.db.query("select state, retryable, raw_transactions as raw from payments");
    for (const row of payments.rows) expect(row).toEqual({ state: "failed", retryable: true, raw: null });
    expect((await daemon.context.db.query("select from payment_holds where until > now()")).rows).toEqual([]);
    expect(await settling(daemon)).toBe(false);
    expect((await daemon.verify(bodies[0])).status).toBe(503);
    expect((await daemon.get("/health")).body.chains).toMatchObject([{ signing: false, empty: false }]);
    kms.behave("answer");
    await expect.poll(() => settling(daemon)).toBe(true);
    for (const body of bodies) expect((await daemon.settle(body)).body).toMatchObject({ success: true });
  } finally {
    await daemon.stop();
  }
});

test("while a KMS is down another signer sends its payments, and the KMS's own go on after it", async ({
  setting,
  kms,
}) => {
  const local = generatePrivateKey();
  await setting.chain.fund(privateKeyToAccount(local).address, { wei: parseEther("10") });
  const daemon = await daemonWith(setting, { EIP155_84532_SIGNERS: `${gasAddress}:kms:gas,${local}` });
  try {
    kms.behave("fail");
    const bodies = await Promise.all(Array.from({ length: 6 }, () => pay(setting)));
    const answers = await Promise.all(bodies.map((body) => daemon.settle(body)));
    for (const { body } of answers) expect(body).toMatchObject({ success: true });
    const { rows } = await daemon.context.db.query("select distinct fee_payer from payments");
    expect(rows).toEqual([{ fee_payer: privateKeyToAccount(local).address }]);
    kms.behave("answer");
    const signs = async () => (await daemon.get("/health")).body.chains[0].signing;
    await expect.poll(signs).toBe(true);
  } finally {
    await daemon.stop();
  }
});

test("copies that share a key of a KMS sign again when another was before them, and leave no gap", async ({
  setting,
}) => {
  const first = await daemonWith(setting);
  const second = await startFacilitator({
    ...setting.variables,
    FACILITATOR_DATABASE_URL: first.context.config.databaseUrl,
  });
  try {
    const client = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(publicActions);
    const before = await client.getTransactionCount({ address: gasAddress });
    const bodies = await Promise.all(Array.from({ length: 12 }, () => pay(setting)));
    const answers = await Promise.all(bodies.map((body, index) => (index % 2 ? first : second).settle(body)));
    for (const { body } of answers) expect(body).toMatchObject({ success: true });
    expect(await client.getTransactionCount({ address: gasAddress })).toBe(before + 12);
    expect(await nonces(first)).toEqual([{ next_nonce: BigInt(before + 12), vacant: [] }]);
  } finally {
    await Promise.all([first.stop(), second.stop()]);
  }
});

test("a key that is another address' never signs a payment, and it and a secret that is not the KMS's are told", async ({
  setting,
  kms,
}) => {
  const other = privateKeyToAccount(generatePrivateKey()).address;
  const misnamed = { EIP155_84532_SIGNERS: `${other}:kms:gas` };
  await expect(daemonWith(setting, misnamed)).rejects.toThrow(gasAddress);
  kms.behave("fail");
  const daemon = await daemonWith(setting, misnamed);
  try {
    kms.behave("answer");
    const signed = kms.signatures();
    await setting.chain.fund(other, { wei: parseEther("10") });
    // The first signature is by which the key is looked for; no other follows.
    await expect.poll(() => kms.signatures()).toBe(signed + 1);
    expect((await daemon.settle(await pay(setting))).status).toBe(503);
    expect(kms.signatures()).toBe(signed + 1);
  } finally {
    await daemon.stop();
  }
  const secretAccessKey = new Secret("another");
  const config = { endpoint: kms.url, region: "eu-central-1", ...credentials, secretAccessKey, timeoutMs: 5_000 };
  await expect(new Kms(config).publicKey("gas")).rejects.toThrow("InvalidSignatureException");
});

test("a key of the wrong kind is not said to sign; one whose KMS is asked too often is, and its next payment settles", async ({
  setting,
  kms,
}) => {
  const misfit = await daemonWith(setting, { EIP155_84532_SIGNERS: `${gasAddress}:kms:p256` });
  try {
    expect((await misfit.get("/health")).body.chains).toMatchObject([{ signing: false }]);
    expect((await misfit.settle(await pay(setting))).status).toBe(503);
  } finally {
    await misfit.stop();
  }
  const daemon = await daemonWith(setting);
  try {
    const body = await pay(setting);
    kms.behave("throttle");
    expect((await daemon.settle(body)).status).toBe(503);
    expect((await daemon.get("/health")).body.chains).toMatchObject([{ signing: true }]);
    kms.behave("answer");
    expect((await daemon.settle(body)).body).toMatchObject({ success: true });
  } finally {
    await daemon.stop();
  }
});

test("a payment that a node took and called underpriced never fails because its key is away for another try", async ({
  setting,
  kms,
}) => {
  const proxy = await startRpcProxy(setting.chain.rpcUrl);
  const daemon = await daemonWith(setting, { EIP155_84532_RPC_URL: proxy.url });
  try {
    proxy.behave((method) => {
      if (method !== "eth_sendRawTransaction") return "pass";
      kms.behave("fail");
      return "underpriced";
    });
    expect((await daemon.settle(await pay(setting))).status).toBe(200);
    const states = async () => (await daemon.context.db.query("select state from payments")).rows;
    await expect.poll(states).toEqual([{ state: "settled" }]);
  } finally {
    await daemon.stop();
    await proxy.stop();
  }
});
