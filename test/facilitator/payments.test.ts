import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Context } from "../../facilitator/context.ts";
import { documented } from "../support/documented.ts";
import { type EvmSetting, evmSetting } from "../support/evm-facilitator.ts";
import { paymentBody } from "../support/evm-payments.ts";
import { type RunningFacilitator, startFacilitator } from "../support/facilitator.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

let setting: EvmSetting;
let proxy: RpcProxy;
let facilitator: RunningFacilitator & { context: Context };

beforeAll(async () => {
  setting = await evmSetting({ SETTLE_TIMEOUT_MS: "2000", EIP155_84532_RPC_TIMEOUT_MS: "1000" });
  proxy = await startRpcProxy(setting.chain.rpcUrl);
  setting.variables.EIP155_84532_RPC_URL = proxy.url;
  facilitator = documented(await startFacilitator(setting.variables));
});

afterEach(() => proxy.behave(() => "pass"));

afterAll(async () => {
  await facilitator?.stop();
  await proxy?.stop();
  await setting?.stop();
});

test("a settled payment is found by its hash, in either case", async () => {
  const body = await paymentBody(await setting.fundedBuyer(), setting.terms);
  const { transaction, payer } = (await facilitator.settle(body)).body;
  const { status, headers, body: found } = await facilitator.get(`/payments/${transaction}`);
  expect(status).toBe(200);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(found).toEqual({
    state: "settled",
    network: "eip155:84532",
    transaction,
    payer,
    pay_to: expect.stringMatching(new RegExp(setting.terms.payTo, "i")),
    asset: expect.stringMatching(new RegExp(setting.terms.asset, "i")),
    amount_atomic: "10000",
    resource_url: "https://api.example.com/weather",
    error_reason: null,
    created_at: expect.any(String),
    expires_at: expect.any(String),
    finished_at: expect.any(String),
    explorer: null,
  });
  expect((await facilitator.get(`/payments/0x${transaction.slice(2).toUpperCase()}`)).body).toEqual(found);
  expect((await facilitator.get(`/payments/${transaction}?network=base-sepolia`)).body).toEqual(found);
  expect((await facilitator.get(`/payments/${transaction}?network=eip155:1`)).status).toBe(404);
});

test("a payment whose outcome nobody saw is broadcast or unknown, never failed, and then settled", async () => {
  proxy.behave((method) => (method === "eth_getTransactionReceipt" ? "lose-answer" : "pass"));
  const { body } = await facilitator.settle(await paymentBody(await setting.fundedBuyer(), setting.terms));
  expect(body.errorReason).toBe("settlement_pending");
  const pending = (await facilitator.get(`/payments/${body.transaction}`)).body;
  expect(["broadcast", "unknown"]).toContain(pending.state);
  expect(pending.finished_at).toBeNull();
  proxy.behave(() => "pass");
  const stateOf = async () => (await facilitator.get(`/payments/${body.transaction}`)).body.state;
  await expect.poll(stateOf, { timeout: 15_000 }).toBe("settled");
});

describe("on Hedera", () => {
  const id = "0.0.9999@1740672089.000000001";
  const insert = (state: string, transaction: string | null, network = "hedera:testnet") =>
    facilitator.context.db.query(
      `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                             transaction_id, expires_at, lease_until, error_reason)
       values ($1, $2, $3, gen_random_uuid(), 'exact', '0.0.7', '0.0.8', '0.0.429274', 5, $4, now(), now() + interval '1 hour',
               case when $3 = 'failed' then 'transaction_failed' end)`,
      [network, id, state, transaction],
    );

  test.each(["claimed", "broadcast", "unknown", "settled", "failed"])(
    "a payment that is %s is found by both forms of its transaction id",
    async (state) => {
      await facilitator.context.db.query("delete from payments where network like 'hedera:%'");
      await insert(state, state === "claimed" ? null : id);
      for (const form of [id, "0.0.9999-1740672089-000000001", "0.0.9999@1740672089.1", encodeURIComponent(id)]) {
        const { body } = await facilitator.get(`/payments/${form}`);
        expect(body).toMatchObject({ state, transaction: id, network: "hedera:testnet", payer: "0.0.7" });
      }
      const { body } = await facilitator.get(`/payments/${id}`);
      expect(body.error_reason).toBe(state === "failed" ? "transaction_failed" : null);
    },
  );

  test("the same id on two networks is told apart by the network", async () => {
    await facilitator.context.db.query("delete from payments where network like 'hedera:%'");
    await insert("settled", id);
    await insert("failed", id, "hedera:mainnet");
    expect((await facilitator.get(`/payments/${id}?network=hedera:testnet`)).body.state).toBe("settled");
    expect((await facilitator.get(`/payments/${id}?network=hedera:mainnet`)).body.state).toBe("failed");
    expect((await facilitator.get(`/payments/${id}`)).body.network).toBe("hedera:mainnet");
  });
});

test.each([
  `0x${"00".repeat(32)}`,
  "0.0.1@1.1",
  "0.0.1",
  "nothing",
  "0x12",
  "%00",
  "..%2f..%2fetc",
  `0.0.${"9".repeat(40)}@1.1`,
])("%s is 404", async (transaction) => {
  const { status, body } = await facilitator.get(`/payments/${transaction}`);
  expect(status).toBe(404);
  expect(body.error).toEqual(expect.any(String));
});
