import {
  AccountCreateTransaction,
  TokenCreateTransaction,
  TokenFreezeTransaction,
  TokenGrantKycTransaction,
  TokenPauseTransaction,
  TokenUnfreezeTransaction,
  TokenUnpauseTransaction,
  TopicCreateTransaction,
} from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { type MockX, startMockX } from "../../../infra/mock-x/server.ts";
import { publishAgent } from "../../../marketplace/agents/publish.ts";
import type { OpenLedger } from "../../infra/local-hedera/sdk.ts";
import { startEditingMirror } from "../../support/editing-mirror.ts";
import { paidTest } from "../../support/fixtures.ts";
import { allow, operatorVariables } from "../../support/ledger-agents.ts";
import type { PaidMarket } from "../../support/paid-market.ts";
import { kept, part, perFile } from "../../support/part.ts";
import { type PaidAnswer, payQuote, post, settleFirst } from "../../support/pay-call.ts";

const test = paidTest()
  .extend("mirror", perFile, ({ open }, { onCleanup }) => kept(startEditingMirror(open.ledger.mirrorUrl), onCleanup))
  .extend(
    "x",
    perFile,
    part(() => startMockX({ token: "X-TOKEN" })),
  )
  .extend("options", perFile, ({ open, mirror, x }) => ({
    env: {
      ...operatorVariables(open),
      HEDERA_MIRROR: mirror.url,
      X_API_BASE_URL: x.url,
      X_API_BEARER_TOKEN: "X-TOKEN",
    },
  }));

test.afterEach(({ open, mirror }) => {
  open.ledger.faults.clear();
  mirror.edits.clear();
});

const buyer = "0.0.1003";
let agents = 0;
let posts = 1_800_000_000_000_000_000n;

async function publish(paid: PaidMarket, connector: string, settings: object) {
  agents += 1;
  const { address, agentId } = await publishAgent(
    paid.marketplace.context,
    paid.market.creator,
    `on-ledger-${agents}`,
    {
      name: "On the ledger",
      description: "Does what cannot be undone.",
      connector,
      price_credits: 5,
      fields: ["text", "to", "amount", "post", "wallet"].map((name) => ({ name, type: "text" })),
      settings: { network: "hedera:testnet", ...settings },
    },
  );
  return { agentId, url: `${paid.marketplace.url}/api/agent/${address}` };
}

const newPost = (x: MockX, text = `pay ${buyer}`) => {
  posts += 1n;
  return x.add({ id: `${posts}`, text, author: { id: `${posts}`, username: `author${posts % 100_000n}` } }).id;
};
const newTopic = async (open: OpenLedger) => (await open.run(new TopicCreateTransaction())).topicId!.toString();
const allowed = (open: OpenLedger, amount: number, token?: string) =>
  allow({ open } as Parameters<typeof allow>[0], amount, token);
const settledPayments = async (paid: PaidMarket) => {
  const { rows } = await paid.facilitator.context.db.query("select count(*) from payments where state = 'settled'");
  return Number(rows[0].count);
};
const reservations = async (paid: PaidMarket) =>
  (await paid.marketplace.context.db.query("select pool from reservations where spent_at is null and until > now()"))
    .rows;

/** Posts one payment with what cannot work, then with what can: only the second is settled. */
async function refusedThenServed(
  paid: PaidMarket,
  url: string,
  chain: "evm" | "hedera",
  bad: object,
  good: () => Promise<object>,
) {
  const proof = await payQuote(paid, chain, await post(url, { body: bad }));
  const before = await settledPayments(paid);
  const refused = await post(url, { body: bad, proof });
  expect(await settledPayments(paid)).toBe(before);
  expect(refused.headers.get("payment-response")).toBeNull();
  expect(await reservations(paid)).toEqual([]);
  const served = await post(url, { body: await good(), proof });
  expect([served.status, served.body.error]).toEqual([200, undefined]);
  expect(await settledPayments(paid)).toBe(before + 1);
  return refused;
}

const expectRefusal = ({ status, body, headers }: PaidAnswer, expected: number, field?: string) => {
  expect([status, body.charged, body.field]).toEqual([expected, false, field]);
  if (expected === 503) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
};

describe("a paid call that cannot work is refused before anything is settled, and the payment buys one that can", () => {
  const transfer = { asset: "hbar", to: "{{to}}", amount: "{{amount}}", per_run_max: "1000", per_day_max: "100000" };
  const good = { to: buyer, amount: "5" };

  test.for<[string, object, number, string]>([
    ["a wallet that is none", { to: "xyz" }, 400, "to"],
    ["no wallet", { to: "" }, 400, "to"],
    ["an account that is not there", { to: "0.0.987654" }, 422, "to"],
    ["the creator's own account", { to: "0.0.1002" }, 422, "to"],
    ["an amount that is none", { amount: "5 HBAR" }, 400, "amount"],
    ["more than one run may move", { amount: "1001" }, 422, "amount"],
  ])("hedera-transfer: %s", async ([_name, wrong, status, field], { open, paid }) => {
    await allowed(open, 100_000);
    const { url } = await publish(paid, "hedera-transfer", transfer);
    expectRefusal(await refusedThenServed(paid, url, "evm", { ...good, ...wrong }, async () => good), status, field);
  });

  test("hedera-transfer, paid on Hedera: a receiver that is not associated with the token", async ({ open, paid }) => {
    open.ledger.faucet.giveToken("0.0.1002", 5_000n);
    await allowed(open, 5_000, open.ledger.usdc);
    const { url } = await publish(paid, "hedera-transfer", { ...transfer, asset: open.ledger.usdc });
    const stranger = await open.newAccount(open.keys.feePayer.publicKey);
    const refused = await refusedThenServed(paid, url, "hedera", { to: stranger, amount: "5" }, async () => good);
    expectRefusal(refused, 422, "to");
  });

  test("hedera-transfer: a receiver without a KYC grant, frozen, or with no place left for another token", async ({
    open,
    paid,
  }) => {
    const { accounts, keys } = open;
    const creator = { treasury: accounts.creator.accountId, treasuryKey: keys.creator };
    const token = await open.newToken({ ...creator, keys: ["Kyc", "Freeze"] });
    await allowed(open, 5_000, token);
    const { url } = await publish(paid, "hedera-transfer", { ...transfer, asset: token });
    await open.associate(buyer, token, keys.buyer);
    const granted = async () => {
      await open.run(new TokenGrantKycTransaction().setTokenId(token).setAccountId(buyer));
      return good;
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", good, granted), 422, "to");
    await open.run(new TokenFreezeTransaction().setTokenId(token).setAccountId(buyer));
    const thawed = async () => {
      await open.run(new TokenUnfreezeTransaction().setTokenId(token).setAccountId(buyer));
      return good;
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", good, thawed), 422, "to");

    const plain = await open.newToken(creator);
    await allowed(open, 5_000, plain);
    const other = await publish(paid, "hedera-transfer", { ...transfer, asset: plain });
    const one = new AccountCreateTransaction().setKeyWithoutAlias(keys.buyer.publicKey).setInitialBalance(10);
    const account = (await open.run(one.setMaxAutomaticTokenAssociations(1))).accountId!.toString();
    const proof = await payQuote(paid, "evm", await post(other.url, { body: good }));
    expect((await post(other.url, { body: { to: account, amount: "5" }, proof })).status).toBe(200);
    const second = await open.newToken(creator);
    await allowed(open, 5_000, second);
    const full = await publish(paid, "hedera-transfer", { ...transfer, asset: second });
    const associated = async () => {
      await open.associate(account, second, keys.buyer);
      return { to: account, amount: "5" };
    };
    expectRefusal(await refusedThenServed(paid, full.url, "evm", { to: account, amount: "5" }, associated), 422, "to");
  });

  test("hedera-transfer: a ledger whose mirror is away", async ({ open, paid }) => {
    await allowed(open, 100_000);
    const { url } = await publish(paid, "hedera-transfer", transfer);
    open.ledger.faults.set({ mirrorUnavailable: 1_000_000 });
    const back = async () => {
      open.ledger.faults.clear();
      return good;
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", good, back), 503);
  });

  test("hedera-transfer: an allowance, or a wallet, that does not cover it", async ({ open, mirror, paid }) => {
    await allowed(open, 1_000);
    const { url } = await publish(paid, "hedera-transfer", transfer);
    await allowed(open, 4);
    const raised = async () => {
      await allowed(open, 100_000);
      return good;
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", good, raised), 503);
    const { balance } = await open.mirror("accounts/0.0.1002");
    mirror.edits.set("/api/v1/accounts/0.0.1002", { balance: { ...balance, balance: 4 } });
    const filled = async () => {
      mirror.edits.clear();
      return good;
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", good, filled), 503);
  });

  test("hedera-transfer: a day's cap that is used up", async ({ open, paid }) => {
    await allowed(open, 100_000);
    const { url, agentId } = await publish(paid, "hedera-transfer", { ...transfer, per_day_max: "1000" });
    const proof = await payQuote(paid, "evm", await post(url, { body: good }));
    expect((await post(url, { body: { to: buyer, amount: "1000" }, proof })).status).toBe(200);
    const tomorrow = async () => {
      const age = "update effects set created_at = now() - interval '25 hours' where agent_id = $1";
      await paid.marketplace.context.db.query(age, [agentId]);
      return good;
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", good, tomorrow), 503);
  });

  test("hcs-write: 3,000 bytes where 1,024 fit", async ({ open, paid }) => {
    const { url } = await publish(paid, "hcs-write", { topic: await newTopic(open), message: "{{text}}" });
    const refused = await refusedThenServed(paid, url, "evm", { text: "x".repeat(3_000) }, async () => ({
      text: "short",
    }));
    expectRefusal(refused, 422, "text");
  });

  test("hcs-write: a topic that was deleted", async ({ open, mirror, paid }) => {
    const topic = await newTopic(open);
    const { url } = await publish(paid, "hcs-write", { topic, message: "{{text}}" });
    mirror.edits.set(`/api/v1/topics/${topic}`, { deleted: true });
    const restored = async () => {
      mirror.edits.clear();
      return { text: "there" };
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", { text: "there" }, restored), 503);
  });

  test("hedera-mint: a token that is paused", async ({ open, paid }) => {
    const { keys } = open;
    const create = new TokenCreateTransaction().setTokenName("Paused").setTokenSymbol("PSD");
    create.setTreasuryAccountId("0.0.1002").setSupplyKey(keys.operator.publicKey).setPauseKey(keys.operator.publicKey);
    const token = (await open.run(create, keys.creator)).tokenId!.toString();
    const { url } = await publish(paid, "hedera-mint", {
      token,
      amount: "{{amount}}",
      per_run_max: "9",
      per_day_max: "99",
    });
    await open.run(new TokenPauseTransaction().setTokenId(token));
    const unpaused = async () => {
      await open.run(new TokenUnpauseTransaction().setTokenId(token));
      return { amount: "5" };
    };
    expectRefusal(await refusedThenServed(paid, url, "evm", { amount: "5" }, unpaused), 503);
  });

  test("x-reward: no post, none that is there, one that breaks the rule, one that was rewarded, its author again", async ({
    open,
    x,
    paid,
  }) => {
    await allowed(open, 100_000);
    const rule = { hashtags: ["paper"] };
    const settings = { asset: "hbar", amount: "100", per_day_max: "10000", budget: "10000", rule };
    const { url } = await publish(paid, "x-reward", settings);
    const claim = (id: string) => ({ post: id, wallet: buyer });
    const fine = async () => claim(newPost(x, `#paper for ${buyer}`));
    const wrong: ReadonlyArray<[string, number]> = [
      ["https://example.com/not-a-post", 400],
      ["99", 422],
      [newPost(x, `nothing for ${buyer}`), 422],
      [newPost(x, "#paper for 0.0.1004"), 422],
    ];
    for (const [link, status] of wrong) {
      expectRefusal(await refusedThenServed(paid, url, "evm", claim(link), fine), status, "post");
    }
    const rewarded = newPost(x, `#paper for ${buyer}`);
    const proof = await payQuote(paid, "evm", await post(url, { body: {} }));
    expect((await post(url, { body: claim(rewarded), proof })).status).toBe(200);
    expectRefusal(await refusedThenServed(paid, url, "evm", claim(rewarded), fine), 409);
    const again = x.add({
      id: `${posts + 5n}`,
      text: `#paper for ${buyer}`,
      author: { id: rewarded, username: "same" },
    });
    expectRefusal(await refusedThenServed(paid, url, "evm", claim(again.id), fine), 409);
    x.injectFault({ status: 503 });
    const unread = newPost(x, `#paper for ${buyer}`);
    expectRefusal(await refusedThenServed(paid, url, "evm", claim(unread), async () => claim(unread)), 503);
  });
});

test("a payment that was settled before it came here stays good, and is said to be charged, where its payer may ask no more this minute", async ({
  open,
  paid,
}) => {
  const { agentId, url } = await publish(paid, "hcs-write", { topic: await newTopic(open), message: "{{text}}" });
  const body = { text: "once" };
  const payer = await paid.setting.fundedBuyer();
  const proof = await settleFirst(paid, await payQuote(paid, "evm", await post(url, { body }), { buyer: payer }));
  const { db } = paid.marketplace.context;
  await db.query("select count_calls($1, 120, 120)", [`precheck:${payer.address}`]);
  const refused = await post(url, { body, proof });
  expect(refused).toMatchObject({ status: 429, body: { charged: true } });
  expect(refused.headers.get("payment-response")).not.toBeNull();
  expect((await db.query("select from debts where agent_id = $1", [agentId])).rowCount).toBe(1);
  await db.query("delete from rate_limits where subject like 'precheck:%'");
  expect((await post(url, { body, proof })).status).toBe(200);
});

test("nobody without a payment learns what a ledger or X knows: a quote, whatever the input", async ({
  open,
  paid,
}) => {
  await allowed(open, 100_000);
  const { url } = await publish(paid, "hedera-transfer", {
    asset: "hbar",
    to: "{{to}}",
    amount: "5",
    per_run_max: "1000",
    per_day_max: "100000",
  });
  for (const to of ["xyz", "0.0.987654", buyer]) expect((await post(url, { body: { to } })).status).toBe(402);
  const proof = await payQuote(paid, "evm", await post(url, { body: { to: buyer } }));
  const signature = `0x${"11".repeat(65)}`;
  const forged = { ...proof, payload: { ...(proof.payload as object), signature } };
  for (const to of ["xyz", "0.0.987654"]) expect((await post(url, { body: { to }, proof: forged })).status).toBe(402);
});
