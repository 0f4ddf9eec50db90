import { createWalletClient, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { createContext } from "../../../facilitator/compose.ts";
import { readConfig } from "../../../facilitator/config.ts";
import type { Context } from "../../../facilitator/context.ts";
import type { Scheme } from "../../../facilitator/schemes/scheme.ts";
import { settle } from "../../../facilitator/settle.ts";
import type { Abandoned } from "../../../facilitator/settlements/payment-record.ts";
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

const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const schemeOf = ({ schemes }: Context, { terms }: EvmSetting) => schemes.openOn(terms.network) as Scheme;
const payToHas = async ({ chain, terms }: EvmSetting) =>
  (await chain.balances(terms.payTo as `0x${string}`)).usdc as bigint;

/** The only payment under way, as the reconciler has it once its lease has run out. */
async function takenOver({ db, store }: Context): Promise<Abandoned> {
  await lapseAll(db);
  const [row] = await store.takeUnfinished(1);
  return row as Abandoned;
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
  const settling = settle(context, body);
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

test("a payment that the node refuses late, when the reconciler may have sent it to another, does not count as unsent", async ({
  setting,
  proxy,
  context,
}) => {
  const body = await pay(setting);
  const had = await payToHas(setting);
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "refuse-late" : "pass"));
  const settling = settle(context, body);
  await expect.poll(() => proxy.held()).toBe(1);
  const row = await takenOver(context);
  proxy.behave(() => "pass");
  expect(await schemeOf(context, setting).find(row)).toMatchObject({ outcome: "unknown" });
  expect((await settling).response).toMatchObject({ success: true, transaction: row.transaction });
  expect(await payToHas(setting)).toBe(had + 10_000n);
});

test("a payment that the node refuses, and nobody else has, can be settled again", async ({
  setting,
  proxy,
  context,
}) => {
  const body = await pay(setting);
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "refuse-late" : "pass"));
  const settling = settle(context, body);
  await expect.poll(() => proxy.held()).toBe(1);
  proxy.behave(() => "pass");
  expect((await settling).response).toMatchObject({
    success: false,
    errorReason: "invalid_exact_evm_transaction_failed",
    transaction: "",
  });
  expect((await settle(context, body)).response).toMatchObject({ success: true });
});
