import { beforeEach, describe, expect, test } from "vitest";
import { AgentMarketplace, PaymentRefusedError, type SignedPayment } from "../../client/agent-marketplace.ts";
import { encodeHeader } from "../../client/payments/quote.ts";
import { showWallet, signInText } from "../../client/payments/sign-in.ts";
import { usdcOn } from "../../client/payments/stablecoins.ts";

const network = "eip155:84532";
const address = `0x${"1b".repeat(20)}`;
const accepts = [
  {
    ...{ scheme: "exact", network, asset: usdcOn[network], amount: "50000", payTo: `0x${"5a".repeat(20)}` },
    ...{ maxTimeoutSeconds: 180, extra: { name: "USDC", version: "2" } },
  },
];
const challenge = {
  info: {
    domain: "market.example",
    uri: "https://market.example/api/agent/ada/echo",
    version: "1",
    statement: "Show that this payment is yours.",
    nonce: "0123456789abcdef",
    issuedAt: "2026-01-01T00:00:00.000Z",
    expirationTime: "2026-01-01T00:10:00.000Z",
    resources: ["urn:x402:payment:eip155:84532:0x0:0x1:0x2", "urn:x402:input:sha256:00"],
  },
  supportedChains: [{ chainId: network, type: "eip191" }],
};

let signed: string[];
let posts: string[];
beforeEach(() => {
  signed = [];
  posts = [];
});

/** Buys of a service that says that the payment was used, and challenges its payer as told. */
function buy(challenged: unknown, sign = async (message: string) => `0x${"5c".repeat(65)}${message.slice(0, 0)}`) {
  const kept = new Map<string, SignedPayment>();
  const json = (status: number, body: object, headers: Record<string, string> = {}) =>
    new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
  const market = new AgentMarketplace({
    baseUrl: "https://market.example",
    maxRetries: 0,
    store: {
      load: (id) => kept.get(id),
      save: (payment) => void kept.set(payment.id, payment),
      remove: (id) => void kept.delete(id),
    },
    wallets: {
      evm: {
        address,
        signTypedData: async () => `0x${"5c".repeat(65)}`,
        signMessage: async ({ message }) => {
          signed.push(message);
          return sign(message);
        },
      },
    },
    fetch: async (_url: string | URL | Request, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      if (!headers.has("payment-signature"))
        return json(402, { error: "It costs 0.05." }, { "payment-required": encodeHeader({ resource: {}, accepts }) });
      posts.push(headers.get("sign-in-with-x") ?? "");
      if (headers.has("sign-in-with-x")) return json(200, { success: true, run_id: "run_1", output: { kind: "text" } });
      return json(402, { error: "already_settled: It was used.", extensions: { "sign-in-with-x": challenged } });
    },
  });
  const run = () => market.pay.run({ agent: "ada/echo", input: {}, max_usd: "0.05" }).catch((error: unknown) => error);
  return { run, kept };
}

test("the payer signs what the service asks, and has the result", async () => {
  const { run, kept } = buy(challenge);
  expect(await run()).toMatchObject({ success: true, run_id: "run_1" });
  expect(signed).toEqual([signInText(challenge, address)]);
  expect(posts).toHaveLength(2);
  expect(kept.size).toBe(0);
});

const { info, supportedChains } = challenge;
describe("nothing is signed", () => {
  test.for([
    ["for another host", { info: { ...info, domain: "bank.example" }, supportedChains }],
    ["for an address of another host", { info: { ...info, uri: "https://bank.example/" }, supportedChains }],
    ["for what is no payment", { info: { ...info, resources: ["https://bank.example/transfer"] }, supportedChains }],
    [
      "with lines hidden in a line",
      { info: { ...info, statement: "Yes.\n\nURI: https://bank.example" }, supportedChains },
    ],
    ["with characters that are not plain", { info: { ...info, nonce: "\u0012\u0004" }, supportedChains }],
    ["on another chain", { info, supportedChains: [{ chainId: "eip155:1", type: "eip191" }] }],
    ["without a chain", { info, supportedChains: [] }],
    ["of what cannot be read", { info: { ...info, resources: 1 }, supportedChains }],
    ["of nothing", null],
  ] as const)("%s, and the payment is told as used", async ([_what, challenged]) => {
    const error = await buy(challenged).run();
    expect(error).toBeInstanceOf(PaymentRefusedError);
    expect(error).toMatchObject({ reason: "already_settled", charged: true });
    expect(signed).toEqual([]);
    expect(posts).toEqual([""]);
  });
});

test("a wallet that does not sign this time loses nothing: the same call asks it again", async () => {
  let times = 0;
  const { run, kept } = buy(challenge, async () => {
    times += 1;
    if (times === 1) throw new Error("The device is locked.");
    return `0x${"5c".repeat(65)}`;
  });
  const error = await run();
  expect(error).toBeInstanceOf(PaymentRefusedError);
  expect(error).toMatchObject({ charged: true, cause: { message: "The device is locked." } });
  expect(kept.size).toBe(1);
  expect(await run()).toMatchObject({ success: true, run_id: "run_1" });
  expect(kept.size).toBe(0);
});

test("on Hedera the text is signed in a frame that no transaction has", async () => {
  const asked: Uint8Array[] = [];
  const key = {
    publicKey: { toBytesRaw: () => new Uint8Array(32) },
    sign: (bytes: Uint8Array) => {
      asked.push(bytes);
      return bytes;
    },
  };
  const onHedera = { info, supportedChains: [{ chainId: "hedera:testnet", type: "hedera" }] };
  await showWallet(onHedera, { network: "hedera:testnet", payer: "0.0.5" }, { hedera: { accountId: "0.0.5", key } });
  const text = signInText(onHedera, "0.0.5");
  expect(asked.map((bytes) => Buffer.from(bytes).toString())).toEqual([
    `\x19Hedera Signed Message:\n${text.length}${text}`,
  ]);
});
