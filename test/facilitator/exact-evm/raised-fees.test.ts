import { createTestClient, http, parseGwei, publicActions } from "viem";
import { expect } from "vitest";
import { EvmChain } from "../../../facilitator/schemes/exact-evm/chain.ts";
import { forgetFinal } from "../../../facilitator/schemes/exact-evm/forget-final.ts";
import { JsonRpc } from "../../../facilitator/schemes/exact-evm/rpc.ts";
import { elapse } from "../../support/elapse.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { proxiedEvmTest } from "../../support/fixtures.ts";

const limit = parseGwei("40");
const test = proxiedEvmTest({
  EIP155_84532_BUMP_AFTER_MS: "1000",
  EIP155_84532_FEE_PER_GAS_MAX_WEI: String(limit),
});

test.afterEach(async ({ setting, proxy }) => {
  proxy.behave(() => "pass");
  await tester(setting).setAutomine(true);
});

const tester = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).extend(publicActions);
const pay = async (setting: EvmSetting) => paymentBody(await setting.fundedBuyer(), setting.terms);
const mineAt = async (setting: EvmSetting, baseFee: string) => {
  await tester(setting).setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei(baseFee) });
  await tester(setting).mine({ blocks: 1 });
};

test("a transaction whose gas became dearer than half of the limit is raised to the limit, and lands below it", async ({
  setting,
  facilitator,
}) => {
  const body = await pay(setting);
  await mineAt(setting, "10");
  await elapse(1_100, "a price of gas is believed for a second");
  await tester(setting).setAutomine(false);
  const settling = facilitator.settle(body);
  const offered = async () => {
    const { pending } = await tester(setting).getTxpoolContent();
    const own = Object.entries(pending).find(([address]) => address.toLowerCase() === setting.signer.toLowerCase());
    return Object.values(own?.[1] ?? {}).map(({ maxFeePerGas }) => BigInt(maxFeePerGas ?? 0n));
  };
  await expect.poll(offered, { interval: 20, timeout: 10_000 }).toHaveLength(1);
  await mineAt(setting, "35");
  await expect.poll(offered, { timeout: 10_000 }).toEqual([limit]);
  await mineAt(setting, "38");
  expect((await settling).body).toMatchObject({ success: true });
});

test.for(["refuse-late", "underpriced-late"] as const)(
  "a refusal (%s) that comes after a dearer transaction was sent takes nothing back: the payment lands once, and is told so",
  async (refusal, { setting, proxy, facilitator }) => {
    await mineAt(setting, "1");
    const body = await pay(setting);
    let sent = 0;
    const count = (method: string) => method === "eth_sendRawTransaction" && ++sent === 1;
    proxy.behave((method) => (count(method) ? refusal : "pass"));
    const settling = facilitator.settle(body);
    await expect.poll(() => sent, { interval: 50, timeout: 10_000 }).toBe(2);
    proxy.behave((method) => (count(method) ? refusal : "pass"));
    expect((await settling).body).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x/) });
    const { rows } = await facilitator.context.db.query("select state from payments order by id desc limit 1");
    expect(rows).toEqual([{ state: "settled" }]);
    expect(sent).toBe(2);
  },
);

test("gas that became dearer since its price was read, and less than the limit, is paid for at once", async ({
  setting,
  facilitator,
}) => {
  await mineAt(setting, "1");
  const bodies = [await pay(setting), await pay(setting)];
  expect((await facilitator.settle(bodies[0])).body).toMatchObject({ success: true });
  await mineAt(setting, "15");
  expect((await facilitator.settle(bodies[1])).body).toMatchObject({ success: true });
});

test("a settled payment that a reorganisation takes back while gas becomes dearer lands again, holds up no other, and is on record by what landed", async ({
  setting,
  facilitator,
}) => {
  await mineAt(setting, "1");
  await elapse(1_100, "a price of gas is believed for a second");
  const bodies = [await pay(setting), await pay(setting)];
  const paid = async () => (await setting.chain.balances(setting.terms.payTo as `0x${string}`)).usdc;
  const before = await paid();
  const snapshot = await tester(setting).snapshot();
  const { body: told } = await facilitator.settle(bodies[0]);
  expect(told).toMatchObject({ success: true });
  await tester(setting).setAutomine(false);
  await tester(setting).revert({ id: snapshot });
  await mineAt(setting, "15");
  await tester(setting).setAutomine(true);
  expect((await facilitator.settle(bodies[1])).body).toMatchObject({ success: true });
  expect(await paid()).toBe(before + 20_000n);

  await tester(setting).increaseTime({ seconds: 3_600 });
  await tester(setting).mine({ blocks: 200 });
  const rpc = new JsonRpc(setting.chain.rpcUrl, 10_000);
  const parts = {
    chain: new EvmChain(rpc, 200_000n),
    config: { confirmations: 1 },
    db: facilitator.context.db,
    log: facilitator.context.log,
  };
  await forgetFinal(setting.signer, setting.terms.network, parts).finally(() => rpc.stop());
  const { transaction } = (await facilitator.get(`/payments/${told.transaction}`)).body;
  expect(transaction).not.toBe(told.transaction);
  expect((await setting.chain.receipt(transaction)).status).toBe("success");
  const { rows } = await facilitator.context.db.query("select tx_id from transactions where tx_id = any($1)", [
    [transaction, told.transaction],
  ]);
  expect(rows).toEqual([{ tx_id: transaction }]);
});
