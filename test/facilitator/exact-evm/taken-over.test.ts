import { createTestClient, createWalletClient, http, publicActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { createContext } from "../../../facilitator/compose.ts";
import { readConfig } from "../../../facilitator/config.ts";
import type { Context } from "../../../facilitator/context.ts";
import { parsePaymentRequest, type ReceivedPayment } from "../../../facilitator/payment-request.ts";
import { NetworkAwayError, type Payment, type Scheme } from "../../../facilitator/schemes/scheme.ts";
import { settle } from "../../../facilitator/settle.ts";
import type { Abandoned } from "../../../facilitator/settlements/payment-record.ts";
import { elapse } from "../../support/elapse.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { chainTest } from "../../support/fixtures.ts";
import { lapseAll } from "../../support/lapse.ts";
import { kept, perFile } from "../../support/part.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";
import { statementVariables } from "../../support/statements.ts";

/** A daemon in whose background nothing runs: what its reconciler and others' would do, the tests do. */
const test = chainTest()
  .extend("proxy", perFile, ({ setting }, { onCleanup }) => kept(startRpcProxy(setting.chain.rpcUrl), onCleanup))
  .extend("context", perFile, ({ setting, proxy }, { onCleanup }) =>
    kept(
      contextOn({ ...setting.variables, EIP155_84532_RPC_URL: proxy.url, EIP155_84532_RPC_TIMEOUT_MS: "30000" }),
      onCleanup,
    ),
  );

test.afterEach(({ proxy }) => proxy.behave(() => "pass"));

async function contextOn(variables: Record<string, string>): Promise<Context> {
  const context = await createContext(readConfig({ LOG_LEVEL: "silent", ...statementVariables, ...variables }));
  await context.schemes.start(context.log);
  return context;
}

const known = { isStranger: false };
const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const schemeOf = ({ schemes }: Context, { terms }: EvmSetting) => schemes.openOn(terms.network) as Scheme;
const payToHas = async ({ chain, terms }: EvmSetting) =>
  (await chain.balances(terms.payTo as `0x${string}`)).usdc as bigint;

/** The only payment under way, as the reconciler has it once its lease has run out. */
async function takenOver({ db, store, schemes }: Context): Promise<Abandoned> {
  await lapseAll(db);
  const [row] = await store.takeUnfinished(schemes.all[0]!.network, 1);
  return row as Abandoned;
}

/** Claims a payment, as a copy does that dies before it signs. */
async function claimOnly({ schemes, store }: Context, body: unknown): Promise<void> {
  const request = parsePaymentRequest(body) as ReceivedPayment;
  const scheme = schemes.openOn(request.network) as Scheme;
  const terms = { resourceUrl: undefined, termsDigest: undefined, listingRequest: undefined };
  const limits = { failuresMax: 0, failuresPerDayMax: 0 };
  await store.claim(request.network, scheme.scheme, scheme.decode(request) as Payment, { ...terms, ...limits });
}

/** So that the next transaction's nonce is too low. */
async function useKeyElsewhere({ chain, signer, variables }: EvmSetting): Promise<void> {
  const transport = http(chain.rpcUrl);
  const account = privateKeyToAccount(variables.EIP155_84532_SIGNERS as `0x${string}`);
  const hash = await createWalletClient({ account, transport }).sendTransaction({
    to: signer as `0x${string}`,
    value: 0n,
    chain: null,
  });
  await chain.receipt(hash);
}

test("a payment that was signed anew while the reconciler asked about what was signed first does not fail with that", async ({
  setting,
  proxy,
  context,
}) => {
  await useKeyElsewhere(setting);
  const body = await pay(setting);
  const isPending = (method: string, params: readonly unknown[]) =>
    method === "eth_getTransactionCount" && params[1] === "pending";
  proxy.behave((method, params) => (isPending(method, params) ? "hold" : "pass"));
  const settling = settle(context, body, known);
  await expect.poll(() => proxy.held()).toBe(1);
  const first = await takenOver(context);
  const verdict = await schemeOf(context, setting).find(first);
  expect(verdict).toMatchObject({ outcome: "failed", message: expect.stringContaining("displaced"), retryable: true });
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "hold" : "pass"));
  await expect.poll(() => proxy.held()).toBe(1);
  expect(await context.store.finish(first, verdict, 0, false)).toBe(false);
  proxy.behave(() => "pass");
  expect((await settling).response).toMatchObject({ success: true });
});

test.for(["refuse-late", "want-tip-late"] as const)(
  "a payment that the node refuses late, when the reconciler may have sent it to another, does not count as unsent: %s",
  async (fate, { setting, proxy, context }) => {
    const body = await pay(setting);
    const had = await payToHas(setting);
    proxy.behave((method) => (method === "eth_sendRawTransaction" ? fate : "pass"));
    const settling = settle(context, body, known);
    await expect.poll(() => proxy.held()).toBe(1);
    const row = await takenOver(context);
    proxy.behave(() => "pass");
    expect(await schemeOf(context, setting).find(row)).toMatchObject({ outcome: "unknown" });
    expect((await settling).response).toMatchObject({ success: true, transaction: row.transaction });
    expect(await payToHas(setting)).toBe(had + 10_000n);
  },
);

test("a copy that starts sends no payment that another copy is sending: what the node refuses that one did not move", async ({
  setting,
  proxy,
  context,
}) => {
  const body = await pay(setting);
  const had = await payToHas(setting);
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "refuse-late" : "pass"));
  const settling = settle(context, body, known);
  await expect.poll(() => proxy.held()).toBe(1);
  const started = await contextOn(setting.variables);
  await started.stop();
  proxy.behave(() => "pass");
  expect((await settling).response).toMatchObject({ success: false, transaction: "" });
  expect(await payToHas(setting)).toBe(had);
  expect((await settle(context, body, known)).response).toMatchObject({ success: true });
  expect(await payToHas(setting)).toBe(had + 10_000n);
});

test("a payment that the node refuses, and nobody else has, can be settled again", async ({
  setting,
  proxy,
  context,
}) => {
  const body = await pay(setting);
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "refuse-late" : "pass"));
  const settling = settle(context, body, known);
  await expect.poll(() => proxy.held()).toBe(1);
  proxy.behave(() => "pass");
  expect((await settling).response).toMatchObject({
    success: false,
    errorReason: "invalid_exact_evm_transaction_failed",
    transaction: "",
  });
  expect((await settle(context, body, known)).response).toMatchObject({ success: true });
});

test("a payment of ours that landed by what was signed first is ours, where what was signed anew reverted", async ({
  setting,
  proxy,
  context,
}) => {
  const body = await pay(setting);
  let isFirst = true;
  proxy.behave((method) => {
    if (method !== "eth_sendRawTransaction" || !isFirst) return "pass";
    isFirst = false;
    return "underpriced";
  });
  const { response } = await settle(context, body, known);
  expect(isFirst).toBe(false);
  expect(response).toMatchObject({ success: true });
  expect(response).not.toHaveProperty("landedByAnother");
  const { rows } = await context.db.query(
    "select landed_by_another, signed_transactions from payments where transaction_id = $1",
    [response.transaction],
  );
  expect(rows).toEqual([
    { landed_by_another: false, signed_transactions: [response.transaction, expect.stringMatching(/^0x/)] },
  ]);
});

test("a payment whose check took longer than a settlement may is not sent any more: it is 503, and can be settled later", async ({
  setting,
  proxy,
}) => {
  const variables = { ...setting.variables, EIP155_84532_RPC_URL: proxy.url, EIP155_84532_RPC_TIMEOUT_MS: "30000" };
  const context = await contextOn({ ...variables, SETTLE_TIMEOUT_MS: "5000" });
  try {
    const body = await pay(setting);
    const had = await payToHas(setting);
    proxy.behave(() => "hold");
    const settling = settle(context, body, known).catch((error) => error);
    await expect.poll(() => proxy.held()).toBeGreaterThan(0);
    await elapse(5_500, "longer than a settlement may take");
    proxy.behave(() => "pass");
    expect(await settling).toMatchObject({ code: "unavailable", message: expect.stringContaining("nothing was sent") });
    expect(await payToHas(setting)).toBe(had);
    const claims = "select from payments where payer = $1";
    const { from } = body.paymentPayload.payload.authorization;
    expect((await context.db.query(claims, [from])).rowCount).toBe(0);
    expect((await settle(context, body, known)).response).toMatchObject({ success: true });
  } finally {
    await context.stop();
  }
});

test("a payment that ran out is not said to have failed by a block that is not as deep as is asked for", async ({
  setting,
}) => {
  const tester = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(publicActions);
  const context = await contextOn({ ...setting.variables, EIP155_84532_CONFIRMATIONS: "3" });
  try {
    await tester.mine({ blocks: 5 });
    const { timestamp } = await tester.getBlock();
    const validBefore = String(timestamp + 600n);
    const buyer = await setting.fundedBuyer();
    const body = await paymentBody(buyer, setting.terms, { validBefore });
    await claimOnly(context, body);
    await tester.setNextBlockTimestamp({ timestamp: timestamp + 601n });
    await tester.mine({ blocks: 1 });
    const find = async () => schemeOf(context, setting).find(await takenOver(context));
    expect(await find()).toMatchObject({ outcome: "unknown" });
    await tester.mine({ blocks: 1 });
    expect(await find()).toMatchObject({ outcome: "unknown" });
    await tester.mine({ blocks: 1 });
    expect(await find()).toMatchObject({
      outcome: "failed",
      reason: "invalid_exact_evm_payload_authorization_valid_before",
    });
  } finally {
    await context.stop();
  }
});

test("a balance shows a settlement only where it was read at a block that has it", async ({
  setting,
  proxy,
  context,
}) => {
  const body = await pay(setting);
  const { transaction } = (await settle(context, body, known)).response;
  const scheme = schemeOf(context, setting);
  const payment = scheme.decode(parsePaymentRequest(body) as ReceivedPayment) as Payment;
  const shows = async (transactions: readonly string[]) => (await scheme.readBalance(payment, transactions)).shows;
  expect(await shows([transaction])).toBe(true);
  expect(await shows([transaction, `0x${"ab".repeat(32)}`])).toBe(false);
  // As a node behind the same address that is not so far.
  proxy.behave((method, params) => (method === "eth_call" && params[1] !== "latest" ? "internal-error" : "pass"));
  expect(await shows([transaction])).toBe(false);
});

test.for(["0x", null])(
  "a node that gives %s in place of an authorization's state has not said that it was never used",
  async (result, { setting, proxy }) => {
    const tester = createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(publicActions);
    const variables = { ...setting.variables, EIP155_84532_RPC_URL: proxy.url, SETTLE_TIMEOUT_MS: "1000" };
    const context = await contextOn(variables);
    try {
      const { timestamp } = await tester.getBlock();
      const validBefore = String(timestamp + 600n);
      const buyer = await setting.fundedBuyer();
      const body = await paymentBody(buyer, setting.terms, { validBefore });
      proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "null" : "pass"));
      expect((await settle(context, body, known)).response).toMatchObject({ errorReason: "settlement_pending" });
      await tester.setNextBlockTimestamp({ timestamp: timestamp + 601n });
      await tester.mine({ blocks: 1 });
      await lapseAll(context.db);
      const rows = await context.store.takeUnfinished(setting.terms.network, 10);
      const row = rows.find(({ key }) => key.includes(buyer.address.toLowerCase())) as Abandoned;
      proxy.behave((method) => {
        if (method === "eth_call") return { result };
        return method === "eth_getTransactionReceipt" ? "null" : "pass";
      });
      await expect(schemeOf(context, setting).find(row)).rejects.toThrow(NetworkAwayError);
      proxy.behave(() => "pass");
      expect(await schemeOf(context, setting).find(row)).toMatchObject({ outcome: "settled" });
    } finally {
      await context.stop();
    }
  },
);
