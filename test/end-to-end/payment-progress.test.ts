import { Transaction } from "@hashgraph/sdk";
import { describe, expect } from "vitest";
import { showProof } from "../../marketplace/proof/ledger-proof.ts";
import { elapse } from "../support/elapse.ts";
import { paidTest } from "../support/fixtures.ts";
import { call } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { type Proof, payQuote, post } from "../support/pay-call.ts";

const test = paidTest();
test.afterEach(({ paid }) => {
  paid.toFacilitator.behave(() => "pass");
  paid.marketplace.model.clearFaults();
});

const body = { text: "hello" };
const present = (paid: PaidMarket, proof: Proof) => post(paid.url, { body, proof });

/** A payment that was signed, and the question about it. */
async function signed(
  paid: PaidMarket,
  chain: "evm" | "hedera",
): Promise<{ proof: Proof; query: Record<string, string>; key: string }> {
  const proof = await payQuote(paid, chain, await post(paid.url, { body }));
  if (chain === "hedera") {
    const { transaction } = proof.payload as { transaction: string };
    const id = String(Transaction.fromBytes(Buffer.from(transaction, "base64")).transactionId);
    return { proof, query: { network: "hedera:testnet", transaction: id }, key: id };
  }
  const { from, nonce } = (proof.payload as { authorization: { from: string; nonce: string } }).authorization;
  const key = `${proof.accepted.asset}:${from}:${nonce}`.toLowerCase();
  return { proof, query: { network: "eip155:84532", payer: from, nonce }, key };
}

const askAbout = (paid: PaidMarket, query: Record<string, string>, from: string) =>
  call(paid.marketplace.url, `/api/payments?${new URLSearchParams(query)}`, { headers: { "x-forwarded-for": from } });

/** Each payment is asked about from an address of its own, and again where a fast machine asks about too many in a second. */
const addresses = new Map<string, string>();
async function progress(paid: PaidMarket, query: Record<string, string>) {
  const name = JSON.stringify(query);
  const from = addresses.get(name) ?? `198.51.100.${addresses.size}`;
  addresses.set(name, from);
  for (;;) {
    const { status, body: told, headers } = await askAbout(paid, query, from);
    if (status !== 429) {
      expect(status).toBe(200);
      return told;
    }
    await elapse(1_000 * Number(headers.get("retry-after")), "so long it was told to wait");
  }
}

const nothing = {
  ran: false,
  delivered: false,
  delivered_at: null,
  transaction: null,
  explorer: null,
  verified_at: null,
  claimed_at: null,
  settled_at: null,
  can_land_until: null,
};

describe.each(["evm", "hedera"] as const)("a payment on %s", (chain) => {
  test("a payment is unseen, running and settled, and its progress tells nothing of what it bought", async ({
    paid,
  }) => {
    const { proof, query } = await signed(paid, chain);
    const { network } = query;
    expect(await progress(paid, query)).toEqual({ ...nothing, network, state: "unseen" });
    paid.marketplace.model.injectFault({ delayMs: 600_000 });
    const answered = present(paid, proof);
    await expect.poll(() => progress(paid, query)).toMatchObject({ state: "running", ran: false, settled_at: null });
    paid.marketplace.model.answerHeld();
    const { status, body: result } = await answered;
    expect(status).toBe(200);
    // A buyer who has the answer has its transaction: it is settled from the first question on.
    const settled = { state: "settled", network, ran: true, can_land_until: null };
    expect(await progress(paid, query)).toMatchObject(settled);
    const delivered = { ...settled, delivered: true, delivered_at: expect.any(String), settled_at: expect.any(String) };
    await expect.poll(() => progress(paid, query)).toMatchObject(delivered);
    const told = await progress(paid, query);
    if (chain === "hedera") {
      const [, payer, seconds, nanos] = /^(.+)@(\d+)\.(\d+)$/.exec(query.transaction ?? "")!;
      expect(await progress(paid, { ...query, transaction: `${payer}-${seconds}-${nanos}` })).toEqual(told);
    }
    const times = [told.verified_at, told.claimed_at, told.settled_at].map((time) => new Date(time).getTime());
    expect(times).toEqual(times.toSorted());
    expect(told.transaction).toEqual(expect.any(String));
    // Their creator's page shows payouts only where the creator says so.
    await showProof(paid.marketplace.context.db, paid.market.creator.id, true);
    const creatorPage = async () => {
      const url = `${paid.marketplace.url}/${paid.market.creator.handle}`;
      return await (await fetch(url, { headers: { accept: "text/html" } })).text();
    };
    await expect.poll(creatorPage).toContain(told.transaction);
    await showProof(paid.marketplace.context.db, paid.market.creator.id, false);
    expect(await creatorPage()).not.toContain(told.transaction);
    const text = JSON.stringify(told);
    for (const secret of [result.run_id, result.output.text, proof.accepted.extra.quoteId])
      expect(text).not.toContain(secret);
  });

  test("a payment whose settlement the service did not hear of is settled as soon as the facilitator says so, and its result is fetched", async ({
    paid,
  }) => {
    const { proof, query } = await signed(paid, chain);
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await present(paid, proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    await expect.poll(() => progress(paid, query)).toMatchObject({ state: "settled", ran: true });
    expect(await progress(paid, query)).toMatchObject({ delivered: false, delivered_at: null });
    expect((await present(paid, proof)).status).toBe(200);
    const fetched = { state: "settled", delivered: true, settled_at: expect.any(String) };
    await expect.poll(() => progress(paid, query)).toMatchObject(fetched);
  });

  test.for([
    ["claimed", "settling"],
    ["broadcast", "settling"],
    ["unknown", "unknown"],
    ["failed", "failed"],
  ])(
    "a payment that the facilitator calls %s is %s, until when it can still land",
    async ([recorded, state], { paid }) => {
      const { query, key } = await signed(paid, chain);
      const expiresAt = new Date(Date.now() + 100_000);
      await paid.facilitator.context.db.query(
        `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                             transaction_id, expires_at, lease_until)
       values ($1, $2, $3, gen_random_uuid(), 'exact', 'payer', 'payee', 'asset', 5, $4, $5, now() + interval '1 hour')`,
        [query.network, key, recorded, recorded === "claimed" ? null : `transaction of ${key}`, expiresAt],
      );
      const until = state === "failed" ? null : expiresAt.toISOString();
      expect(await progress(paid, query)).toMatchObject({ state, can_land_until: until, settled_at: null });
    },
  );
});

test("one of which the facilitator says nothing is unknown, and one that is being worked on is known all the same", async ({
  paid,
}) => {
  const [asked, running] = [await signed(paid, "evm"), await signed(paid, "evm")];
  paid.toFacilitator.behave((path) => (path.startsWith("/payments") ? "lose-call" : "pass"));
  expect(await progress(paid, asked.query)).toMatchObject({ state: "unknown" });
  paid.marketplace.model.injectFault({ delayMs: 600_000 });
  const answered = present(paid, running.proof);
  await expect.poll(() => progress(paid, running.query)).toMatchObject({ state: "running" });
  paid.marketplace.model.answerHeld();
  expect((await answered).status).toBe(200);
  await expect.poll(() => progress(paid, running.query)).toMatchObject({ state: "settled" });
});

const madeUp = (query: Record<string, string>, n: number) => ({
  ...query,
  nonce: `0x${n.toString(16).padStart(64, "0")}`,
});

/** Counts what the facilitator is asked about payments. */
function countQuestions(paid: PaidMarket): () => number {
  let questions = 0;
  paid.toFacilitator.behave((path) => {
    if (path.startsWith("/payments")) questions += 1;
    return "pass";
  });
  return () => questions;
}

test("asked about by hundreds of strangers at once, the facilitator is asked no more than it answers", async ({
  paid,
}) => {
  const { query } = await signed(paid, "evm");
  const questions = countQuestions(paid);
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, n) => askAbout(paid, madeUp(query, n % 100), `10.${n % 200}.0.1`)),
  );
  expect(questions()).toBeGreaterThan(0);
  const seconds = 2 + (performance.now() - startedAt) / 1_000;
  expect(questions()).toBeLessThan(7 * seconds);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, headers } of refused)
    expect({ status, wait: headers.get("retry-after") }).toEqual({ status: 429, wait: "1" });
});

test("a stranger who makes payments up is refused, while others are told of theirs", async ({ paid }) => {
  await elapse(1_000, "what other tests have asked counts for a second");
  const { query } = await signed(paid, "evm");
  const questions = countQuestions(paid);
  const startedAt = performance.now();
  const flood = await Promise.all(
    Array.from({ length: 50 }, (_, n) => askAbout(paid, madeUp(query, 1_000 + n), "192.0.2.7")),
  );
  const seconds = Math.ceil((performance.now() - startedAt) / 1_000);
  expect(flood.filter(({ status }) => status === 200)).toHaveLength(questions());
  expect(questions()).toBeLessThanOrEqual(3 * (1 + seconds));
  expect(await askAbout(paid, query, "192.0.2.8")).toMatchObject({ status: 200, body: { state: "unseen" } });
});

test("strangers' questions leave those about calls theirs: a payment is seen to settle during a flood", async ({
  paid,
}) => {
  const { proof, query } = await signed(paid, "evm");
  paid.marketplace.model.injectFault({ delayMs: 300 });
  const answered = present(paid, proof);
  let isOver = false;
  const flood = (async () => {
    for (let n = 2_000; !isOver && n < 6_000; n += 40) {
      await Promise.all(Array.from({ length: 40 }, (_, m) => askAbout(paid, madeUp(query, n + m), `10.9.${m}.1`)));
    }
  })();
  const told: string[] = [];
  await expect
    .poll(async () => {
      const answer = await askAbout(paid, query, "198.51.100.200");
      if (answer.status === 200) told.push(answer.body.state);
      return answer.body.settled_at;
    })
    .toEqual(expect.any(String));
  isOver = true;
  expect((await answered).status).toBe(200);
  await flood;
  expect(told).not.toContain("unknown");
});

test("the documents' example of the question is one that is answered", async ({ paid }) => {
  const { paths } = (await call(paid.marketplace.url, "/openapi.json")).body;
  const parameters: Array<{ name: string; example?: string }> = paths["/api/payments"].get.parameters;
  const example = parameters.flatMap(({ name, example: given }) => (given === undefined ? [] : [[name, given]]));
  expect(example.map(([name]) => name)).toEqual(["network", "payer", "nonce"]);
  const ask = () => askAbout(paid, Object.fromEntries(example), "198.51.100.99");
  // Others may have asked too much within this second.
  await expect.poll(ask).toMatchObject({ status: 200, body: { state: "unseen" } });
});

const payer = `0x${"1b".repeat(20)}`;
const nonce = `0x${"2c".repeat(32)}`;
test.for([
  ["network", { payer, nonce }],
  ["network", { network: "eip155:999999999", payer, nonce }],
  ["network", { network: "nonsense", payer, nonce }],
  ["payer", { network: "eip155:84532", nonce }],
  ["payer", { network: "eip155:84532", nonce, payer: "0x12" }],
  ["nonce", { network: "eip155:84532", payer }],
  ["nonce", { network: "eip155:84532", payer, nonce: "0xzz" }],
  ["transaction", { network: "hedera:testnet", payer, nonce }],
  ["transaction", { network: "hedera:testnet", transaction: "0.0.1" }],
])("what is wrong with the %s is a 400 that names it: %j", async ([field, query], { paid }) => {
  const path = `/api/payments?${new URLSearchParams(query as Record<string, string>)}`;
  const answer = await call(paid.marketplace.url, path);
  expect({ status: answer.status, field: answer.body.field }).toEqual({ status: 400, field });
});
