import { createTestClient, http, publicActions, walletActions } from "viem";
import { expect } from "vitest";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { paymentBody } from "../../support/evm-payments.ts";
import type { startFacilitator } from "../../support/facilitator.ts";
import { proxiedEvmTest } from "../../support/fixtures.ts";
import { lapseAll } from "../../support/lapse.ts";

const test = proxiedEvmTest({ EIP155_84532_BUMP_AFTER_MS: "1000" });

test.afterEach(async ({ setting, proxy }) => {
  proxy.behave(() => "pass");
  await tester(setting).setAutomine(true);
});

type Facilitator = Awaited<ReturnType<typeof startFacilitator>>;
const tester = (setting: EvmSetting) =>
  createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) })
    .extend(publicActions)
    .extend(walletActions);
const signer = (setting: EvmSetting) => setting.signer as `0x${string}`;
const sent = (setting: EvmSetting) => tester(setting).getTransactionCount({ address: signer(setting) });
const rows = async (facilitator: Facilitator, sql: string) => (await facilitator.context.db.query(sql)).rows;
const pay = async (setting: EvmSetting, changes = {}) =>
  paymentBody(await setting.fundedBuyer(), setting.terms, changes);
const settled = async (setting: EvmSetting, facilitator: Facilitator) =>
  (await facilitator.settle(await pay(setting))).body;
/** Until the job that fills gaps has ended once more. */
const nextMaintenance = async ({ context }: Facilitator) => {
  const endedAt = () => context.jobRecord.read().find(({ name }) => name.startsWith("maintain nonces"))?.lastEndedAt;
  const before = endedAt();
  expect(before).toBeDefined();
  await expect.poll(endedAt).not.toEqual(before);
};
const shortLivedSeconds = 120;
const shortLived = (setting: EvmSetting) =>
  pay(setting, { validBefore: String(Math.floor(Date.now() / 1_000) + shortLivedSeconds) });
const mineUntilFailed = async (setting: EvmSetting, facilitator: Facilitator, count: number) => {
  const failed = async () => {
    await tester(setting).mine({ blocks: 1 });
    await lapseAll(facilitator.context.db);
    return (await rows(facilitator, "select from payments where state = 'failed' and nonce is not null")).length;
  };
  await expect.poll(failed, { interval: 500 }).toBe(count);
};

test("payments whose transactions were lost until their authorizations ran out do not hold up those that come after", async ({
  setting,
  proxy,
  facilitator,
}) => {
  const before = await sent(setting);
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "lose-call" : "pass"));
  const lost = [await shortLived(setting), await shortLived(setting)].map((body) => facilitator.settle(body));
  const live = pay(setting).then((body) => facilitator.settle(body));
  await expect
    .poll(async () => (await rows(facilitator, "select from payments where state = 'broadcast'")).length)
    .toBe(3);
  // Waiting would take as long.
  await tester(setting).increaseTime({ seconds: shortLivedSeconds });
  await mineUntilFailed(setting, facilitator, 2);
  proxy.behave(() => "pass");
  for (const { body } of await Promise.all(lost)) expect(body).toMatchObject({ success: false });
  expect((await live).body.errorReason ?? "settled").toMatch(/settled|settlement_pending/);
  expect(await settled(setting, facilitator)).toMatchObject({ success: true });
  await expect.poll(() => sent(setting)).toBe(before + 4);
  await expect
    .poll(() => rows(facilitator, "select from payments where state <> 'settled' and state <> 'failed'"))
    .toEqual([]);
});

test("a failed payment's transaction that waits in a pool after all is outbid, and again when that one waits too", async ({
  setting,
  facilitator,
}) => {
  const body = await pay(setting);
  await tester(setting).setAutomine(false);
  const nonce = BigInt(await sent(setting));
  const settling = facilitator.settle(body);
  const waiting = async () => {
    const { pending } = await tester(setting).getTxpoolContent();
    const own = Object.entries(pending).find(([address]) => address.toLowerCase() === signer(setting).toLowerCase());
    const found = own?.[1][String(nonce)];
    return found && { to: found.to?.toLowerCase(), offered: BigInt(found.maxFeePerGas ?? 0n) };
  };
  await expect.poll(waiting, { interval: 20 }).toBeDefined();
  const first = (await waiting())?.offered ?? 0n;
  await rows(facilitator, `update payments set state = 'failed', finished_at = now() where nonce = ${nonce}`);
  await settling;
  const outbid = async (than: bigint) => {
    const { to, offered = 0n } = (await waiting()) ?? {};
    return to === signer(setting).toLowerCase() && offered >= (than * 125n) / 100n;
  };
  await expect.poll(() => outbid(first)).toBe(true);
  await expect.poll(() => outbid((first * 125n) / 100n)).toBe(true);
  await tester(setting).setAutomine(true);
  await tester(setting).mine({ blocks: 1 });
  expect(await settled(setting, facilitator)).toMatchObject({ success: true });
  expect(BigInt(await sent(setting))).toBe(nonce + 2n);
});

test("a nonce that belongs to no payment at all does not hold up those that come after", async ({
  setting,
  facilitator,
}) => {
  const before = await sent(setting);
  await rows(facilitator, "update signer_nonces set next_nonce = next_nonce + 1");
  expect(await settled(setting, facilitator)).toMatchObject({ success: true });
  expect(await sent(setting)).toBe(before + 2);
});

test("the nonce of a failed payment that was given back is the next payment's, and nothing is sent in its place", async ({
  setting,
  facilitator,
}) => {
  const before = await sent(setting);
  const [failed] = await rows(
    facilitator,
    `
    update payments set nonce = (select next_nonce from signer_nonces), state = 'failed'
     where id = (select max(id) from payments) returning nonce`,
  );
  // The second that ends has begun since.
  for (let runs = 0; runs < 2; runs += 1) await nextMaintenance(facilitator);
  expect(await sent(setting)).toBe(before);
  expect(failed?.nonce).toBe(BigInt(before));
  expect(await settled(setting, facilitator)).toMatchObject({ success: true });
  expect(await sent(setting)).toBe(before + 1);
});

test("a nonce that was given back is forgotten where the next one goes down to it, so that no two payments have it", async ({
  setting,
  proxy,
  facilitator,
}) => {
  const { db, schemes } = facilitator.context;
  const next = await sent(setting);
  // The job would use the vacant nonce up before the chain is asked.
  proxy.behave((method) => (method === "eth_sendRawTransaction" ? "lose-call" : "pass"));
  await db.query("update signer_nonces set next_nonce = $1, vacant = array[$2::bigint]", [next + 2, next]);
  await schemes.openOn(setting.terms.network)?.start();
  expect(await rows(facilitator, "select next_nonce, vacant from signer_nonces")).toEqual([
    { next_nonce: BigInt(next), vacant: [] },
  ]);
  await nextMaintenance(facilitator);
  proxy.behave(() => "pass");
  const answers = await Promise.all([settled(setting, facilitator), settled(setting, facilitator)]);
  for (const answer of answers) expect(answer).toMatchObject({ success: true });
  expect(await rows(facilitator, `select nonce from payments where nonce >= ${next} order by nonce`)).toEqual([
    { nonce: BigInt(next) },
    { nonce: BigInt(next + 1) },
  ]);
});
