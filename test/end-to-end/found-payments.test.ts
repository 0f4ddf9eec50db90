import { expect } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { find } from "../../marketplace/admin/find.ts";
import type { Operator } from "../../marketplace/admin/operators.ts";
import { showProof } from "../../marketplace/proof/ledger-proof.ts";
import { paidTest } from "../support/fixtures.ts";
import { call } from "../support/marketplace.ts";
import { payQuote, post } from "../support/pay-call.ts";

const test = paidTest().extend("operator", { scope: "file" }, async ({ paid }): Promise<Operator> => {
  const { id, handle } = await createAccount(paid.marketplace.context.db, { handle: "operator-ada" });
  return { id, handle, confirmedUntil: new Date(Date.now() + 600_000) };
});

test.for(["evm", "hedera"] as const)(
  "a payment on %s is found by each of its ids, as both services have it",
  async (chain, { paid, operator }) => {
    const { context } = paid.marketplace;
    const quote = await post(paid.url, { body: { text: "found" } });
    const proof = await payQuote(paid, chain, quote);
    expect((await post(paid.url, { body: { text: "found" }, proof })).status).toBe(200);
    // The call is concluded when its answer has left.
    const concluded = () =>
      context.db.query(
        `select payment_key as key, run_id, transaction_id as transaction, payer, requirements -> 'extra' ->> 'quoteId' as quote
         from paid_calls where network like $1 and delivered_at is not null order by created_at desc limit 1`,
        [chain === "evm" ? "eip155:%" : "hedera:%"],
      );
    await expect.poll(async () => (await concluded()).rowCount).toBe(1);
    const { key, run_id, transaction, payer, quote: quoteId } = (await concluded()).rows[0];
    const nonce = chain === "evm" ? [key.split(":")[2]] : [];
    for (const id of [key, run_id, transaction, payer, quoteId, ...nonce]) {
      const { payments } = await find(context, operator, id);
      expect(payments, id).toMatchObject([
        {
          marketplace: { key, transaction, state: "delivered", agent: paid.address, runId: run_id },
          facilitator: { state: "settled", transaction },
          agreement: "agree",
        },
      ]);
    }
  },
);

test("a payment that was settled unheard is behind, and agrees once its buyer came back", async ({
  paid,
  operator,
}) => {
  const { context } = paid.marketplace;
  const proof = await payQuote(paid, "evm", await post(paid.url, { body: { text: "behind" } }));
  paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
  expect((await post(paid.url, { body: { text: "behind" }, proof })).status).toBe(503);
  paid.toFacilitator.behave(() => "pass");
  const { from, nonce } = (proof.payload as { authorization: { from: string; nonce: string } }).authorization;
  const key = `${proof.accepted.asset}:${from}:${nonce}`.toLowerCase();
  const { payments } = await find(context, operator, key);
  expect(payments).toMatchObject([
    { marketplace: { state: "ran", transaction: null }, facilitator: { state: "settled" }, agreement: "behind" },
  ]);
  expect((await post(paid.url, { body: { text: "behind" }, proof })).status).toBe(200);
  await expect.poll(async () => (await find(context, operator, key)).payments).toMatchObject([{ agreement: "agree" }]);
});

test("a facilitator that does not answer is not taken for one that knows nothing", async ({ paid, operator }) => {
  const { context } = paid.marketplace;
  const proof = await payQuote(paid, "hedera", await post(paid.url, { body: { text: "silent" } }));
  await post(paid.url, { body: { text: "silent" }, proof });
  const { rows } = await context.db.query("select payment_key as key from paid_calls order by created_at desc limit 1");
  paid.toFacilitator.behave(() => "lose-call");
  const { payments } = await find(context, operator, rows[0].key);
  paid.toFacilitator.behave(() => "pass");
  expect(payments).toMatchObject([{ facilitator: "unheard", agreement: "unheard" }]);
});

test("a creator's payouts are shown to everybody only when switched on, and add up page by page", async ({ paid }) => {
  const { context, url } = paid.marketplace;
  const path = `/api/creators/${paid.market.creator.handle}/proof`;
  for (const chain of ["evm", "hedera"] as const) {
    const proof = await payQuote(paid, chain, await post(paid.url, { body: { text: "proof" } }));
    expect((await post(paid.url, { body: { text: "proof" }, proof })).status).toBe(200);
  }
  expect((await call(url, path)).status).toBe(404);
  await showProof(context.db, paid.market.creator.id, true);
  // A call's transaction is recorded after its answer has left.
  const recorded = () => context.db.query<{ transaction_id: string | null }>("select transaction_id from paid_calls");
  await expect.poll(async () => (await recorded()).rows.filter((row) => row.transaction_id === null)).toEqual([]);
  const { totals, counted, is_complete } = (await call(url, path)).body;
  const rows: Array<{ network: string; amount: string; transaction: string; pay_to: string }> = [];
  for (let cursor = ""; rows.length <= counted; ) {
    const page = (await call(url, `${path}?limit=1&cursor=${cursor}`)).body;
    rows.push(...page.payouts);
    if (page.cursor === null) break;
    cursor = page.cursor;
  }
  expect(is_complete).toBe(true);
  expect(rows).toHaveLength(counted);
  const known = (await recorded()).rows.map(({ transaction_id }) => transaction_id);
  expect(rows.map(({ transaction }) => transaction).toSorted()).toEqual(known.toSorted());
  for (const { network, amount, payouts } of totals) {
    const own = rows.filter((row) => row.network === network);
    expect([payouts, amount]).toEqual([own.length, String(own.reduce((sum, row) => sum + BigInt(row.amount), 0n))]);
  }
  const text = JSON.stringify((await call(url, path)).body);
  expect(text).not.toContain(paid.address);
  const { rows: payers } = await context.db.query("select distinct payer from paid_calls where payer is not null");
  for (const { payer } of payers) expect(text).not.toContain(payer);
  await showProof(context.db, paid.market.creator.id, false);
  expect((await call(url, path)).status).toBe(404);
});
