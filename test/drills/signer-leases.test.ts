import { createTestClient, http, parseEther, publicActions } from "viem";
import { english, generateMnemonic, generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { type MockKms, startMockKms } from "../../infra/mock-kms/server.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { type RunningFacilitator, spawnFacilitator, startFacilitator } from "../support/facilitator.ts";
import { chainTest } from "../support/fixtures.ts";
import { lapseAll } from "../support/lapse.ts";
import { freshDatabase } from "../support/postgres.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

const mnemonic = generateMnemonic(english);
const addresses = [0, 1, 2, 3].map((addressIndex) => mnemonicToAccount(mnemonic, { addressIndex }).address);
const seeded = { EIP155_84532_SIGNERS: "", EIP155_84532_FEE_PAYER_SEED: mnemonic, EIP155_84532_FEE_PAYER_COUNT: "4" };

const test = chainTest();
test.beforeAll(({ setting }) =>
  Promise.all(addresses.map((address) => setting.chain.fund(address, { wei: parseEther("10") }))),
);

const newVariables = async (setting: EvmSetting, changes: Record<string, string>) => ({
  ...setting.variables,
  FACILITATOR_DATABASE_URL: await freshDatabase("facilitator"),
  ...changes,
});
const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const chain = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(publicActions);
const chains = async (copy: RunningFacilitator) =>
  (await copy.get("/health")).body.chains as Array<{ feePayer: string; leased: boolean; balance: number | null }>;
const leasedBy = async (copy: RunningFacilitator) =>
  (await chains(copy)).flatMap(({ feePayer, leased }) => (leased ? [feePayer] : [])).toSorted();

/** A proxy of the node that notes for which fee payers nonces are maintained through it. */
async function watchedNode(setting: EvmSetting) {
  const proxy = await startRpcProxy(setting.chain.rpcUrl);
  const maintained = new Set<string>();
  proxy.behave((method, [address, block]) => {
    if (method === "eth_getTransactionCount" && block === "latest") maintained.add(String(address));
    return "pass";
  });
  return { ...proxy, maintained };
}

test("each fee payer is looked after by one copy; all copies know its balance and send; one that is told to stop hands over its own", async ({
  setting,
}) => {
  const variables = await newVariables(setting, seeded);
  const nodes = await Promise.all([watchedNode(setting), watchedNode(setting)]);
  const [first, second] = await Promise.all([
    startFacilitator({ ...variables, EIP155_84532_RPC_URL: nodes[0].url }),
    spawnFacilitator({ ...variables, EIP155_84532_RPC_URL: nodes[1].url }),
  ]);
  try {
    const held = () => Promise.all([first, second].map(leasedBy));
    await expect.poll(async () => (await held()).flat().toSorted()).toEqual(addresses.toSorted());
    for (const copy of [first, second]) {
      for (const { balance } of await chains(copy)) expect(balance).toBeGreaterThan(9);
      expect((await copy.settle(await pay(setting))).body).toMatchObject({ success: true });
    }
    // In one look, since a stall of this machine can make a lease change hands.
    const look = async () => {
      for (const { maintained } of nodes) maintained.clear();
      const seen = () => nodes.map(({ maintained }) => [...maintained].toSorted());
      await expect.poll(() => seen().flat().length).toBeGreaterThanOrEqual(4);
      return JSON.stringify(await held()) === JSON.stringify(seen());
    };
    await expect.poll(look).toBe(true);
    await second.stop();
    const { rows } = await first.context.db.query("select from network_copies");
    expect(rows).toHaveLength(1);
    await expect.poll(() => leasedBy(first)).toEqual(addresses.toSorted());
  } finally {
    await Promise.all([first.stop(), second.stop()]);
    await Promise.all(nodes.map((node) => node.stop()));
  }
});

test("a copy killed while its KMS signs leaves no gap; another settles at once what comes, and takes over when the lease ends", async ({
  setting,
}) => {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await setting.chain.fund(address, { wei: parseEther("10") });
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
  const kms: MockKms = await startMockKms({ keys: { gas: Buffer.from(key.slice(2), "hex") }, ...credentials });
  const variables = await newVariables(setting, {
    EIP155_84532_SIGNERS: `${address}:kms:gas`,
    KMS_ENDPOINT: kms.url,
    KMS_ACCESS_KEY_ID: credentials.accessKeyId,
    KMS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    KMS_TIMEOUT_MS: "5000",
  });
  const killed = await spawnFacilitator(variables);
  const stop = [kms.stop, killed.stop];
  try {
    await expect.poll(() => leasedBy(killed)).toEqual([address]);
    expect((await killed.settle(await pay(setting))).body).toMatchObject({ success: true });
    const body = await pay(setting);
    kms.behave("hang");
    const interrupted = killed.settle(body).catch(() => undefined);
    await expect.poll(() => kms.waiting()).toBeGreaterThan(0);
    killed.process.kill("SIGKILL");
    await interrupted;
    kms.behave("answer");
    const next = await startFacilitator(variables);
    stop.push(next.stop);
    const { db } = next.context;
    expect((await next.settle(await pay(setting))).body).toMatchObject({ success: true });
    // As waiting would.
    await db.query("update network_copies set lease_until = now()");
    await expect.poll(() => leasedBy(next)).toEqual([address]);
    await lapseAll(db);
    await expect.poll(async () => (await next.settle(body)).body.success).toBe(true);
    expect(await chain(setting).getTransactionCount({ address })).toBe(3);
    // A gap that no copy knows of is filled by the copy that holds the lease now.
    await db.query("update signer_nonces set next_nonce = next_nonce + 1");
    expect((await next.settle(await pay(setting))).body).toMatchObject({ success: true });
    expect(await chain(setting).getTransactionCount({ address })).toBe(5);
  } finally {
    for (const end of stop.toReversed()) await end();
  }
});

test("a fee payer goes to a copy that can sign with its key", async ({ setting }) => {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await setting.chain.fund(address, { wei: parseEther("10") });
  const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" };
  const keys = { gas: Buffer.from(key.slice(2), "hex") };
  const kmses = await Promise.all([startMockKms({ keys, ...credentials }), startMockKms({ keys, ...credentials })]);
  const variables = await newVariables(setting, {
    EIP155_84532_SIGNERS: `${address}:kms:gas`,
    KMS_ACCESS_KEY_ID: credentials.accessKeyId,
    KMS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    KMS_TIMEOUT_MS: "5000",
  });
  const copies: RunningFacilitator[] = [];
  try {
    const [away, there] = kmses as [MockKms, MockKms];
    const first = await startFacilitator({ ...variables, KMS_ENDPOINT: away.url });
    copies.push(first);
    await expect.poll(() => leasedBy(first)).toEqual([address]);
    const second = await startFacilitator({ ...variables, KMS_ENDPOINT: there.url });
    copies.push(second);
    away.behave("fail");
    expect((await first.settle(await pay(setting))).status).toBe(503);
    await expect.poll(() => Promise.all(copies.map(leasedBy))).toEqual([[], [address]]);
    expect((await second.settle(await pay(setting))).body).toMatchObject({ success: true });
  } finally {
    await Promise.all(copies.map((copy) => copy.stop()));
    await Promise.all(kmses.map((kms) => kms.stop()));
  }
});
