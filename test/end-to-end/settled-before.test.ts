import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, vi } from "vitest";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { addPayoutWallet } from "../../marketplace/accounts/payout-wallets.ts";
import { publishAgent } from "../../marketplace/agents/publish.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { listDebts } from "../../marketplace/payments/debts.ts";
import { QuoteIds } from "../../marketplace/payments/quotes/quote-id.ts";
import { elapse } from "../support/elapse.ts";
import { newBuyer } from "../support/evm-payments.ts";
import { startFacilitator } from "../support/facilitator.ts";
import { paidTest } from "../support/fixtures.ts";
import { hederaVariables } from "../support/hedera-payments.ts";
import { balanceOf, echoAgent, startMarketplace, type TestMarketplace, until } from "../support/marketplace.ts";
import { startProcess } from "../support/marketplace-process.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import { bareProof, type PaidAnswer, type Proof, payQuote, post, quoteIn, settleFirst } from "../support/pay-call.ts";

const secret = randomBytes(32);

const test = paidTest({
  env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: "100000", MARKETPLACE_QUOTE_KEY: secret.toString("base64") },
});

test.afterEach(({ paid }) => {
  paid.marketplace.model.clearFaults();
  paid.toFacilitator.behave(() => "pass");
});

type Chain = "hedera" | "evm";
const chains: Chain[] = ["hedera", "evm"];
const input = { text: "the buyer's own input" };
const runs = (paid: PaidMarket) => paid.marketplace.model.asked();

const quoteFor = (paid: PaidMarket, url = paid.url, body: unknown = input) => post(url, { body });
/** A payment that its buyer had settled with the facilitator, on the quote whole. */
const settled = async (paid: PaidMarket, chain: Chain, url = paid.url) =>
  settleFirst(paid, await payQuote(paid, chain, await quoteFor(paid, url)));
const present = (paid: PaidMarket, proof: object, body: unknown = input, url = paid.url) => post(url, { proof, body });
/** What a stranger can make of a payment that lies on the chain: a quote of their own around it. */
async function strangersProof(
  paid: PaidMarket,
  { accepted, payload }: Proof,
  url = paid.url,
  body: unknown = input,
): Promise<Proof> {
  const { accepts, resource } = quoteIn(await quoteFor(paid, url, body));
  const own = accepts.find(({ network }: { network: string }) => network === accepted.network);
  return { x402Version: 2, resource, accepted: own, payload };
}

/** The payment, under a quote that was made for this agent at that time. */
function quotedAt(proof: Proof, product: string, at: number): Proof {
  const quoteId = new QuoteIds([secret]).issue({ ...proof.accepted, product }, at);
  return { ...proof, accepted: { ...proof.accepted, extra: { ...proof.accepted.extra, quoteId } } };
}

/** 402, with nothing run. */
async function expectRefused(
  paid: PaidMarket,
  answers: () => Promise<PaidAnswer | PaidAnswer[]>,
  reason: RegExp,
): Promise<void> {
  const before = runs(paid);
  for (const { status, body, headers } of [await answers()].flat()) {
    expect({ status, error: body.error }).toEqual({ status: 402, error: expect.stringMatching(reason) });
    expect(headers.get("cache-control")).toBe("no-store");
  }
  expect(runs(paid)).toBe(before);
}

async function publish(
  paid: PaidMarket,
  slug: string,
  price_credits = 5,
  creator = paid.market.creator,
): Promise<string> {
  await publishAgent(paid.marketplace.context, creator, slug, { ...echoAgent, price_credits });
  return `${paid.marketplace.url}/api/agent/${creator.handle}/${slug}`;
}

test("a payment that its buyer had settled buys after its fee payer was replaced, and one that is not settled leads to a new quote", async ({
  paid,
}) => {
  const { setting, ledger, marketplace } = paid;
  const { accountId, privateKey } = ledger.accounts.operator;
  const [proof, unpaid] = [await settled(paid, "hedera"), await payQuote(paid, "hedera", await quoteFor(paid))];
  const feePayers = { HEDERA_TESTNET_FEE_PAYERS: `${accountId}:${privateKey}` };
  const after = await startFacilitator({ ...setting.variables, ...hederaVariables(ledger), ...feePayers });
  const env = { ...marketplace.environment, FACILITATOR_URL: after.url };
  const { databaseUrl, model } = marketplace;
  const copy = await startMarketplace({ databaseUrl, model, env });
  try {
    const url = paid.url.replace(marketplace.url, copy.url);
    const bare = (one: Proof) => post(url, { proof: bareProof(one), body: input, header: "X-PAYMENT" });
    await expectRefused(paid, () => bare(proof), /^wallet_proof_required/);
    expect((await present(paid, proof, input, url)).status).toBe(200);

    const quotes = [await present(paid, unpaid, input, url), await bare(unpaid)];
    for (const { status, body } of quotes) {
      expect({ status, error: body.error }).toMatchObject({
        status: 402,
        error: expect.stringMatching(/^fee_payer_not_managed_by_facilitator/),
      });
    }
    const anew = await payQuote(paid, "hedera", quotes[0] as PaidAnswer);
    expect(anew.accepted.extra.feePayer).toBe(accountId);
    expect((await present(paid, anew, input, url)).status).toBe(200);
  } finally {
    await copy.stop();
    await after.stop();
  }
});

describe.each(chains)("a payment on %s that its buyer had settled", (chain) => {
  test("is nobody's who only read it off the chain, and the buyer's who holds the quote, once", async ({ paid }) => {
    const proof = await settled(paid, chain);
    const strangers = [
      await strangersProof(paid, proof),
      { ...proof, accepted: { ...proof.accepted, extra: {} } },
      bareProof(proof),
    ];
    await expectRefused(
      paid,
      () => Promise.all(strangers.flatMap((one) => [present(paid, one), present(paid, one, { text: "another" })])),
      /^wallet_proof_required|mismatch|invalid/,
    );
    expect((await post(paid.url, { proof: bareProof(proof), body: input, header: "X-PAYMENT" })).status).toBe(402);
    const before = runs(paid);
    expect(await present(paid, proof)).toMatchObject({ status: 200, body: { success: true } });
    expect(runs(paid)).toBe(before + 1);
    await expectRefused(
      paid,
      () => Promise.all([proof, ...strangers].map((one) => present(paid, one))),
      /already_settled|wallet_proof|mismatch|invalid/,
    );
  });

  test("and whose result was not fetched is not fetched by a stranger who knows the input", async ({ paid }) => {
    const proof = await payQuote(paid, chain, await quoteFor(paid));
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-answer" : "pass"));
    expect((await present(paid, proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    const strangers = await strangersProof(paid, proof);
    await expectRefused(
      paid,
      () => Promise.all([present(paid, strangers), present(paid, bareProof(proof))]),
      /^wallet_proof_required/,
    );
    const before = runs(paid);
    expect((await present(paid, proof)).status).toBe(200);
    expect(runs(paid)).toBe(before);
  });

  test("for another shop's resource buys nothing here, though it paid the same wallet the same amount", async ({
    paid,
  }) => {
    const quote = await quoteFor(paid);
    const { quoteId: _, ...extra } = (await payQuote(paid, chain, quote)).accepted.extra;
    const elsewhere = await payQuote(paid, chain, quote, { terms: { extra: { ...extra, quoteId: "theirs" } } });
    const theirs = await settleFirst(paid, { ...elsewhere, resource: { url: "https://other.example/shop" } });
    const disguises = [theirs, { ...theirs, resource: {} }, await strangersProof(paid, theirs), bareProof(theirs)];
    await expectRefused(
      paid,
      () => Promise.all(disguises.map((one) => present(paid, one))),
      /^payment_for_something_else/,
    );
  });

  test("to a wallet of the payer's own, or for less, under a quote of ours buys nothing", async ({ paid }) => {
    const quote = await quoteFor(paid);
    const payTo = chain === "hedera" ? paid.ledger.accounts.platform.accountId : newBuyer().address;
    for (const terms of [{ payTo }, { amount: "1" }, { payTo, amount: "1" }]) {
      const proof = await settleFirst(paid, await payQuote(paid, chain, quote, { terms }));
      await expectRefused(
        paid,
        () => Promise.all([present(paid, proof), present(paid, bareProof(proof))]),
        /payment_for_something_else/,
      );
      // With the terms as they were quoted it is not the payment that was settled.
      const quoted = {
        ...proof,
        accepted: {
          ...proof.accepted,
          ...quoteIn(quote).accepts.find((one: { network: string }) => one.network === proof.accepted.network),
        },
      };
      await expectRefused(paid, () => present(paid, quoted), /./);
    }
  });

  test("for one agent buys no other of the same price and creator, and the agent it was for under its new name, too", async ({
    paid,
  }) => {
    const creator = await createAccount(paid.marketplace.context.db, {
      handle: `mover-${randomBytes(4).toString("hex")}`,
    });
    const { db } = paid.marketplace.context;
    const wallets = { "eip155:84532": paid.evmWallet, "hedera:testnet": paid.ledger.accounts.creator.accountId };
    for (const [network, address] of Object.entries(wallets)) {
      await addPayoutWallet(db, { accountId: creator.id, network, address, checked: true });
    }
    const [one, other] = [await publish(paid, "one", 5, creator), await publish(paid, "other", 5, creator)];
    const [proof, second] = [await settled(paid, chain, one), await settled(paid, chain, one)];
    await expectRefused(paid, () => present(paid, proof, input, other), /^payment_for_something_else/);
    expect((await present(paid, second, input, one)).status).toBe(200);
    await expectRefused(paid, () => present(paid, second, input, other), /payment_used_for_another_call/);
    const handle = `moved-${randomBytes(4).toString("hex")}`;
    await db.query("update accounts set handle = $2 where id = $1", [creator.id, handle]);
    await db.query("update agents set handle = $2 where account_id = $1", [creator.id, handle]);
    await expectRefused(
      paid,
      () => present(paid, proof, input, other.replace(creator.handle, handle)),
      /^payment_for_something_else/,
    );
    expect((await present(paid, proof, input, one.replace(creator.handle, handle))).status).toBe(200);
  });

  test("posted twenty times at once with different inputs is one run and one result", async ({ paid }) => {
    const proof = await settled(paid, chain);
    const before = runs(paid);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => present(paid, proof, { text: `input ${n}` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(19);
    expect(runs(paid)).toBe(before + 1);
  });

  test("whose run failed is good for a corrected input of who holds the quote, at the price paid, until one succeeds", async ({
    paid,
  }) => {
    const url = await publish(paid, "failing");
    const proof = await settled(paid, chain, url);
    paid.marketplace.model.injectFault({ status: 500 });
    expect(await present(paid, proof, input, url)).toMatchObject({ status: 503, body: { charged: true } });
    paid.marketplace.model.clearFaults();
    await publish(paid, "failing", 50);
    const corrected = { text: "corrected" };
    await expectRefused(
      paid,
      async () => [
        await present(paid, await strangersProof(paid, proof, url), corrected, url),
        await present(paid, bareProof(proof), corrected, url),
      ],
      /^wallet_proof_required/,
    );
    expect(await present(paid, proof, corrected, url)).toMatchObject({ status: 200, body: { success: true } });
    await expectRefused(
      paid,
      async () => [await present(paid, proof, { text: "once more" }, url), await present(paid, proof, input, url)],
      /payment_used_for_another_call/,
    );
  });

  test("whose run is under way makes a corrected input wait for its end, and is good for it if that run failed", async ({
    paid,
  }) => {
    const url = await publish(paid, "under-way");
    const { model, context } = paid.marketplace;
    const waits = vi.spyOn(context.paidCalls.waitingPosts, "enter");
    const corrected = { text: "corrected" };
    const statuses = [];
    for (const fault of [{ status: 500 }, {}]) {
      const proof = await settled(paid, chain, url);
      const before = runs(paid);
      model.injectFault({ ...fault, delayMs: 600_000 });
      const first = present(paid, proof, input, url);
      await until(() => runs(paid) === before + 1);
      waits.mockClear();
      const second = present(paid, proof, corrected, url);
      await until(() => waits.mock.calls.length > 0);
      expect((await present(paid, bareProof(proof), corrected, url)).body.error).toMatch(/^wallet_proof_required/);
      model.answerHeld();
      const [{ status }, { status: statusOfCorrected, body }] = await Promise.all([first, second]);
      statuses.push([status, statusOfCorrected, body.error]);
    }
    expect(statuses).toEqual([
      [503, 200, undefined],
      [200, 402, expect.stringMatching(/^payment_used_for_another_call/)],
    ]);
  });

  test("is good for a corrected input that waits for a copy which dies, and what that copy made is given to nobody", async ({
    paid,
  }) => {
    const url = await publish(paid, "dying");
    const { model, context } = paid.marketplace;
    const waits = vi.spyOn(context.paidCalls.waitingPosts, "enter");
    const proof = await settled(paid, chain, url);
    const before = runs(paid);
    model.injectFault({ delayMs: 600_000 });
    const first = present(paid, proof, input, url);
    await until(() => runs(paid) === before + 1);
    waits.mockClear();
    const second = present(paid, proof, { text: "corrected" }, url);
    await until(() => waits.mock.calls.length > 0);
    // What is left of a copy that died: a lease that has lapsed, and that nothing extends.
    await context.db.query(
      `update paid_calls set holder = gen_random_uuid(), lease_until = now() - interval '1 second'
        where product = (select id from agents where slug = 'dying') and lease_until > now()`,
    );
    expect(await second).toMatchObject({ status: 200, body: { success: true } });
    model.answerHeld();
    expect((await first).status).toBe(503);
    await expectRefused(paid, () => present(paid, proof, input, url), /^payment_used_for_another_call/);
    expect(runs(paid)).toBe(before + 2);
  });

  test("is never run again, with any input, while nobody knows what came of its effect", async ({ paid }) => {
    const proof = await settled(paid, chain);
    paid.marketplace.model.injectFault({ status: 500 });
    expect((await present(paid, proof)).status).toBe(503);
    paid.marketplace.model.clearFaults();
    const { db } = paid.marketplace.context;
    const { rows } = await db.query(
      "select network || '/' || payment_key as key, product, run_id from paid_calls order by created_at desc limit 1",
    );
    const [{ key, product, run_id }] = rows as [Record<string, string>];
    await db.query(
      `insert into effects (key, run_id, agent_id, network, valid_until, state, promised)
       values ($1, $2, $3, 'hedera:testnet', now() + interval '1 hour', 'open', '{}')`,
      [key, run_id, product],
    );
    const before = runs(paid);
    expect((await present(paid, proof, { text: "corrected" })).status).toBe(503);
    expect(runs(paid)).toBe(before);
    await db.query("update effects set state = 'void' where key = $1", [key]);
    expect((await present(paid, proof, { text: "corrected" })).status).toBe(200);
  });
});

test("a payment that was settled before it came here is owed to its buyer when the copy that ran it was killed", async ({
  paid,
}) => {
  const { environment, context, model } = paid.marketplace;
  const proof = await settled(paid, "evm");
  const doomed = await startProcess(environment);
  model.injectFault({ delayMs: 600_000, times: 1 });
  const before = runs(paid);
  const lost = post(`${doomed.url}/api/agent/${paid.address}`, { body: input, proof }).catch(() => undefined);
  await expect.poll(() => runs(paid)).toBe(before + 1);
  doomed.child.kill("SIGKILL");
  await lost;
  model.clearFaults();
  const owed = () => listDebts(context.db, paid.market.creator.id, { limit: 20, offset: 0 });
  expect(await owed()).toHaveLength(1);
  await context.db.query("update paid_calls set lease_until = now() where lease_until is not null");
  expect((await present(paid, proof)).status).toBe(200);
  await expect.poll(owed).toEqual([]);
});

describe.each(chains)("a quote on %s", (chain) => {
  test("is good at its price for an hour after the price went up, and then only for what costs no more", async ({
    paid,
  }) => {
    const url = await publish(paid, "repriced", 5);
    const [young, old] = [
      await payQuote(paid, chain, await quoteFor(paid, url)),
      await payQuote(paid, chain, await quoteFor(paid, url)),
    ];
    const agent = await paid.marketplace.context.db.query("select id from agents where slug = 'repriced'");
    const aged = (proof: Proof) => quotedAt(proof, agent.rows[0].id, Date.now() - 3_700_000);
    const expired = await settleFirst(paid, aged(old));
    await settleFirst(paid, young);
    await publish(paid, "repriced", 7);
    await expectRefused(paid, () => present(paid, expired, input, url), /payment_for_something_else/);
    expect((await present(paid, young, input, url)).status).toBe(200);
    await publish(paid, "repriced", 3);
    expect((await present(paid, expired, input, url)).status).toBe(200);
  });

  test("is good at its price for a payment that was signed before its end, whenever that is presented", async ({
    paid,
  }) => {
    const url = await publish(paid, "posted-late", 5);
    const agent = await paid.marketplace.context.db.query("select id from agents where slug = 'posted-late'");
    const quoted = await payQuote(paid, chain, await quoteFor(paid, url));
    const proof = await settleFirst(paid, quotedAt(quoted, agent.rows[0].id, Date.now() - 3_598_000));
    await publish(paid, "posted-late", 7);
    await elapse(4_000, "until the quote has ended");
    expect((await present(paid, proof, input, url)).status).toBe(200);
    await expectRefused(paid, () => present(paid, proof, { text: "another" }, url), /payment_used_for_another_call/);
  });

  test("is still good when its seller is paid on another wallet by now", async ({ paid }) => {
    const url = await publish(paid, "moved-wallet");
    const proof = await settled(paid, chain, url);
    const { db } = paid.marketplace.context;
    const retire = "update payout_wallets set state = $2 where account_id = $1 and network = $3 and state = $4";
    const { id } = paid.market.creator;
    await db.query(retire, [id, "retired", proof.accepted.network, "checked"]);
    try {
      expect((await present(paid, proof, input, url)).status).toBe(200);
    } finally {
      await db.query(retire, [id, "checked", proof.accepted.network, "retired"]);
    }
  });
});

test("a settled payment with a quote is owed by an agent that its creator took off the market meanwhile, and nothing else is", async ({
  paid,
}) => {
  const url = await publish(paid, "withdrawn");
  const { db } = paid.marketplace.context;
  const [proof, unsettled] = [await settled(paid, "evm", url), await payQuote(paid, "evm", await quoteFor(paid, url))];
  await db.query("update agents set state = 'unpublished' where slug = 'withdrawn'");
  const nowhere = await post(`${url}-nowhere`, { body: input });
  for (const one of [undefined, unsettled, await strangersProof(paid, proof)]) {
    const { status, body } = await post(url, { body: input, ...(one && { proof: one }) });
    expect({ status, body }).toEqual({ status: 404, body: nowhere.body });
  }
  expect(await present(paid, proof, input, url)).toMatchObject({ status: 200, body: { success: true } });
  expect((await present(paid, proof, input, url)).status).toBe(402);
});

describe.each(chains)("the specification's flow in version 1 on %s", (chain) => {
  /** Settled on an entry of the 402's body, and presented without anything of it. */
  const settledV1 = async (paid: PaidMarket, body: unknown = input) => {
    const quote = await quoteFor(paid, paid.url, body);
    const proof = await payQuote(paid, chain, quote);
    const entry = quote.body.accepts.find((one: { network: string }) => one.network === proof.accepted.network);
    const request = { x402Version: 1, paymentPayload: bareProof(proof), paymentRequirements: entry };
    expect((await paid.facilitator.settle(request)).body).toMatchObject({ success: true });
    return bareProof(proof);
  };
  const presentV1 = (paid: PaidMarket, proof: object, body: unknown = input) =>
    post(paid.url, { proof, body, header: "X-PAYMENT" });

  test("buys the body that was quoted, byte for byte, and nobody can take the result away from the buyer", async ({
    paid,
  }) => {
    const proof = await settledV1(paid);
    await expectRefused(
      paid,
      () =>
        Promise.all([
          presentV1(paid, proof, { text: "another" }),
          presentV1(paid, proof, `{ "text": "${input.text}" }`),
          presentV1(paid, proof, { ...input, more: 1 }),
        ]),
      /^wallet_proof_required/,
    );
    const before = runs(paid);
    const first = await presentV1(paid, proof);
    expect(first).toMatchObject({ status: 200, body: { success: true } });
    const again = await presentV1(paid, proof);
    expect(again).toMatchObject({ status: 200, body: { run_id: first.body.run_id } });
    expect(runs(paid)).toBe(before + 1);
    await paid.marketplace.context.db.query(
      "update paid_calls set updated_at = now() - interval '25 hours' where run_id = $1",
      [first.body.run_id],
    );
    await expectRefused(paid, () => presentV1(paid, proof), /already_settled/);
  });

  test("is refused with a wallet to be shown for a body that was never quoted", async ({ paid }) => {
    const proof = await settledV1(paid, { text: "quoted" });
    const { status, body } = await presentV1(paid, proof, { text: "not quoted" });
    expect({ status, ...body }).toMatchObject({ status: 402, extensions: { "sign-in-with-x": { info: {} } } });
  });
});

describe("copies of the service", () => {
  const copies: TestMarketplace[] = [];
  const copy = async (paid: PaidMarket, keys: Record<string, string>) => {
    const { databaseUrl, environment, model } = paid.marketplace;
    const { MARKETPLACE_QUOTE_KEY: _, ...env } = environment;
    copies.push(await startMarketplace({ databaseUrl, env: { ...env, ...keys }, model }));
    return `${copies.at(-1)?.url}/api/agent/${paid.address}`;
  };
  afterAll(() => Promise.all(copies.map((one) => one.stop())));

  test("know each other's quotes over a rotation of the key, and none of a key that is not theirs", async ({
    paid,
  }) => {
    const next = randomBytes(32).toString("base64");
    const old = secret.toString("base64");
    const rotated = await copy(paid, { MARKETPLACE_QUOTE_KEY: next, MARKETPLACE_QUOTE_KEYS_OTHER: old });
    const stranger = await copy(paid, { MARKETPLACE_QUOTE_KEY: next });
    const proof = await settled(paid, "evm");
    await expectRefused(paid, () => present(paid, proof, input, stranger), /^wallet_proof_required/);
    expect((await present(paid, proof, input, rotated)).status).toBe(200);
    await expectRefused(
      paid,
      () => Promise.all([paid.url, rotated].map((url) => present(paid, proof, input, url))),
      /already_settled/,
    );
  });

  test("without a key share the one in their database", async ({ paid }) => {
    const [one, other] = [await copy(paid, {}), await copy(paid, {})];
    const proof = await settleFirst(paid, await payQuote(paid, "evm", await quoteFor(paid, one)));
    await expectRefused(paid, () => present(paid, proof), /^wallet_proof_required/);
    expect((await present(paid, proof, input, other)).status).toBe(200);
  });
});

describe.each(chains)("bought credits, paid on %s and settled first", (chain) => {
  const url = (paid: PaidMarket) => `${paid.marketplace.url}/api/v1/credits/purchase`;
  const buy = (paid: PaidMarket, key: string, credits: number, proof?: object) =>
    post(url(paid), { key, body: { credits }, ...(proof && { proof }) });
  const balance = async (paid: PaidMarket, key: string) => (await balanceOf(paid.marketplace, key)).credits as number;

  test("are the account's that was quoted, as many as were quoted, and no thief's", async ({ paid }) => {
    const { context } = paid.marketplace;
    const thief = await createAccount(context.db, { handle: `thief-${randomBytes(4).toString("hex")}` });
    const { token: thiefsKey } = await createKey(context.db, {
      accountId: thief.id,
      name: "k",
      rateLimitPerMinute: 600,
    });
    const { key } = paid.market;
    const before = await balance(paid, key);
    const quote = await buy(paid, key, 7);
    const proof = await settleFirst(paid, await payQuote(paid, chain, quote));
    const own = quoteIn(await buy(paid, thiefsKey, 7));
    const accepted = own.accepts.find((one: { network: string }) => one.network === proof.accepted.network);
    for (const stolen of [proof, { ...proof, accepted, resource: own.resource }, bareProof(proof)]) {
      expect(await buy(paid, thiefsKey, 7, stolen)).toMatchObject({
        status: 402,
        body: { error: expect.stringMatching(/wallet_proof/) },
      });
      expect((await buy(paid, thiefsKey, 70_000, stolen)).status).toBe(402);
    }
    expect((await buy(paid, key, 70_000, proof)).status).toBe(402);
    expect((await buy(paid, key, 1, proof)).status).toBe(402);
    expect((await buy(paid, key, 7, proof)).status).toBe(200);
    expect([await balance(paid, key), await balance(paid, thiefsKey)]).toEqual([before + 7, 0]);
    expect((await buy(paid, thiefsKey, 7, proof)).status).toBe(402);
  });
});

test("no quote's id is logged", async ({ paid }) => {
  const proof = await settled(paid, "evm");
  await present(paid, proof);
  await present(paid, proof, { text: "another" });
  const log = paid.marketplace.lines.join("");
  expect(log.length).toBeGreaterThan(0);
  expect(log).not.toContain(proof.accepted.extra.quoteId);
});
