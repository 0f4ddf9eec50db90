import { createHash, randomBytes } from "node:crypto";
import { PrivateKey } from "@hashgraph/sdk";
import { encodeSIWxHeader, wrapFetchWithSIWx } from "@x402/extensions/sign-in-with-x";
import { describe, expect } from "vitest";
import { ownerWallet } from "../../infra/local-evm/artifacts.ts";
import { createAccount } from "../../marketplace/accounts/create.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import { deleteExpiredRows } from "../../marketplace/expired-rows.ts";
import { type Buyer, newBuyer } from "../support/evm-payments.ts";
import { paidTest } from "../support/fixtures.ts";
import { balanceOf, startMarketplace, type TestMarketplace } from "../support/marketplace.ts";
import type { PaidMarket } from "../support/paid-market.ts";
import {
  bareProof,
  encodeHeader,
  type PaidAnswer,
  type Proof,
  payQuote,
  post,
  quoteIn,
  settleFirst,
} from "../support/pay-call.ts";

const test = paidTest({ env: { LIMIT_FAILED_PROOFS_PER_ADDRESS: "100000" } });

const input = { text: "the buyer's own input" };
const runs = (paid: PaidMarket) => paid.marketplace.model.asked();
const present = (paid: PaidMarket, proof: object, signIn?: object, options: { body?: unknown; url?: string } = {}) =>
  post(options.url ?? paid.url, { proof, body: options.body ?? input, ...(signIn && { signIn }) });

/** A payment that its buyer had settled without the quote's id: nothing but the wallet shows whose it is. */
async function settledBare(paid: PaidMarket, chain: "hedera" | "evm", buyer?: Buyer): Promise<Proof> {
  const quote = await post(paid.url, { body: input });
  const whole = await payQuote(paid, chain, quote, buyer && { buyer });
  const { quoteId: _, ...extra } = whole.accepted.extra;
  return settleFirst(paid, { ...whole, accepted: { ...whole.accepted, extra } });
}

/** What the 402 says is to be signed. */
const challengeOf = (answer: PaidAnswer) => {
  const extension = quoteIn(answer).extensions["sign-in-with-x"];
  expect(answer.body.extensions["sign-in-with-x"].info.uri).toBe(extension.info.uri);
  const [{ chainId, type }] = extension.supportedChains;
  return { ...extension.info, chainId, type } as Info;
};

interface Info {
  readonly domain: string;
  readonly uri: string;
  readonly version: string;
  readonly statement: string;
  readonly nonce: string;
  readonly issuedAt: string;
  readonly expirationTime: string;
  readonly resources: readonly string[];
  readonly chainId: string;
  readonly type: string;
}

/** EIP-4361, written down from its specification. */
const textOf = (info: Info, address: string) => `${info.domain} wants you to sign in with your ${
  info.chainId.startsWith("eip155:") ? "Ethereum" : "Hedera"
} account:
${address}

${info.statement}

URI: ${info.uri}
Version: ${info.version}
Chain ID: ${info.chainId.split(":")[1]}
Nonce: ${info.nonce}
Issued At: ${info.issuedAt}
Expiration Time: ${info.expirationTime}
Resources:
${info.resources.map((resource) => `- ${resource}`).join("\n")}`;

const signedBy = async (buyer: Buyer, info: Info, address: string = buyer.address) => {
  return { ...info, address, signature: await buyer.signMessage({ message: textOf(info, address) }) };
};

function signedOnHedera(paid: PaidMarket, info: Info): object {
  const { accountId, privateKey } = paid.ledger.accounts.buyer;
  const signature = PrivateKey.fromStringDer(privateKey).sign(Buffer.from(textOf(info, accountId)));
  return { ...info, address: accountId, signature: Buffer.from(signature).toString("hex") };
}

async function expectRefused(answer: PaidAnswer, reason: RegExp): Promise<void> {
  expect({ status: answer.status, error: answer.body.error }).toEqual({
    status: 402,
    error: expect.stringMatching(reason),
  });
}

describe("the wallet that paid, shown beside the payment", () => {
  test("by the stock client on EVM redeems it, and a copy of what was shown redeems nothing more", async ({ paid }) => {
    const buyer = await paid.setting.fundedBuyer();
    const proof = await settledBare(paid, "evm", buyer);
    let shown: string | null = null;
    const local = async (request: Request) => {
      shown = request.headers.get("sign-in-with-x") ?? shown;
      const { pathname } = new URL(request.url);
      return fetch(new Request(`${paid.marketplace.url}${pathname}`, request));
    };
    // The client signs only for the host it speaks to, so it believes it speaks to the public one.
    const believed = async (...[request]: Parameters<typeof fetch>) => {
      const { status, headers, body } = await local(request as Request);
      return new Response(body, { status, headers });
    };
    const signingFetch = wrapFetchWithSIWx(believed as typeof fetch, buyer);
    const headers = { "content-type": "application/json", "payment-signature": encodeHeader(proof) };
    const answer = await signingFetch(paid.publicUrl, { method: "POST", headers, body: JSON.stringify(input) });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 200,
      body: { success: true },
    });
    const replayed = JSON.parse(Buffer.from(String(shown), "base64").toString());
    await expectRefused(await present(paid, proof, replayed), /nonce|already_settled/);
    expect(encodeSIWxHeader(replayed)).toBe(shown);
  });

  test("on Hedera redeems it", async ({ paid }) => {
    const proof = await settledBare(paid, "hedera");
    const asked = await present(paid, proof);
    await expectRefused(asked, /^wallet_proof_required/);
    expect(await present(paid, proof, signedOnHedera(paid, challengeOf(asked)))).toMatchObject({
      status: 200,
      body: { success: true },
    });
  });

  test.for(["hedera", "evm"] as const)(
    "redeems what version 1 presents without a word of the quote (%s)",
    async (chain, { paid }) => {
      const buyer = await paid.setting.fundedBuyer();
      const { accepted, payload } = await settledBare(paid, chain, chain === "evm" ? buyer : undefined);
      const proof = { x402Version: 1, scheme: "exact", network: accepted.network, payload };
      const options = { proof, body: input, header: "X-PAYMENT" };
      const asked = await post(paid.url, options);
      await expectRefused(asked, /^wallet_proof_required/);
      const info = challengeOf(asked);
      const signIn = chain === "evm" ? await signedBy(buyer, info) : signedOnHedera(paid, info);
      expect(await post(paid.url, { ...options, signIn })).toMatchObject({ status: 200, body: { success: true } });
    },
  );

  test.for(["hedera", "evm"] as const)(
    "is asked for by what says that a version 1 payment's result is kept, which offers nothing to pay, and is given the result (%s)",
    async (chain, { paid }) => {
      const buyer = await paid.setting.fundedBuyer();
      const quote = await post(paid.url, { body: input });
      const quoted = await payQuote(paid, chain, quote, { buyer });
      const entry = quote.body.accepts.find(({ network }: { network: string }) => network === quoted.accepted.network);
      const proof = bareProof(quoted);
      const request = { x402Version: 1, paymentPayload: proof, paymentRequirements: entry };
      expect((await paid.facilitator.settle(request)).body).toMatchObject({ success: true });
      const options = { proof, body: input, header: "X-PAYMENT" };
      const { run_id } = (await post(paid.url, options)).body;
      const age = "update paid_calls set updated_at = now() - interval '25 hours' where run_id = $1 and holder is null";
      await expect.poll(async () => (await paid.marketplace.context.db.query(age, [run_id])).rowCount).toBe(1);
      const kept = await post(paid.url, options);
      await expectRefused(kept, /^already_settled: .*wallet that paid/);
      expect(kept.body).toMatchObject({
        charged: true,
        advice: expect.stringContaining("SIGN-IN-WITH-X"),
        accepts: [],
      });
      expect(quoteIn(kept)).toMatchObject({ x402Version: 2, accepts: [] });
      const info = challengeOf(kept);
      const signIn = chain === "evm" ? await signedBy(buyer, info) : signedOnHedera(paid, info);
      expect(await post(paid.url, { ...options, signIn })).toMatchObject({ status: 200, body: { run_id } });
    },
  );

  test.for(["hedera", "evm"] as const)(
    "is given the delivered result once more, whose answer may have been lost, for as long as it is kept (%s)",
    async (chain, { paid }) => {
      const buyer = await paid.setting.fundedBuyer();
      const proof = await payQuote(paid, chain, await post(paid.url, { body: input }), { buyer });
      const first = await present(paid, proof);
      expect(first.status).toBe(200);
      const before = runs(paid);
      const replayed = async () => {
        const answer = await present(paid, proof);
        await expectRefused(answer, /^already_settled: .*was delivered/);
        return answer;
      };
      await expect.poll(async () => (await replayed()).body.advice).toContain("SIGN-IN-WITH-X");
      const sign = async () => {
        const info = challengeOf(await replayed());
        return chain === "evm" ? signedBy(buyer, info) : signedOnHedera(paid, info);
      };
      const shown = await sign();
      const again = await present(paid, proof, shown);
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
      await expectRefused(await present(paid, proof, shown), /^invalid_wallet_proof: .*nonce/);
      await expectRefused(
        await present(paid, proof, await sign(), { body: { text: "another" } }),
        /^payment_used_for_another_call/,
      );
      if (chain === "evm") {
        const stranger = newBuyer();
        const info = challengeOf(await replayed());
        await expectRefused(await present(paid, proof, await signedBy(stranger, info)), /^invalid_wallet_proof/);
      }
      const last = await sign();
      const age = "update paid_calls set result_at = now() - interval '31 days' where run_id = $1";
      await paid.marketplace.context.db.query(age, [first.body.run_id]);
      const over = await present(paid, proof, last);
      await expectRefused(over, /^already_settled/);
      expect(over.body.extensions).toBeUndefined();
      expect(runs(paid)).toBe(before);
    },
  );

  test("that is a contract, as the contract says (ERC-1271)", async ({ paid }) => {
    const owner = newBuyer();
    const address = await paid.setting.chain.deploy(ownerWallet, [owner.address]);
    await paid.setting.chain.fund(address, { usdc: 1_000_000n });
    const wallet = { ...owner, address } as Buyer;
    const proof = await settledBare(paid, "evm", wallet);
    const info = challengeOf(await present(paid, proof));
    await expectRefused(await present(paid, proof, await signedBy(newBuyer(), info, address)), /^invalid_wallet_proof/);
    expect((await present(paid, proof, await signedBy(owner, info, address))).status).toBe(200);
  });

  test("redeems a payment whose run failed, whatever is left of the payment beside it", async ({ paid }) => {
    const buyer = await paid.setting.fundedBuyer();
    const proof = await settledBare(paid, "evm", buyer);
    paid.marketplace.model.injectFault({ status: 500 });
    const failed = await present(paid, proof, await signedBy(buyer, challengeOf(await present(paid, proof))));
    paid.marketplace.model.clearFaults();
    expect(failed).toMatchObject({ status: 503, body: { charged: true } });
    const body = { text: "corrected" };
    const info = challengeOf(await present(paid, proof, undefined, { body }));
    const left = { ...proof, payload: { ...proof.payload, signature: `0x${"11".repeat(65)}` } };
    await expectRefused(await present(paid, left, undefined, { body }), /^invalid_exact_evm_signature/);
    await expectRefused(await present(paid, left, await signedBy(newBuyer(), info), { body }), /^invalid_exact_evm/);
    expect((await present(paid, left, await signedBy(buyer, info), { body })).status).toBe(200);
  });

  test("redeems a payment whose run failed with another input, once", async ({ paid }) => {
    const buyer = await paid.setting.fundedBuyer();
    const proof = await settledBare(paid, "evm", buyer);
    paid.marketplace.model.injectFault({ status: 500 });
    const failed = await present(paid, proof, await signedBy(buyer, challengeOf(await present(paid, proof))));
    paid.marketplace.model.clearFaults();
    expect(failed).toMatchObject({ status: 503, body: { charged: true } });
    const body = { text: "corrected" };
    const asked = await present(paid, proof, undefined, { body });
    await expectRefused(asked, /^wallet_proof_required/);
    expect((await present(paid, proof, await signedBy(buyer, challengeOf(asked)), { body })).status).toBe(200);
    await expectRefused(
      await present(paid, proof, undefined, { body: { text: "more" } }),
      /payment_used_for_another_call/,
    );
  });
});

const digest = (body: string) => `urn:x402:input:sha256:${createHash("sha256").update(body).digest("hex")}`;

describe("is nothing", () => {
  let buyer: Buyer;
  let proof: Proof;
  let info: Info;
  test.beforeAll(async ({ paid }) => {
    buyer = await paid.setting.fundedBuyer();
    proof = await settledBare(paid, "evm", buyer);
    info = challengeOf(await present(paid, proof));
  });
  const minutes = (from: number) => new Date(Date.now() + from * 60_000).toISOString();

  test.for([
    ["for another domain", () => ({ domain: "evil.example" })],
    ["for another address of ours", () => ({ uri: "https://market.example.com/api/agent/other/agent" })],
    ["on another chain", () => ({ chainId: "eip155:8453" })],
    ["of another kind", () => ({ type: "ed25519" })],
    ["issued long ago", () => ({ issuedAt: minutes(-11), expirationTime: minutes(5) })],
    ["issued in the future", () => ({ issuedAt: minutes(5), expirationTime: minutes(10) })],
    ["that is over", () => ({ expirationTime: minutes(-1) })],
    ["that is good for long", () => ({ expirationTime: minutes(600) })],
    ["that begins later", () => ({ notBefore: minutes(5) })],
    ["of another version", () => ({ version: "2" })],
    ["without a nonce", () => ({ nonce: "" })],
    ["for no resources", () => ({ resources: [] })],
    [
      "for another payment",
      () => ({ resources: [`urn:x402:payment:eip155:84532:0x0:${buyer.address}:0x1`, info.resources[1]!] }),
    ],
    ["for another input", () => ({ resources: [info.resources[0]!, digest('{"text":"another"}')] })],
    ["with lines hidden in the statement", () => ({ statement: `x\n\nURI: ${info.uri}` })],
  ] as const)("signed %s", async ([_what, changes], { paid }) => {
    const before = runs(paid);
    await expectRefused(
      await present(paid, proof, await signedBy(buyer, { ...info, ...changes() })),
      /^invalid_wallet_proof: SIGN-IN-WITH-X: /,
    );
    expect(runs(paid)).toBe(before);
  });

  test.for([
    ["another wallet's", async () => signedBy(newBuyer(), info)],
    ["another wallet's under the payer's name", async () => signedBy(newBuyer(), info, buyer.address)],
    ["made up", async () => ({ ...(await signedBy(buyer, info)), signature: `0x${"11".repeat(65)}` })],
    ["no signature", async () => ({ ...(await signedBy(buyer, info)), signature: "nothing" })],
    ["endless", async () => ({ ...(await signedBy(buyer, info)), signature: `0x${"11".repeat(4_150)}` })],
    ["of another text", async () => ({ ...(await signedBy(buyer, info)), statement: "Another." })],
    ["nothing at all", async () => ({})],
    ["no object", async () => ["a list"]],
  ] as const)("that is %s", async ([_what, shown], { paid }) => {
    const before = runs(paid);
    await expectRefused(await present(paid, proof, await shown()), /^invalid_wallet_proof: SIGN-IN-WITH-X: /);
    expect(runs(paid)).toBe(before);
  });

  test("for another input than it was signed for, nor on another copy a second time, and the right one still counts", async ({
    paid,
  }) => {
    const { databaseUrl, environment: env, model } = paid.marketplace;
    const other: TestMarketplace = await startMarketplace({ databaseUrl, env, model });
    try {
      const shown = await signedBy(buyer, info);
      await expectRefused(
        await present(paid, proof, shown, { body: { text: "a stranger's" } }),
        /^invalid_wallet_proof/,
      );
      await expectRefused(
        await present(paid, { ...proof, payload: (await settledBare(paid, "evm")).payload }, shown),
        /^invalid_wallet_proof/,
      );
      const urls = [paid.url, `${other.url}/api/agent/${paid.address}`];
      const before = runs(paid);
      paid.marketplace.model.injectFault({ status: 500 });
      const answers = await Promise.all([...urls, ...urls, ...urls].map((url) => present(paid, proof, shown, { url })));
      paid.marketplace.model.clearFaults();
      expect(answers.filter(({ status }) => status === 503)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 402)).toHaveLength(5);
      expect(runs(paid)).toBe(before + 1);
    } finally {
      await other.stop();
    }
  });
});

describe("the payer of what was paid before", () => {
  /** Settled by its payer, for something of another shop that is paid at the same wallet. */
  const elsewhere = async (paid: PaidMarket, resource: object) => {
    const buyer = await paid.setting.fundedBuyer();
    const quote = await post(paid.url, { body: input });
    const whole = await payQuote(paid, "evm", quote, { buyer, terms: { extra: { name: "USDC", version: "2" } } });
    return { buyer, proof: await settleFirst(paid, { ...whole, resource }) };
  };

  test("does not have it once more here, where it was for another shop, whatever is claimed now", async ({ paid }) => {
    const { buyer, proof } = await elsewhere(paid, { url: "https://other.example/shop?token=1" });
    const info = challengeOf(await present(paid, await settledBare(paid, "evm")));
    const resources = [`urn:x402:payment:eip155:84532:${keyOf(proof)}`, ...info.resources.slice(1)];
    const signIn = await signedBy(buyer, { ...info, resources });
    const before = runs(paid);
    const own = quoteIn(await post(paid.url, { body: input }));
    const accepted = own.accepts.find(({ network }: { network: string }) => network === "eip155:84532");
    for (const claim of [{}, { resource: own.resource }, { resource: {} }, { resource: own.resource, accepted }]) {
      await expectRefused(await present(paid, { ...proof, ...claim }, signIn), /^payment_for_something_else/);
    }
    expect(runs(paid)).toBe(before);
  });

  /** Signed before anything has asked for it. */
  const signedAhead = async (paid: PaidMarket, buyer: Buyer, proof: Proof, { uri, body, more = [] }: Ahead) => {
    const info = challengeOf(await present(paid, await settledBare(paid, "evm")));
    const resources = [`urn:x402:payment:eip155:84532:${keyOf(proof)}`, digest(JSON.stringify(body)), ...more];
    return signedBy(buyer, { ...info, uri, nonce: randomBytes(16).toString("hex"), resources });
  };
  interface Ahead {
    readonly uri: string;
    readonly body: object;
    readonly more?: readonly string[];
  }

  test.for([
    ["names no resource", {}],
    ["names no URL", { url: "goods" }],
    ["names the same path of another shop", (paid: PaidMarket) => ({ url: paid.url })],
    ["names the home page here", (paid: PaidMarket) => ({ url: new URL("/", paid.publicUrl).href })],
  ] as const)("does not have it here where what was settled %s", async ([_what, resource], { paid }) => {
    const { buyer, proof } = await elsewhere(paid, typeof resource === "function" ? resource(paid) : resource);
    const before = runs(paid);
    const signIn = await signedAhead(paid, buyer, proof, { uri: paid.publicUrl, body: input });
    const own = quoteIn(await post(paid.url, { body: input }));
    for (const claim of [{}, { resource: own.resource }]) {
      await expectRefused(await present(paid, { ...proof, ...claim }, signIn), /^payment_for_something_else/);
    }
    expect(runs(paid)).toBe(before);
  });

  /** Settled for another shop while this service is about to settle it. */
  const settledMeanwhile = async (paid: PaidMarket, proof: Proof, posting: () => Promise<PaidAnswer>) => {
    const { quoteId: _, ...extra } = proof.accepted.extra;
    const accepted = { ...proof.accepted, extra };
    paid.toFacilitator.behave((path) => (path === "/settle" ? "hold" : "pass"));
    try {
      const answer = posting();
      await expect.poll(() => paid.toFacilitator.held(), { interval: 10 }).toBe(1);
      await settleFirst(paid, { ...proof, accepted, resource: { url: "https://other.example/shop" } });
      paid.toFacilitator.behave(() => "pass");
      return await answer;
    } finally {
      paid.toFacilitator.behave(() => "pass");
    }
  };

  test("does not have the result of a run here, where another shop was paid with it during the run", async ({
    paid,
  }) => {
    const buyer = await paid.setting.fundedBuyer();
    const proof = await payQuote(paid, "evm", await post(paid.url, { body: input }), { buyer });
    const ahead = { uri: paid.publicUrl, body: input };
    const signIn = await signedAhead(paid, buyer, proof, ahead);
    const answer = await settledMeanwhile(paid, proof, () => present(paid, proof, signIn));
    await expectRefused(answer, /^payment_for_something_else/);
    expect(JSON.stringify(answer.body)).not.toContain("Asked");
    const again = await present(paid, proof, await signedAhead(paid, buyer, proof, ahead));
    await expectRefused(again, /^payment_for_something_else/);
  });

  test("does not have it by a second post that shows the wallet, where another shop is paid with it before the result is", async ({
    paid,
  }) => {
    const buyer = await paid.setting.fundedBuyer();
    const proof = await payQuote(paid, "evm", await post(paid.url, { body: input }), { buyer });
    paid.toFacilitator.behave((path) => (path === "/settle" ? "lose-call" : "pass"));
    expect((await present(paid, proof)).status).toBe(503);
    paid.toFacilitator.behave(() => "pass");
    const signIn = await signedAhead(paid, buyer, proof, { uri: paid.publicUrl, body: input });
    const answer = await settledMeanwhile(paid, proof, () => present(paid, proof, signIn));
    await expectRefused(answer, /^payment_for_something_else/);
  });

  test("does not have credits for it, where another shop was paid with it meanwhile", async ({ paid }) => {
    const at = `${paid.marketplace.url}/api/v1/credits/purchase`;
    const { key, buyer: account } = paid.market;
    const body = { credits: 11 };
    const buyer = await paid.setting.fundedBuyer();
    const proof = await payQuote(paid, "evm", await post(at, { key, body }), { buyer });
    const uri = new URL("/api/v1/credits/purchase", paid.publicUrl).href;
    const signIn = await signedAhead(paid, buyer, proof, { uri, body, more: [`urn:x402:account:${account.id}`] });
    const before = (await balanceOf(paid.marketplace, key)).credits;
    const answer = await settledMeanwhile(paid, proof, () => post(at, { key, body, proof, signIn }));
    await expectRefused(answer, /^payment_for_something_else/);
    expect((await balanceOf(paid.marketplace, key)).credits).toBe(before);
  });

  test("has it here where the facilitator lost its record, and does not know what it was for", async ({ paid }) => {
    const { buyer, proof } = await elsewhere(paid, { url: paid.publicUrl });
    // As a settlement is recorded that was found again on the chain.
    await paid.facilitator.context.db.query(
      "update payments set resource_url = null, message_digest = null, terms_digest = null where payment_key = $1",
      [keyOf(proof)],
    );
    const asked = await present(paid, proof);
    expect((await present(paid, proof, await signedBy(buyer, challengeOf(asked)))).status).toBe(200);
  });

  test("has it here where it was for this, under a former name of its creator, too", async ({ paid }) => {
    const { db } = paid.marketplace.context;
    const { id, handle } = paid.market.creator;
    const [one, two] = [await elsewhere(paid, { url: paid.publicUrl }), await elsewhere(paid, { url: paid.publicUrl })];
    const have = async ({ buyer, proof }: typeof one) => {
      const asked = await present(paid, proof);
      expect((await present(paid, proof, await signedBy(buyer, challengeOf(asked)))).status).toBe(200);
    };
    const rename = async (name: string) => {
      await db.query("update accounts set handle = $2 where id = $1", [id, name]);
      await db.query("update agents set handle = $2 where account_id = $1", [id, name]);
    };
    await have(one);
    await rename(`moved-${randomBytes(4).toString("hex")}`);
    try {
      await have(two);
    } finally {
      await rename(handle);
    }
  });
});

const keyOf = ({ accepted, payload }: Proof) => {
  const { from, nonce } = (payload as { authorization: { from: string; nonce: string } }).authorization;
  return `${accepted.asset}:${from}:${nonce}`.toLowerCase();
};

test("a settled payment without a quote buys credits for the account that the wallet signed for, and no other", async ({
  paid,
}) => {
  const { context, url } = paid.marketplace;
  const at = `${url}/api/v1/credits/purchase`;
  const thief = await createAccount(context.db, { handle: `thief-${randomBytes(4).toString("hex")}` });
  const { token } = await createKey(context.db, { accountId: thief.id, name: "k", rateLimitPerMinute: 600 });
  const { key } = paid.market;
  const body = { credits: 9 };
  const balance = async () => (await balanceOf(paid.marketplace, key)).credits as number;
  const before = await balance();
  const buyer = await paid.setting.fundedBuyer();
  const whole = await payQuote(paid, "evm", await post(at, { key, body }), { buyer });
  const proof = await settleFirst(paid, {
    ...whole,
    accepted: { ...whole.accepted, extra: { name: "USDC", version: "2" } },
  });
  const asked = await post(at, { key, body, proof });
  await expectRefused(asked, /^wallet_proof_required/);
  const signIn = await signedBy(buyer, challengeOf(asked));
  expect(signIn.resources).toContain(`urn:x402:account:${paid.market.buyer.id}`);
  await expectRefused(await post(at, { key: token, body, proof, signIn }), /^invalid_wallet_proof/);
  expect((await post(at, { key, body: { credits: 10 }, proof, signIn })).status).toBe(402);
  expect((await post(at, { key, body, proof, signIn })).status).toBe(200);
  expect(await balance()).toBe(before + 9);
});

test("wallets that were shown are forgotten once they are too old to be shown again", async ({ paid }) => {
  const { db } = paid.marketplace.context;
  const count = async () => Number((await db.query("select count(*) from wallets_shown")).rows[0].count);
  await deleteExpiredRows(db);
  expect(await count()).toBeGreaterThan(0);
  await db.query("update wallets_shown set expires_at = now() - interval '1 second'");
  await deleteExpiredRows(db);
  expect(await count()).toBe(0);
});
