import { AccountId, type PrivateKey, type Transaction, TransferTransaction } from "@hashgraph/sdk";
import { expect } from "vitest";
import type { PaymentRequest } from "../../../facilitator/schemes/scheme.ts";
import type { LocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { startFacilitator } from "../../support/facilitator.ts";
import { hederaTest } from "../../support/fixtures.ts";
import { usdc } from "./payloads.ts";
import { buyerOf, newBuyer, newId, price, signedPayment } from "./setting.ts";

const test = hederaTest();

test.afterEach(({ ledger }) => ledger.faults.clear());

const bodyOf = ({ requirements, payload }: Pick<PaymentRequest, "requirements" | "payload">, quoteId?: string) => {
  const terms = { ...requirements, extra: { ...requirements.extra, ...(quoteId && { quoteId }) } };
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: terms, payload, resource: { url: "https://shop.example/a" } },
    paymentRequirements: terms,
  };
};
type Body = ReturnType<typeof bodyOf>;

/** The same transfer as the ledger's buyer makes, under an id that is known, with anything about it changed. */
async function transferUnder(
  ledger: LocalHedera,
  id: Transaction["transactionId"],
  change: { memo?: string; seconds?: number; nodes?: readonly number[]; feeMax?: number; keys?: readonly PrivateKey[] },
) {
  const { payer, payTo, keys } = buyerOf(ledger);
  const transfer = new TransferTransaction()
    .addTokenTransfer(usdc, payer, -Number(price))
    .addTokenTransfer(usdc, payTo, Number(price))
    .setTransactionId(id as NonNullable<typeof id>)
    .setNodeAccountIds((change.nodes ?? [3, 4, 5]).map((node) => new AccountId(node)))
    .setTransactionValidDuration(change.seconds ?? 120);
  if (change.memo) transfer.setTransactionMemo(change.memo);
  if (change.feeMax) transfer.setMaxTransactionFee(change.feeMax);
  const frozen: Transaction = transfer.freeze();
  for (const key of change.keys ?? keys) await frozen.sign(key);
  return { transaction: Buffer.from(frozen.toBytes()).toString("base64") };
}

const withPayload = (body: Body, payload: { transaction: string }): Body => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload },
});

async function expectUntold(
  facilitator: Awaited<ReturnType<typeof startFacilitator>>,
  body: unknown,
  reason: string,
): Promise<void> {
  expect((await facilitator.verify(body)).body).toMatchObject({ isValid: false, invalidReason: reason });
  const answer = (await facilitator.settle(body)).body;
  expect(answer).toMatchObject({ success: false, errorReason: reason, transaction: "" });
  expect(answer).not.toHaveProperty("termsDigest");
}

test.for(["delivered", "not delivered yet"])(
  "a settled payment whose success was %s is told to nobody who has only what the ledger shows",
  async (delivery, { ledger, facilitator }) => {
    const id = newId(buyerOf(ledger).feePayer, -1);
    const body = bodyOf(await signedPayment({ ...buyerOf(ledger), transactionId: id }), "q-1");
    expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
    if (delivery !== "delivered") await facilitator.context.db.query("update payments set delivered_at = null");

    const stranger = newBuyer(ledger);
    const signature = "invalid_exact_hedera_payload_signature_invalid";
    await expectUntold(facilitator, withPayload(body, await transferUnder(ledger, id, { keys: [] })), signature);
    await expectUntold(
      facilitator,
      withPayload(body, await transferUnder(ledger, id, { keys: stranger.keys })),
      signature,
    );
    const others = [{ memo: "for me" }, { seconds: 119 }, { feeMax: 1.5 }];
    for (const change of others) {
      await expectUntold(
        facilitator,
        withPayload(body, await transferUnder(ledger, id, change)),
        "invalid_transaction_state",
      );
      const forged = await transferUnder(ledger, id, { ...change, keys: stranger.keys });
      await expectUntold(facilitator, withPayload(body, forged), "invalid_transaction_state");
    }

    // The owner's own copies, for other nodes or with needless signatures, are the same payment.
    const own = [
      await transferUnder(ledger, id, { nodes: [4] }),
      await transferUnder(ledger, id, { keys: [...stranger.keys, ...buyerOf(ledger).keys] }),
    ];
    const answers = [];
    for (const payload of own) answers.push((await facilitator.settle(withPayload(body, payload))).body);
    const already = {
      success: false,
      errorReason: "already_settled",
      termsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    };
    expect(answers).toMatchObject(delivery === "delivered" ? [already, already] : [{ success: true }, already]);
    const other = (
      await facilitator.settle(
        bodyOf({ requirements: body.paymentRequirements, payload: body.paymentPayload.payload }, "q-2"),
      )
    ).body;
    expect(other).toMatchObject({ errorReason: "already_settled" });
    expect(other).not.toHaveProperty("termsDigest");
  },
);

test("a settled payment is not spoken of while nobody can look up the payer's key: 503", async ({
  ledger,
  variables,
  facilitator,
}) => {
  const body = bodyOf(await signedPayment(buyerOf(ledger)), "q-1");
  expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
  const other = await startFacilitator(variables);
  try {
    ledger.faults.set({ mirrorUnavailable: 1_000 });
    expect(await other.settle(body)).toMatchObject({ status: 503, body: { success: false, transaction: "" } });
    expect(await other.verify(body)).toMatchObject({ status: 503, body: { isValid: false } });
    ledger.faults.clear();
    expect((await other.settle(body)).body).toMatchObject({ errorReason: "already_settled" });
  } finally {
    await other.stop();
  }
});

test.for([
  ["its fee payer was replaced", { HEDERA_TESTNET_FEE_PAYERS: "another" }],
  ["less than the smallest payment now", { HEDERA_TESTNET_AMOUNT_MIN: "50001" }],
  ["its asset is taken no more", { HEDERA_TESTNET_ASSETS: "0.0.0" }],
  ["its fee may be too high now", { HEDERA_TESTNET_TRANSACTION_FEE_MAX_TINYBARS: "10000000" }],
] as const)(
  "a payment that was settled before the configuration changed is told of: %s",
  async ([, changed], { ledger, variables, facilitator }) => {
    const settle = async () => {
      const body = bodyOf(await signedPayment(buyerOf(ledger)), "q-1");
      expect((await facilitator.settle(body)).body).toMatchObject({ success: true });
      return body;
    };
    const [told, untold] = [await settle(), await settle()];
    await facilitator.context.db.query("update payments set delivered_at = null where payment_key = $1", [
      (await facilitator.context.db.query("select payment_key from payments order by id desc limit 1")).rows[0]
        .payment_key,
    ]);
    const { accountId, privateKey } = ledger.accounts.creator;
    const another = changed as Record<string, string>;
    const settings = Object.entries(another).map(([name, value]) => [
      name,
      value === "another" ? `${accountId}:${privateKey}` : value,
    ]);
    const after = await startFacilitator({ ...variables, ...Object.fromEntries(settings) });
    try {
      const fresh = bodyOf(await signedPayment(buyerOf(ledger)), "q-1");
      const refused = (await after.settle(fresh)).body;
      expect(refused).toMatchObject({ success: false, transaction: "" });
      const verdictOn = async (body: Body) => (await after.verify(body)).body;
      expect(await verdictOn(fresh)).toMatchObject({ isValid: false, invalidReason: refused.errorReason });
      const already = { isValid: false, invalidReason: "already_settled", payer: buyerOf(ledger).payer };
      for (const settled of [told, untold]) expect(await verdictOn(settled)).toMatchObject(already);
      expect((await after.settle(told)).body).toMatchObject({ errorReason: "already_settled" });
      expect((await after.settle(untold)).body).toMatchObject({ success: true });
      const forged = await transferUnder(ledger, newId(buyerOf(ledger).feePayer, -2), { keys: newBuyer(ledger).keys });
      const stolen = withPayload(told, forged);
      expect((await after.settle(stolen)).body).toMatchObject({ errorReason: refused.errorReason });
      expect(await verdictOn(stolen)).toMatchObject({ invalidReason: refused.errorReason });
      await facilitator.context.db.query("update payments set state = 'unknown', lease_until = 'infinity'");
      expect(await verdictOn(told)).toMatchObject({ isValid: false, invalidReason: "settlement_pending" });
    } finally {
      await after.stop();
    }
  },
);
