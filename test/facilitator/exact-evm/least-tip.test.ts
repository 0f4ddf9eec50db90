import { type Address, createPublicClient, type Hex, http, parseGwei, parseTransaction, toHex } from "viem";
import { expect } from "vitest";
import { documented } from "../../support/documented.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { startFacilitator } from "../../support/facilitator.ts";
import { proxiedEvmTest } from "../../support/fixtures.ts";
import type { RpcProxy } from "../../support/rpc-proxy.ts";

const test = proxiedEvmTest();
const leastTip = parseGwei("25");

const client = (setting: EvmSetting) => createPublicClient({ transport: http(setting.chain.rpcUrl) });
const sent = (setting: EvmSetting) => client(setting).getTransactionCount({ address: setting.signer as Address });
const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);

const geths = (tip: bigint) => `transaction underpriced: gas tip cap ${tip}, minimum needed ${leastTip}`;
const laterGeths = (tip: bigint) =>
  `transaction gas price below minimum: gas tip cap ${tip}, minimum needed ${leastTip}`;
const noncesOf = async ({ context: { db } }: Awaited<ReturnType<typeof daemonWith>>) =>
  (await db.query("select next_nonce, vacant from signer_nonces")).rows;

/** The daemon remembers what a node wants, so that each test has one of its own. */
async function daemonWith(setting: EvmSetting, changes: Record<string, string> = {}) {
  return documented(await startFacilitator({ ...setting.variables, ...changes }));
}

/** The node takes nothing under the least tip, in these words, and suggests that one. */
function wantsLeastTip(proxy: RpcProxy, words: (tip: bigint) => string): void {
  proxy.behave((method, [raw]) => {
    if (method === "eth_maxPriorityFeePerGas") return { result: toHex(leastTip) };
    if (method !== "eth_sendRawTransaction") return "pass";
    const { maxPriorityFeePerGas: tip = 0n } = parseTransaction(raw as Hex);
    return tip >= leastTip ? "pass" : { error: { code: -32000, message: words(tip) } };
  });
}

test.for<[string, (tip: bigint) => string]>([
  ["geth's words", geths],
  ["the words of its later versions", laterGeths],
  ["words that name no tip", () => "transaction underpriced"],
])(
  "a node that wants a least tip and says so in %s is given it: the first payment settles, under one nonce",
  async ([_words, words], { setting, proxy }) => {
    const daemon = await daemonWith(setting);
    try {
      const before = await sent(setting);
      wantsLeastTip(proxy, words);
      const { body } = await daemon.settle(await pay(setting));
      expect(body).toMatchObject({ success: true });
      const { maxPriorityFeePerGas } = await client(setting).getTransaction({ hash: body.transaction });
      expect(maxPriorityFeePerGas).toBeGreaterThanOrEqual(leastTip);
      expect(await sent(setting)).toBe(before + 1);
      const { rows } = await daemon.context.db.query("select next_nonce, vacant from signer_nonces");
      expect(rows).toEqual([{ next_nonce: BigInt(before + 1), vacant: [] }]);
      const handedIn = proxy.counts.get("eth_sendRawTransaction") ?? 0;
      expect((await daemon.settle(await pay(setting))).body).toMatchObject({ success: true });
      expect(proxy.counts.get("eth_sendRawTransaction")).toBe(handedIn + 1);
    } finally {
      await daemon.stop();
    }
  },
);

test("payments that meet a node's least tip together all settle, and leave no gap in the nonces", async ({
  setting,
  proxy,
}) => {
  const daemon = await daemonWith(setting);
  try {
    const before = await sent(setting);
    const bodies = await Promise.all(Array.from({ length: 12 }, () => pay(setting)));
    wantsLeastTip(proxy, geths);
    const answers = await Promise.all(bodies.map((body) => daemon.settle(body)));
    expect(answers.map(({ body }) => body).filter(({ success }) => !success)).toEqual([]);
    expect(await sent(setting)).toBe(before + bodies.length);
    expect(await noncesOf(daemon)).toEqual([{ next_nonce: BigInt(before + bodies.length), vacant: [] }]);
  } finally {
    await daemon.stop();
  }
});

test("a nonce of no payment is used up with the tip that the node wants, and does not hold up the payments after it", async ({
  setting,
  proxy,
}) => {
  const daemon = await daemonWith(setting);
  try {
    wantsLeastTip(proxy, laterGeths);
    expect((await daemon.settle(await pay(setting))).body).toMatchObject({ success: true });
    const before = await sent(setting);
    await daemon.context.db.query("update signer_nonces set next_nonce = next_nonce + 1");
    expect((await daemon.settle(await pay(setting))).body).toMatchObject({ success: true });
    expect(await sent(setting)).toBe(before + 2);
  } finally {
    await daemon.stop();
  }
});

test("a tip above what a fee payer may offer is 503 with Retry-After, blamed on no payer, and the same payment settles where it may be offered", async ({
  setting,
  proxy,
}) => {
  const body = await pay(setting);
  const before = await sent(setting);
  wantsLeastTip(proxy, geths);
  const thrifty = await daemonWith(setting, { EIP155_84532_FEE_PER_GAS_MAX_WEI: String(leastTip - 1n) });
  try {
    const answer = await thrifty.settle(body);
    expect(answer).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    const { db } = thrifty.context;
    const traces = await Promise.all(
      [
        "select from payments where payment_key like '%' || $1 and not (state = 'failed' and retryable and raw_transactions is null)",
        "select from payment_holds where payment_key like '%' || $1 and until > now()",
      ].map((text) => db.query(text, [body.paymentPayload.payload.authorization.nonce])),
    );
    expect(traces.map(({ rowCount }) => rowCount)).toEqual([0, 0]);
    const { from } = body.paymentPayload.payload.authorization;
    expect((await db.query("select from payer_failures where payer = $1", [from])).rowCount).toBe(0);
  } finally {
    await thrifty.stop();
  }
  expect(await sent(setting)).toBe(before);
  const daemon = await daemonWith(setting);
  try {
    expect((await daemon.settle(body)).body).toMatchObject({ success: true });
    expect(await sent(setting)).toBe(before + 1);
  } finally {
    await daemon.stop();
  }
});
