import { randomBytes } from "node:crypto";
import { createTestClient, http } from "viem";
import { describe, expect } from "vitest";
import { ownerWallet } from "../../../infra/local-evm/artifacts.ts";
import { type PaymentRequirements, termsDigest } from "../../../shared/x402.ts";
import { edited } from "../../support/edit.ts";
import type { EvmSetting } from "../../support/evm-facilitator.ts";
import { asV1, type Buyer, newBuyer, paymentBody, signAuthorization } from "../../support/evm-payments.ts";
import { startFacilitator } from "../../support/facilitator.ts";
import { proxiedEvmTest } from "../../support/fixtures.ts";

const test = proxiedEvmTest();

type Body = Awaited<ReturnType<typeof paymentBody>>;

async function settledPayment(
  setting: EvmSetting,
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  changes: Record<string, unknown> = {},
): Promise<{ buyer: Buyer; body: Body }> {
  const buyer = await setting.fundedBuyer();
  const body = edited(await paymentBody(buyer, setting.terms), changes);
  expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  return { buyer, body };
}

const withSignature = (body: Body, signature: string) =>
  edited(body, { "paymentPayload.payload.signature": signature });

/** As if the answer with the success had never left. */
const undeliver = (facilitator: Awaited<ReturnType<typeof startFacilitator>>, { paymentPayload: { payload } }: Body) =>
  facilitator.context.db.query("update payments set delivered_at = null where payment_key like '%' || $1", [
    payload.authorization.nonce,
  ]);

/** The other of two signatures of which each can be computed from the other without the key. */
function malleated(signature: string): string {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0");
  return `${signature.slice(0, 66)}${s}${signature.slice(130) === "1b" ? "1c" : "1b"}`;
}

async function expectUntold(
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  body: unknown,
  reason: string,
): Promise<void> {
  const verified = await facilitator.verify(body);
  expect(verified).toMatchObject({ status: 200, body: { isValid: false, invalidReason: reason } });
  const settled = await facilitator.settle(body);
  expect(settled).toMatchObject({ status: 200, body: { success: false, errorReason: reason, transaction: "" } });
  expect(settled.body).not.toHaveProperty("termsDigest");
}

describe.each(["delivered", "not delivered yet"])("a settled payment whose success was %s", (delivery) => {
  const payment = async (setting: EvmSetting, facilitator: Awaited<ReturnType<typeof startFacilitator>>) => {
    const paid = await settledPayment(setting, facilitator);
    if (delivery !== "delivered") await undeliver(facilitator, paid.body);
    return paid;
  };

  test("is told to nobody with a signature that is not its payer's for its message", async ({
    setting,
    facilitator,
  }) => {
    const { buyer, body } = await payment(setting, facilitator);
    const { signature } = body.paymentPayload.payload;
    const foreign = await signAuthorization(buyer, setting.terms);
    const forged = [
      `0x${"11".repeat(65)}`,
      `0x${"11".repeat(64)}1b`,
      `0x${randomBytes(65).toString("hex")}`,
      `0x${"00".repeat(65)}`,
      "0x11",
      foreign.signature,
      malleated(signature),
      `${signature}00`,
    ];
    for (const junk of forged)
      await expectUntold(facilitator, withSignature(body, junk), "invalid_exact_evm_signature");
    await expectUntold(facilitator, asV1(withSignature(body, forged[0] as string)), "invalid_exact_evm_signature");
    const wrapped = `${signature}${"6492".repeat(16)}`;
    await expectUntold(facilitator, withSignature(body, wrapped), "eip6492_factory_not_allowed");
    const answer = (await facilitator.settle(body)).body;
    expect(answer).toMatchObject(
      delivery === "delivered" ? { success: false, errorReason: "already_settled" } : { success: true },
    );
  });

  test("is another payment than one with its nonce and another window, domain, recipient or amount", async ({
    setting,
    facilitator,
  }) => {
    const { buyer, body } = await payment(setting, facilitator);
    const { authorization } = body.paymentPayload.payload;
    const { nonce } = authorization;
    const later = String(Number(authorization.validBefore) + 60);
    const signedAnew = [
      await paymentBody(buyer, setting.terms, { ...authorization, validBefore: later }),
      await paymentBody(buyer, setting.terms, { ...authorization, validAfter: "1" }),
      await paymentBody(buyer, { ...setting.terms, name: "USD Coin" }, authorization),
      await paymentBody(buyer, { ...setting.terms, version: "1" }, authorization),
      await paymentBody(buyer, { ...setting.terms, amount: "10001" }, { nonce }),
      await paymentBody(buyer, { ...setting.terms, payTo: newBuyer().address }, { nonce }),
    ];
    const edits = [
      edited(body, { "paymentPayload.payload.authorization.validBefore": later }),
      edited(body, { "paymentPayload.payload.authorization.validAfter": "1" }),
    ];
    for (const other of [...signedAnew, ...edits]) await expectUntold(facilitator, other, "invalid_transaction_state");
  });
});

describe("the terms of a quote", () => {
  const quoted = {
    "paymentRequirements.extra.quoteId": "q-of-the-buyer",
    "paymentPayload.accepted.extra.quoteId": "q",
  };
  const digestOf = ({ paymentRequirements }: Body) =>
    termsDigest(paymentRequirements as PaymentRequirements, "https://api.example.com/weather");

  test("a quote's terms come back as their digest with `already_settled`, in either version, and with nothing else", async ({
    setting,
    facilitator,
  }) => {
    const { body } = await settledPayment(setting, facilitator, quoted);
    const digest = digestOf(body);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    for (const same of [body, asV1(body), asV1(body, "eip155:84532")]) {
      expect((await facilitator.settle(same)).body).toMatchObject({
        success: false,
        errorReason: "already_settled",
        termsDigest: digest,
      });
    }
    const others = [
      edited(body, { "paymentRequirements.extra.quoteId": "another" }),
      edited(body, { "paymentRequirements.extra.quoteId": "" }),
      edited(body, { "paymentRequirements.extra.quoteId": ["q-of-the-buyer"] }),
      edited(body, { "paymentRequirements.extra.quoteId": undefined }),
      edited(body, { "paymentPayload.resource.url": "https://api.example.com/other" }),
    ];
    for (const other of others) {
      const answer = (await facilitator.settle(other)).body;
      expect(answer).toMatchObject({ errorReason: "already_settled", transaction: expect.stringMatching(/^0x/) });
      expect(answer).not.toHaveProperty("termsDigest");
    }
  });

  test("terms that were not those of the claim prove nothing, now or later", async ({ setting, facilitator }) => {
    const { body } = await settledPayment(setting, facilitator);
    const claimed = edited(body, { "paymentRequirements.extra.quoteId": "made up afterwards" });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = (await facilitator.settle(claimed)).body;
      expect(answer.errorReason).toBe("already_settled");
      expect(answer).not.toHaveProperty("termsDigest");
    }
  });

  test("decide who gets a success that was never delivered, and one caller does", async ({ setting, facilitator }) => {
    const { body } = await settledPayment(setting, facilitator, quoted);
    await undeliver(facilitator, body);
    const strangers = [
      edited(body, { "paymentRequirements.extra.quoteId": "another" }),
      edited(body, { "paymentRequirements.extra.quoteId": undefined }),
      edited(body, { "paymentPayload.resource.url": "https://evil.example.com/" }),
    ];
    const asked = Array.from({ length: 30 }, (_, index) => strangers[index % 3] as Body);
    const answers = await Promise.all(asked.map((one) => facilitator.settle(one)));
    expect(new Set(answers.map(({ body }) => body.errorReason))).toEqual(new Set(["already_settled"]));
    const owners = await Promise.all(Array.from({ length: 20 }, () => facilitator.settle(body)));
    expect(owners.filter(({ body }) => body.success)).toHaveLength(1);
    const told = owners.filter(({ body }) => !body.success).map(({ body }) => body.termsDigest);
    expect(told).toEqual(Array(19).fill(digestOf(body)));
  });

  test("without a quote, the resource decides who gets a success that was never delivered", async ({
    setting,
    facilitator,
  }) => {
    const { body } = await settledPayment(setting, facilitator);
    await undeliver(facilitator, body);
    const elsewhere = edited(body, { "paymentPayload.resource.url": "https://evil.example.com/" });
    expect((await facilitator.settle(elsewhere)).body).toMatchObject({ errorReason: "already_settled" });
    expect((await facilitator.settle(asV1(body))).body).toMatchObject({ success: true });
  });

  test("a success that was never delivered is told, though such a payment would be too small now", async ({
    setting,
    facilitator,
  }) => {
    const { body } = await settledPayment(setting, facilitator);
    await undeliver(facilitator, body);
    const minimum = { [`EIP155_${setting.chain.chainId}_AMOUNT_MIN`]: "10001" };
    const after = await startFacilitator({ ...setting.variables, ...minimum });
    try {
      const fresh = await paymentBody(await setting.fundedBuyer(), setting.terms);
      expect((await after.settle(fresh)).body).toMatchObject({ errorReason: "amount_below_minimum" });
      expect((await after.verify(fresh)).body).toMatchObject({ invalidReason: "amount_below_minimum" });
      const forged = withSignature(body, malleated(body.paymentPayload.payload.signature));
      expect((await after.verify(forged)).body).toMatchObject({ invalidReason: "invalid_exact_evm_signature" });
      expect((await after.verify(body)).body).toMatchObject({ isValid: false, invalidReason: "already_settled" });
      expect((await after.settle(body)).body).toMatchObject({ success: true });
      expect((await after.settle(body)).body).toMatchObject({ errorReason: "already_settled" });
    } finally {
      await after.stop();
    }
  });

  test("a quote's terms are not told of a payment that another's transaction landed", async ({
    setting,
    facilitator,
  }) => {
    const { body } = await settledPayment(setting, facilitator, quoted);
    await facilitator.context.db.query(
      "update payments set landed_by_another = true where payment_key like '%' || $1",
      [body.paymentPayload.payload.authorization.nonce],
    );
    const answer = (await facilitator.settle(body)).body;
    expect(answer.errorReason).toBe("already_settled");
    expect(answer).not.toHaveProperty("termsDigest");
  });

  test("a quote leaves its id nowhere: not in the database, the routes, or the metrics", async ({
    setting,
    facilitator,
  }) => {
    const quoteId = `quote-${randomBytes(16).toString("hex")}`;
    const bazaar = {
      info: { input: { type: "http", method: "GET" } },
      schema: { type: "object", properties: { input: { type: "object" } }, required: ["input"] },
    };
    const { body } = await settledPayment(setting, facilitator, {
      "paymentRequirements.extra.quoteId": quoteId,
      "paymentPayload.accepted.extra.quoteId": quoteId,
      "paymentPayload.extensions": { bazaar },
    });
    await facilitator.settle(withSignature(body, "0x11"));
    await facilitator.verify(edited(body, { "paymentRequirements.amount": "1" }));
    const { db } = facilitator.context;
    // Refusals are recorded in the order in which they were made, and a mismatch without its payer.
    const lastRefused = `select from transactions where kind = 'verify' and status = 'rejected'
      and created_at >= (select created_at from transactions where payer = $1 and status = 'rejected')`;
    const { from } = body.paymentPayload.payload.authorization;
    await expect.poll(async () => (await db.query(lastRefused, [from])).rowCount).toBeGreaterThan(0);
    for (const table of ["payments", "transactions", "discovery_offers", "discovery_resources", "discovery_accepts"]) {
      const { rows } = await db.query(`select coalesce(string_agg(t::text, ''), '') as dump from ${table} t`);
      expect(rows[0].dump).not.toContain(quoteId);
    }
    for (const path of ["/transactions", "/metrics", "/discovery/resources", "/stats"]) {
      expect(JSON.stringify(await (await fetch(`${facilitator.url}${path}`)).text())).not.toContain(quoteId);
    }
  });
});

async function fundedWallet(setting: EvmSetting) {
  const owner = newBuyer();
  const wallet = await setting.chain.deploy(ownerWallet, [owner.address]);
  await setting.chain.fund(wallet, { usdc: 20_000n });
  return { owner, wallet };
}

async function walletPayment(setting: EvmSetting, facilitator: Awaited<ReturnType<typeof startFacilitator>>) {
  const { owner, wallet } = await fundedWallet(setting);
  const body = await paymentBody(owner, setting.terms, { from: wallet });
  expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  return body;
}

describe("a contract wallet's settled payment", () => {
  test("is told to who presents a signature that the wallet accepts, and to no other caller", async ({
    setting,
    facilitator,
  }) => {
    const body = await walletPayment(setting, facilitator);
    await expectUntold(facilitator, withSignature(body, `0x${"11".repeat(65)}`), "invalid_exact_evm_signature");
    await expectUntold(
      facilitator,
      withSignature(body, (await signAuthorization(newBuyer(), setting.terms)).signature),
      "invalid_exact_evm_signature",
    );
    expect((await facilitator.settle(body)).body).toMatchObject({ errorReason: "already_settled" });
  });

  test("is not told of while the wallet cannot be asked: 503", async ({ setting, facilitator, proxy }) => {
    const body = await walletPayment(setting, facilitator);
    proxy.behave(() => "lose-call");
    const settled = await facilitator.settle(body);
    expect(settled).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
    expect(settled.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(await facilitator.verify(body)).toMatchObject({ status: 503, body: { isValid: false } });
    const keyed = await (async () => {
      proxy.behave(() => "pass");
      const { body } = await settledPayment(setting, facilitator);
      proxy.behave(() => "lose-call");
      return body;
    })();
    expect((await facilitator.settle(keyed)).body).toMatchObject({ errorReason: "already_settled" });
  });
});

describe("a node's own error is not taken for a contract's no", () => {
  // A payer's balance is remembered for a while: then only what is asked of wallets and tokens else meets the fault.
  const isBalanceOf = (call: unknown) => (call as { data: string }).data.startsWith("0x70a08231");
  const faults = [["over-rate-limit"], ["timed-out"], ["internal-error"]] as const;

  test.for(faults)(
    "where a wallet's settled payment is asked for again: 503, %s",
    async ([fault], { setting, facilitator, proxy }) => {
      const body = await walletPayment(setting, facilitator);
      proxy.behave((method) => (method === "eth_call" ? fault : "pass"));
      expect(await facilitator.settle(body)).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
      expect(await facilitator.verify(body)).toMatchObject({ status: 503, body: { isValid: false } });
    },
  );

  test.for(faults)(
    "where a payment is new, of a wallet or a key: %s",
    async ([fault], { setting, facilitator, proxy }) => {
      const { owner, wallet } = await fundedWallet(setting);
      const bodies = [
        await paymentBody(owner, setting.terms, { from: wallet }),
        await paymentBody(await setting.fundedBuyer(), setting.terms),
      ];
      for (const body of bodies) {
        proxy.behave((method, [call]) => (method === "eth_call" && !isBalanceOf(call) ? fault : "pass"));
        await expectUntold(facilitator, body, "unexpected_verify_error");
        proxy.behave(() => "pass");
        expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
      }
    },
  );

  test.for([
    ["an invalid opcode", "0xfe"],
    ["a loop", "0x5b600056"],
    ["a jump to nowhere", "0x600556"],
  ] as const)(
    "while a wallet that ends in %s accepts no signature",
    async ([_name, code], { setting, facilitator }) => {
      const { owner, wallet } = await fundedWallet(setting);
      await createTestClient({ mode: "anvil", transport: http(setting.chain.rpcUrl) }).setCode({
        address: wallet,
        bytecode: code,
      });
      const body = await paymentBody(owner, setting.terms, { from: wallet });
      await expectUntold(facilitator, body, "invalid_exact_evm_signature");
    },
  );
});

test("a payment claimed before messages were kept is told by its fields and its signature", async ({
  setting,
  facilitator,
}) => {
  const { buyer, body } = await settledPayment(setting, facilitator);
  await facilitator.context.db.query("update payments set message_digest = null where payment_key like '%' || $1", [
    body.paymentPayload.payload.authorization.nonce,
  ]);
  const { authorization } = body.paymentPayload.payload;
  const later = String(Number(authorization.validBefore) + 60);
  const other = await paymentBody(buyer, setting.terms, { ...authorization, validBefore: later });
  await expectUntold(facilitator, other, "invalid_transaction_state");
  await expectUntold(facilitator, withSignature(body, `0x${"11".repeat(65)}`), "invalid_exact_evm_signature");
  expect((await facilitator.settle(body)).body).toMatchObject({ errorReason: "already_settled" });
});
