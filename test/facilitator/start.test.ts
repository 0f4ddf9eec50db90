import { expect } from "vitest";
import { startEvmChain } from "../../infra/local-evm/chain.ts";
import type { LocalHedera } from "../../infra/local-hedera/local-hedera.ts";
import type { EvmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { chainsTest } from "../support/fixtures.ts";
import { type HederaTerms, hederaProof, hederaVariables } from "../support/hedera-payments.ts";
import { startHttpServer } from "../support/http-server.ts";
import { keptAll, part, perFile } from "../support/part.ts";
import { freshDatabase } from "../support/postgres.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

const test = chainsTest()
  .extend(
    "otherChain",
    perFile,
    part(() => startEvmChain({ chainId: 8453 })),
  )
  .extend("proxies", perFile, async ({ setting, otherChain }, { onCleanup }) => {
    const urls = [setting.chain.rpcUrl, otherChain.rpcUrl];
    const [own, other] = await keptAll(urls.map(startRpcProxy), onCleanup);
    return { own: own!, other: other! };
  });
test.afterEach(({ proxies }) => {
  for (const proxy of Object.values(proxies)) proxy.behave(() => "pass");
});

/** A daemon of both networks that comes up while its EVM node is away. */
function startWithoutNode(setting: EvmSetting, ledger: LocalHedera, proxy: RpcProxy) {
  proxy.behave(() => "lose-call");
  return startFacilitator({ ...setting.variables, ...hederaVariables(ledger), EIP155_84532_RPC_URL: proxy.url });
}

async function hederaPayment(ledger: LocalHedera): Promise<object> {
  const { buyer, creator, feePayer } = ledger.accounts;
  const terms: HederaTerms = {
    network: "hedera:testnet",
    asset: ledger.usdc,
    amount: "1000",
    payTo: creator.accountId,
    maxTimeoutSeconds: 120,
    extra: { feePayer: feePayer.accountId },
  };
  const quoted = { scheme: "exact", ...terms };
  return {
    paymentPayload: await hederaProof(buyer, quoted, { url: "https://a.example.com" }),
    paymentRequirements: quoted,
  };
}

test("a fee payer's money is told in the token that its network's fees are paid in, also while the network is away", async () => {
  const chains = { 1: "ETH", 137: "POL", 43114: "AVAX", 424242: "native" };
  const variables = Object.keys(chains).map((id) => ({
    [`EIP155_${id}_RPC_URL`]: "http://127.0.0.1:1",
    [`EIP155_${id}_SIGNERS`]: `0x${"59".repeat(32)}`,
    [`EIP155_${id}_ASSETS`]: `0x${"11".repeat(20)}`,
  }));
  const database = { FACILITATOR_DATABASE_URL: await freshDatabase("facilitator") };
  const daemon = await startFacilitator(Object.assign(database, ...variables));
  try {
    const { body } = await daemon.get("/health");
    const units = body.chains.map(({ network, unit }: Record<string, string>) => [network, unit]);
    expect(units).toEqual(Object.entries(chains).map(([id, unit]) => [`eip155:${id}`, unit]));
  } finally {
    await daemon.stop();
  }
});

test("a network that is away when the daemon starts is closed until it is there; the others are served", async ({
  setting,
  ledger,
  proxies,
}) => {
  const daemon = await startWithoutNode(setting, ledger, proxies.own);
  try {
    expect((await daemon.settle(await hederaPayment(ledger))).body).toMatchObject({ success: true });
    const payment = await paymentBody(await setting.fundedBuyer(), setting.terms);
    for (const verb of [daemon.verify, daemon.settle]) {
      expect(await verb(payment)).toMatchObject({
        status: 503,
        body: { error: expect.stringContaining("eip155:84532") },
      });
    }
    expect(await daemon.get("/readyz")).toMatchObject({
      status: 200,
      body: { networks: { "eip155:84532": false, "hedera:testnet": true } },
    });
    expect((await daemon.get("/health")).status).toBe(503);
    expect((await daemon.get("/supported")).body.kinds.length).toBeGreaterThan(3);

    proxies.own.behave(() => "pass");
    await expect.poll(async () => (await daemon.verify(payment)).status).toBe(200);
    expect((await daemon.settle(payment)).body).toMatchObject({ success: true });
    expect((await daemon.get("/health")).status).toBe(200);
  } finally {
    await daemon.stop();
  }
});

test("one that turns out to be another network stays closed, and nothing is concluded from what it says", async ({
  setting,
  ledger,
  proxies,
}) => {
  const daemon = await startWithoutNode(setting, ledger, proxies.other);
  try {
    const { db } = daemon.context;
    const { payTo, asset } = setting.terms;
    await db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                             transaction_id, raw_transactions, fee_payer, nonce, expires_at, lease_until)
       values ('eip155:84532', lower($2 || ':' || $1 || ':0x1'), 'broadcast', gen_random_uuid(), 'exact', $1, $1, $2, 1,
               '0x1', array['\\x00'::bytea], $1, 0, now() - interval '1 hour', now())`,
      [payTo, asset],
    );
    const before = proxies.other.counts.get("eth_chainId") ?? 0;
    proxies.other.behave(() => "pass");
    await expect.poll(() => proxies.other.counts.get("eth_chainId")).toBeGreaterThan(before + 1);
    const payment = await paymentBody(await setting.fundedBuyer(), setting.terms);
    expect((await daemon.verify(payment)).status).toBe(503);
    expect((await db.query("select state from payments where transaction_id = '0x1'")).rows).toEqual([
      { state: "broadcast" },
    ]);
  } finally {
    await daemon.stop();
  }
});

test.for(["lose-call", "refuse"] as const)(
  "a daemon whose networks are all away (%s) starts unready, goes on trying, and settles",
  async (fate, { setting, proxies }) => {
    proxies.own.behave(() => fate);
    const variables = { ...setting.variables, EIP155_84532_RPC_URL: proxies.own.url };
    const daemon = await startFacilitator(variables);
    try {
      const payment = await paymentBody(await setting.fundedBuyer(), setting.terms);
      expect(await daemon.get("/livez")).toMatchObject({ status: 200 });
      expect(await daemon.get("/readyz")).toMatchObject({ status: 503, body: { ready: false, database: true } });
      expect(await daemon.get("/health")).toMatchObject({
        status: 503,
        body: { chains: [{ settling: false, balance: null }] },
      });
      for (const answer of [await daemon.verify(payment), await daemon.settle(payment)]) {
        expect(answer).toMatchObject({ status: 503, body: { error: expect.stringContaining("eip155:84532") } });
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      proxies.own.behave(() => "pass");
      await expect.poll(async () => (await daemon.get("/readyz")).status).toBe(200);
      expect((await daemon.settle(payment)).body).toMatchObject({ success: true });
    } finally {
      await daemon.stop();
    }
  },
);

test("what is configured wrongly keeps a daemon from starting, also while another network is away", async ({
  setting,
  otherChain,
  proxies,
}) => {
  proxies.own.behave(() => "lose-call");
  const start = startFacilitator({
    ...setting.variables,
    EIP155_84532_RPC_URL: proxies.own.url,
    EIP155_43113_RPC_URL: otherChain.rpcUrl,
    EIP155_43113_SIGNERS: setting.variables.EIP155_84532_SIGNERS as string,
  });
  await expect(start).rejects.toThrow("EIP155_43113_RPC_URL is a node of chain 8453");
});

test("a mirror without a list of nodes is no reason not to start: the configured nodes are used", async ({
  ledger,
}) => {
  const mirror = await startHttpServer(async (request, response) => {
    if (request.url?.startsWith("/api/v1/network/nodes")) return void response.writeHead(404).end("{}");
    const answer = await fetch(ledger.mirrorUrl + request.url);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  const FACILITATOR_DATABASE_URL = await freshDatabase("facilitator");
  const daemon = await startFacilitator({
    FACILITATOR_DATABASE_URL,
    ...hederaVariables(ledger),
    HEDERA_TESTNET_MIRROR: mirror.url,
  });
  try {
    expect((await daemon.get("/readyz")).status).toBe(200);
    expect((await daemon.settle(await hederaPayment(ledger))).body).toMatchObject({ success: true });
  } finally {
    await daemon.stop();
    await mirror.stop();
  }
});
