import { createTestClient, http, publicActions, walletActions } from "viem";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type EvmSetting, evmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import { startFacilitator } from "../../support/facilitator.ts";
import { lapseAll } from "../../support/lapse.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

let setting: EvmSetting;
let proxy: RpcProxy;
let facilitator: Awaited<ReturnType<typeof startFacilitator>>;

beforeAll(async () => {
  setting = await evmSetting({ EIP155_84532_BUMP_AFTER_MS: "1000" });
  proxy = await startRpcProxy(setting.chain.rpcUrl);
  setting.variables.EIP155_84532_RPC_URL = proxy.url;
  facilitator = await startFacilitator(setting.variables);
});

afterEach(async () => {
  proxy.behave(() => "pass");
  await tester().setAutomine(true);
});

afterAll(async () => {
  await facilitator?.stop();
  await proxy?.stop();
  await setting?.stop();
});

const tester = () =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
const signer = () => setting.signer as `0x${string}`;
const sent = () => tester().getTransactionCount({ address: signer() });
const rows = async (sql: string) => (await facilitator.context.db.query(sql)).rows;
const pay = async (changes = {}) => paymentBody(await setting.fundedBuyer(), setting.terms, changes);
const settled = async () => (await facilitator.settle(await pay())).body;
const shortLivedSeconds = 120;
const shortLived = () => pay({ validBefore: String(Math.floor(Date.now() / 1_000) + shortLivedSeconds) });
const mineUntilFailed = async (count: number) => {
  const failed = async () => {
    await tester().mine({ blocks: 1 });
    await lapseAll(facilitator.context.db);
    return (await rows("select from payments where state = 'failed' and nonce is not null")).length;
  };
  await expect.poll(failed, { interval: 500 }).toBe(count);
};

test("payments whose transactions were lost until their authorizations ran out do not hold up those that come after", async () => {
  const before = await sent();
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "lose-call" : "pass"));
  const lost = [await shortLived(), await shortLived()].map((body) => facilitator.settle(body));
  const live = pay().then((body) => facilitator.settle(body));
  await expect.poll(async () => (await rows("select from payments where state = 'broadcast'")).length).toBe(3);
  // Waiting would take as long.
  await tester().increaseTime({ seconds: shortLivedSeconds });
  await mineUntilFailed(2);
  proxy.behave(() => "pass");
  for (const { body } of await Promise.all(lost)) expect(body).toMatchObject({ success: false });
  expect((await live).body.errorReason ?? "settled").toMatch(/settled|settlement_pending/);
  expect(await settled()).toMatchObject({ success: true });
  await expect.poll(sent).toBe(before + 4);
  await expect.poll(() => rows("select from payments where state <> 'settled' and state <> 'failed'")).toEqual([]);
});

test("a failed payment's transaction that waits in a pool after all is outbid, and again when that one waits too", async () => {
  const body = await pay();
  await tester().setAutomine(false);
  const nonce = BigInt(await sent());
  const settling = facilitator.settle(body);
  const waiting = async () => {
    const { pending } = await tester().getTxpoolContent();
    const own = Object.entries(pending).find(([address]) => address.toLowerCase() === signer().toLowerCase());
    const found = own?.[1][String(nonce)];
    return found && { to: found.to?.toLowerCase(), offered: BigInt(found.maxFeePerGas ?? 0n) };
  };
  await expect.poll(waiting, { interval: 20 }).toBeDefined();
  const first = (await waiting())?.offered ?? 0n;
  await rows(`update payments set state = 'failed', finished_at = now() where nonce = ${nonce}`);
  await settling;
  const outbid = async (than: bigint) => {
    const { to, offered = 0n } = (await waiting()) ?? {};
    return to === signer().toLowerCase() && offered >= (than * 125n) / 100n;
  };
  await expect.poll(() => outbid(first)).toBe(true);
  await expect.poll(() => outbid((first * 125n) / 100n)).toBe(true);
  await tester().setAutomine(true);
  await tester().mine({ blocks: 1 });
  expect(await settled()).toMatchObject({ success: true });
  expect(BigInt(await sent())).toBe(nonce + 2n);
});

test("a nonce that belongs to no payment at all does not hold up those that come after", async () => {
  const before = await sent();
  await rows("update signer_nonces set next_nonce = next_nonce + 1");
  expect(await settled()).toMatchObject({ success: true });
  expect(await sent()).toBe(before + 2);
});

test("the nonce of a failed payment that was given back is the next payment's, and nothing is sent in its place", async () => {
  const before = await sent();
  const [failed] = await rows(`
    update payments set nonce = (select next_nonce from signer_nonces), state = 'failed'
     where id = (select max(id) from payments) returning nonce`);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await sent()).toBe(before);
  expect(failed?.nonce).toBe(BigInt(before));
  expect(await settled()).toMatchObject({ success: true });
  expect(await sent()).toBe(before + 1);
});
