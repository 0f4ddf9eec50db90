import { createPublicClient, createTestClient, createWalletClient, http, publicActions, walletActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { describe, expect } from "vitest";
import { usdcStandIn } from "../../../infra/local-evm/artifacts.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { startFacilitator } from "../../support/facilitator.ts";
import { evmTest } from "../../support/fixtures.ts";

const test = evmTest({ EIP155_84532_BUMP_AFTER_MS: "500" });

const tester = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
const signerWallet = (setting: EvmSetting) =>
  createWalletClient({
    account: privateKeyToAccount(setting.variables.EIP155_84532_SIGNERS as `0x${string}`),
    transport: http(setting.chain.rpcUrl),
  });
const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const sent = (setting: EvmSetting) => tester(setting).getTransactionCount({ address: setting.signer as `0x${string}` });

/** As EIP-3009 allows every account that has seen the authorization. */
async function submitByAnother(setting: EvmSetting, body: Awaited<ReturnType<typeof paymentBody>>): Promise<string> {
  const { authorization, signature } = body.paymentPayload.payload;
  const stranger = `0x${"5".repeat(40)}` as const;
  await setting.chain.fund(stranger, { wei: 10n ** 18n });
  await tester(setting).impersonateAccount({ address: stranger });
  const hash = await tester(setting).writeContract({
    address: setting.chain.usdc,
    abi: usdcStandIn.abi,
    functionName: "transferWithAuthorization",
    args: [
      authorization.from,
      authorization.to,
      BigInt(authorization.value),
      BigInt(authorization.validAfter),
      BigInt(authorization.validBefore),
      authorization.nonce,
      signature,
    ],
    account: stranger,
    chain: null,
  });
  await setting.chain.receipt(hash);
  return hash;
}

describe("a signer's transactions", () => {
  test("transactions stuck on their fee are sent again with a higher one, under the same nonce, and settle once", async ({
    setting,
    facilitator,
  }) => {
    const before = await sent(setting);
    const body = await pay(setting);
    await tester(setting).setAutomine(false);
    const settling = facilitator.settle(body);
    const waiting = async () => {
      const { pending } = await tester(setting).getTxpoolContent();
      const own = Object.entries(pending).find(([address]) => address.toLowerCase() === setting.signer.toLowerCase());
      return Object.values(own?.[1] ?? {});
    };
    const fees = async () => (await waiting()).map(({ maxFeePerGas }) => BigInt(maxFeePerGas ?? 0n));
    await expect.poll(fees, { interval: 20 }).toHaveLength(1);
    const [first = 0n] = await fees();
    const [replaced] = await waiting();
    await expect
      .poll(async () => (await fees())[0])
      .toBeGreaterThanOrEqual((first * 125n) / 100n)
      .finally(() => tester(setting).setAutomine(true));
    await tester(setting).mine({ blocks: 1 });
    const { body: answer } = await settling;
    expect(answer).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x/) });
    const receipt = await tester(setting).getTransactionReceipt({ hash: answer.transaction });
    expect(receipt.status).toBe("success");
    expect(await sent(setting)).toBe(before + 1);
    // Callers were told of the first, and explorers show the others.
    expect(replaced?.hash).not.toBe(answer.transaction);
    const found = await facilitator.get(`/payments/${replaced?.hash}`);
    expect(found).toMatchObject({ status: 200, body: { state: "settled", transaction: answer.transaction } });
    const page = await fetch(`${facilitator.url}/tx/${replaced?.hash}`, { headers: { accept: "text/html" } });
    expect(await page.text()).toContain(answer.transaction);
    expect((await facilitator.get(`/payments/${replaced?.hash}?network=eip155:1`)).status).toBe(404);
  });

  test("go on after the key was used by something else", async ({ setting, facilitator }) => {
    const hash = await signerWallet(setting).sendTransaction({
      to: setting.signer as `0x${string}`,
      value: 0n,
      chain: null,
    });
    await setting.chain.receipt(hash);
    const body = await pay(setting);
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  });

  test("a transaction that the node refuses gives its nonce back, and the next one is not stuck", async ({
    setting,
    facilitator,
  }) => {
    const { address } = privateKeyToAccount(setting.variables.EIP155_84532_SIGNERS as `0x${string}`);
    const balance = await tester(setting).getBalance({ address });
    await tester(setting).setBalance({ address, value: 1n });
    const bodies = await Promise.all([pay(setting), pay(setting), pay(setting)]);
    const refused = await Promise.all(bodies.map((body) => facilitator.settle(body)));
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
    await tester(setting).setBalance({ address, value: balance });
    const isSettling = async () => (await facilitator.get("/health")).body.chains[0].settling;
    await expect.poll(isSettling).toBe(true);
    const before = await sent(setting);
    const answers = await Promise.all(bodies.map((body) => facilitator.settle(body)));
    expect(answers.map(({ body }) => body.success)).toEqual([true, true, true]);
    expect(await sent(setting)).toBe(before + 3);
  });

  test("a gap left by a nonce that was given back while later ones are out is filled", async ({
    setting,
    facilitator,
  }) => {
    await facilitator.context.db.query(
      "update signer_nonces set vacant = array[next_nonce], next_nonce = next_nonce + 1",
    );
    const body = await pay(setting);
    // The vacant nonce is used first, so nothing has to be filled.
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
    const before = await sent(setting);
    await facilitator.context.db.query(
      "update signer_nonces set next_nonce = next_nonce + 2, vacant = array[next_nonce]",
    );
    await expect.poll(() => sent(setting)).toBe(before + 1);
    // The later one was made up.
    await facilitator.context.db.query("update signer_nonces set next_nonce = next_nonce - 1");
  });
});

test("a settled payment that a reorganisation takes back is put on the chain again, the same transaction", async ({
  setting,
  facilitator,
}) => {
  const balance = () =>
    tester(setting).readContract({
      address: setting.chain.usdc,
      abi: usdcStandIn.abi,
      functionName: "balanceOf",
      args: [setting.terms.payTo as `0x${string}`],
    });
  const body = await pay(setting);
  const snapshot = await tester(setting).snapshot();
  const before = (await balance()) as bigint;
  const { body: answer } = await facilitator.settle(body);
  expect(answer).toMatchObject({ success: true });
  const { transaction } = answer;
  expect(await balance()).toBe(before + 10_000n);
  // What is sent again waits until it was seen that it was gone.
  await tester(setting).setAutomine(false);
  try {
    await tester(setting).revert({ id: snapshot });
    expect(await balance()).toBe(before);
  } finally {
    await tester(setting).setAutomine(true);
    await tester(setting).mine({ blocks: 1 });
  }
  await expect.poll(balance).toBe(before + 10_000n);
  expect((await tester(setting).getTransactionReceipt({ hash: transaction })).status).toBe("success");
});

describe("a payment that somebody else submitted", () => {
  test("a payment that another account submitted is not a success of ours, and is told with the transaction in which it was settled", async ({
    setting,
    facilitator,
  }) => {
    const body = await pay(setting);
    const transaction = await submitByAnother(setting, body);
    expect((await facilitator.settle(body)).body).toMatchObject({
      success: false,
      errorReason: "already_settled",
      transaction,
    });
    expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false, invalidReason: "already_settled" });
  });
});

test("gas that costs more than the limit settles nothing, takes no nonce and says so", async ({ setting }) => {
  const thrifty = await startFacilitator({ ...setting.variables, EIP155_84532_FEE_PER_GAS_MAX_WEI: "1" });
  try {
    const client = createPublicClient({ transport: http(setting.chain.rpcUrl) });
    const before = await client.getTransactionCount({ address: setting.signer as `0x${string}` });
    const body = await pay(setting);
    expect(await thrifty.settle(body)).toMatchObject({
      status: 503,
      body: { success: false, transaction: "", errorMessage: expect.stringContaining("network fees are higher") },
    });
    expect(await client.getTransactionCount({ address: setting.signer as `0x${string}` })).toBe(before);
  } finally {
    await thrifty.stop();
  }
});
