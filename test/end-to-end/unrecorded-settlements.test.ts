import { randomBytes } from "node:crypto";
import { TopicCreateTransaction } from "@hashgraph/sdk";
import sharp from "sharp";
import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { platformAccount } from "../../marketplace/ids.ts";
import { listDebts } from "../../marketplace/payments/debts.ts";
import { recordSettlements } from "../../marketplace/payments/paid-calls/record-settlements.ts";
import { paidTest } from "../support/fixtures.ts";
import { operatorVariables } from "../support/ledger-agents.ts";
import { echoAgent } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { perFile } from "../support/part.ts";
import { type Proof, payQuote, post, settleFirst } from "../support/pay-call.ts";

const test = paidTest().extend("options", perFile, ({ open }) => ({ env: { ...operatorVariables(open) } }));
test.afterEach(({ paid }) => paid.toFacilitator.behave(() => "pass"));

const body = { text: "bought, and not fetched" };

/** An agent of a creator of its own. */
async function sellerOf({ marketplace, evmWallet, ledger }: PaidMarket, does: object = echoAgent) {
  const { context } = marketplace;
  const creator = await createAccount(context.db, { handle: `seller-${randomBytes(4).toString("hex")}` });
  const wallets = { "eip155:84532": evmWallet, "hedera:testnet": ledger.accounts.creator.accountId };
  for (const [network, address] of Object.entries(wallets)) {
    await addPayoutWallet(context.db, { accountId: creator.id, network, address, checked: true });
  }
  const agent = { name: "Seller", description: "Sells.", price_credits: 5, fields: [textField], ...does };
  const { address } = await publishAgent(context, creator, "seller", agent);
  return { creator, url: `${marketplace.url}/api/agent/${address}` };
}

const textField = { name: "text", type: "text", required: true };

/** Posted by a buyer who does not come back: of what was asked of /settle this service hears nothing. */
async function leave(paid: PaidMarket, url: string, chain: "evm" | "hedera", fault: "lose-call" | "lose-answer") {
  const proof = await payQuote(paid, chain, await post(url, { body }));
  paid.toFacilitator.behave((path) => (path === "/settle" ? fault : "pass"));
  expect((await post(url, { body, proof })).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  return proof;
}

/** The task as it runs a quarter of an hour later, of a service that has just started. */
async function recordLater({ marketplace }: PaidMarket) {
  const { context } = marketplace;
  await context.db.query("update paid_calls set created_at = created_at - interval '20 minutes'");
  const record = recordSettlements(context);
  return () => record(new AbortController().signal);
}

async function soldBy({ marketplace }: PaidMarket, url: string) {
  const { rows } = await marketplace.context.db.query(
    `select transaction_id as transaction, output is not null as "isMade", delivered_at as "deliveredAt", lease_until as "leasedUntil"
       from paid_calls where product in (select id from agents where $1 like '%/' || handle || '/' || slug)`,
    [url],
  );
  return rows;
}

const transactionOf = { evm: /^0x[0-9a-f]{64}$/, hedera: /^0\.0\.\d+@\d+\.\d+$/ };

test.for(["evm", "hedera"] as const)(
  "a payment on %s whose settlement nobody recorded is found sold, and its result waits for its buyer",
  async (chain, { paid }) => {
    const { url } = await sellerOf(paid);
    const proof = await leave(paid, url, chain, "lose-answer");
    const record = await recordLater(paid);
    const another = recordSettlements(paid.marketplace.context);
    await Promise.all([record(), another(new AbortController().signal)]);
    const asked = paid.marketplace.model.asked();
    const transaction = expect.stringMatching(transactionOf[chain]);
    expect(await soldBy(paid, url)).toEqual([{ transaction, isMade: true, deliveredAt: null, leasedUntil: null }]);
    expect(await post(url, { body, proof })).toMatchObject({ status: 200, body: { success: true } });
    expect((await post(url, { body, proof })).status).toBe(402);
    expect(paid.marketplace.model.asked()).toBe(asked);
  },
);

test("of an agent whose effect is paid for first it is a debt from then on, which a run ends", async ({
  open,
  paid,
}) => {
  const topic = (await open.run(new TopicCreateTransaction())).topicId!.toString();
  const writes = { connector: "hcs-write", settings: { network: "hedera:testnet", topic, message: "{{text}}" } };
  const { creator, url } = await sellerOf(paid, writes);
  const proof = await leave(paid, url, "evm", "lose-answer");
  const { db } = paid.marketplace.context;
  const owed = () => listDebts(db, creator.id, { limit: 10, offset: 0 });
  expect(await owed()).toEqual([]);
  await (await recordLater(paid))();
  const transaction = expect.stringMatching(transactionOf.evm);
  expect(await owed()).toMatchObject([{ transaction, network: "eip155:84532", amount: "50000" }]);
  expect(await post(url, { body, proof })).toMatchObject({ status: 200, body: { success: true } });
  expect(await owed()).toEqual([]);
});

test("what was not settled, or for other terms, is left for the payment to be posted again", async ({ paid }) => {
  const { url } = await sellerOf(paid);
  const unpaid = await leave(paid, url, "evm", "lose-call");
  const elsewhere = await leave(paid, url, "evm", "lose-call");
  await settleFirst(paid, forAnotherShop(elsewhere));
  await (await recordLater(paid))();
  expect(await soldBy(paid, url)).toMatchObject([{ transaction: null }, { transaction: null }]);
  expect(await post(url, { body, proof: unpaid })).toMatchObject({ status: 200 });
});

test("pictures that nobody paid for are removed, and give their creator the room back; those made again stay", async ({
  paid,
}) => {
  const draws = { connector: "image-generator", settings: { prompt: "A picture of {{text}}" } };
  const { creator, url } = await sellerOf(paid, draws);
  const { db, tools } = paid.marketplace.context;
  const taken = async () => {
    const { rows } = await db.query("select bytes from account_files where account_id = $1", [creator.id]);
    const kept = await tools.files.list(creator.id, { limit: 10, offset: 0 });
    const served = await Promise.all(kept.map(({ name }) => fetch(`${paid.marketplace.url}/files/${name}`)));
    return {
      room: Number(rows[0].bytes),
      kept: kept.map(({ bytes }) => bytes),
      served: served.map(({ status }) => status),
    };
  };
  const unpaid = await leave(paid, url, "evm", "lose-call");
  const made = await taken();
  expect(made).toEqual({ room: made.kept[0], kept: [expect.any(Number)], served: [200] });
  await (await recordLater(paid))();
  expect(await taken()).toEqual({ room: 0, kept: [], served: [] });

  const other = await leave(paid, url, "evm", "lose-call");
  expect(await post(url, { body, proof: unpaid })).toMatchObject({ status: 200, body: { success: true } });
  expect(await taken()).toEqual(made);
  await (await recordLater(paid))();
  expect(await taken()).toEqual(made);
  expect(await post(url, { body, proof: other })).toMatchObject({ status: 200, body: { success: true } });
  expect(await taken()).toEqual(made);
});

test("nor do the files of a drawing stay that nobody paid for", async ({ paid }) => {
  const url = `${paid.marketplace.url}/api/x402/svg-vectorize`;
  const { context } = paid.marketplace;
  const square = { create: { width: 16, height: 16, channels: 3, background: "teal" } } as const;
  const image = `data:image/png;base64,${(await sharp(square).png().toBuffer()).toString("base64")}`;
  const drawing = { image };
  const proof = await payQuote(paid, "evm", await post(url, { body: drawing }));
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
  expect((await post(url, { body: drawing, proof })).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  const kept = () => context.tools.files.list(platformAccount, { limit: 10, offset: 0 });
  expect(await kept()).toHaveLength(2);
  await (await recordLater(paid))();
  expect(await kept()).toEqual([]);
  expect(await post(url, { body: drawing, proof })).toMatchObject({ status: 200, body: { cost_usd: 0.01 } });
  expect(await kept()).toHaveLength(2);
});

test.for([
  ...["a text", { of: "a dog" }, 3, null, [3, null]].map((images) => ({ images })),
  { kind: "text", text: '"images":["\0\ud800' },
])("a result that is %j keeps no other sale from being found", async (output, { paid }) => {
  const { url } = await sellerOf(paid);
  const { db } = paid.marketplace.context;
  await leave(paid, url, "evm", "lose-call");
  await db.query("update paid_calls set output = $1 where transaction_id is null", [JSON.stringify(output)]);
  await leave(paid, url, "evm", "lose-answer");
  await (await recordLater(paid))();
  expect((await soldBy(paid, url)).filter(({ transaction }) => transaction !== null)).toHaveLength(1);
});

test("a lost settlement is found behind as many calls that nobody paid for as an address may begin in minutes", async ({
  paid,
}) => {
  const { url } = await sellerOf(paid);
  await leave(paid, url, "evm", "lose-answer");
  const { db } = paid.marketplace.context;
  await db.query(
    `insert into paid_calls (network, payment_key, product, agent_version, call_digest, payload_digest, requirements, payer, run_id, created_at)
     select network, split_part(payment_key, ':', 1) || ':' || split_part(payment_key, ':', 2) || ':0x' || encode(sha256(n::text::bytea), 'hex'),
       product, agent_version, call_digest, payload_digest, requirements, payer, run_id || n, created_at - interval '1 minute'
     from paid_calls, generate_series(1, 200) n
     where product in (select id from agents where $1 like '%/' || handle || '/' || slug)`,
    [url],
  );
  await (await recordLater(paid))();
  const sold = (await soldBy(paid, url)).filter(({ transaction }) => transaction !== null);
  expect(sold).toEqual([expect.objectContaining({ isMade: true })]);
});

/** Of the same wallet and price. */
function forAnotherShop(proof: Proof): Proof {
  const { quoteId: _, ...extra } = proof.accepted.extra;
  return { ...proof, accepted: { ...proof.accepted, extra }, resource: { url: "https://shop.example.com/other" } };
}

test("it is asked again while the facilitator does not answer, and while the end is not known", async ({ paid }) => {
  const { url } = await sellerOf(paid);
  await leave(paid, url, "evm", "lose-answer");
  const record = await recordLater(paid);
  paid.toFacilitator.behave((path) => (path.startsWith("/payments") ? "lose-call" : "pass"));
  await expect(record()).rejects.toThrow();
  paid.toFacilitator.behave(() => "pass");
  const { db } = paid.facilitator.context;
  const { rows } = await db.query("select id from payments where state = 'settled' order by created_at desc limit 1");
  await db.query("update payments set state = 'unknown', finished_at = null where id = $1", [rows[0].id]);
  await record();
  expect(await soldBy(paid, url)).toMatchObject([{ transaction: null }]);
  await db.query("update payments set state = 'settled', finished_at = now() where id = $1", [rows[0].id]);
  await record();
  expect(await soldBy(paid, url)).toMatchObject([{ transaction: expect.stringMatching(transactionOf.evm) }]);
});
