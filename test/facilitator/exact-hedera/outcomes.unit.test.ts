import { expect, test } from "vitest";
import type { Copy } from "../../../facilitator/schemes/exact-hedera/copies.ts";
import { networkFee, networkFeeMax } from "../../../facilitator/schemes/exact-hedera/fees.ts";
import type { Sendable } from "../../../facilitator/schemes/exact-hedera/keys.ts";
import type { TransactionRecord } from "../../../facilitator/schemes/exact-hedera/mirror.ts";
import { endOf, judge, witnessesOf } from "../../../facilitator/schemes/exact-hedera/outcomes.ts";
import type { HederaPayment } from "../../../facilitator/schemes/exact-hedera/payload.ts";
import type { HederaNodes } from "../../../shared/hedera/nodes.ts";
import { amount, payer, payTo, usdc } from "./payloads.ts";

const copyFor = (node: string): Copy => ({ node, raw: Buffer.alloc(0), hash: `hash of ${node}` });
const nodes = (...ids: string[]) => ({ nodes: { inOrder: () => ids } as unknown as HederaNodes });

test("other nodes than those that the payer named say how a payment ended, where there are two of them", () => {
  const copies = [copyFor("0.0.3"), copyFor("0.0.5")];
  expect(witnessesOf(nodes("0.0.3", "0.0.4", "0.0.5", "0.0.6"), copies)).toEqual(["0.0.4", "0.0.6"]);
  expect(witnessesOf(nodes("0.0.3", "0.0.4", "0.0.5"), copies)).toEqual(["0.0.3", "0.0.4", "0.0.5"]);
});

test("what a node put to consensus spoilt ends nothing: the true copy may still come", () => {
  const [success, spoilt, expired] = [22, 43, 4];
  expect([endOf({ status: success }), endOf({ status: spoilt }), endOf({ status: expired })]).toEqual([
    success,
    undefined,
    expired,
  ]);
  expect(endOf("none")).toBeUndefined();
  const record = (result: string): TransactionRecord => ({ result, hash: copyFor("0.0.3").hash, fee: 1n, rows: [] });
  const agreed = { payer, payTo, asset: usdc, amount };
  expect(judge([record("INVALID_PAYER_SIGNATURE")], [copyFor("0.0.3")], agreed)).toBeUndefined();
  expect(judge([record("INVALID_PAYER_SIGNATURE"), record("SUCCESS")], [copyFor("0.0.3")], agreed)).toBe("settled");
});

test.for([
  [1, true],
  [5, true],
  [20, false],
] as const)("a payment of %i signatures is paid for by the facilitator: %s", ([signatures, isPaid]) => {
  const sendable = { bytes: Buffer.alloc(200), signatures: Array(signatures) } as unknown as Sendable;
  expect(networkFee({ asset: usdc } as HederaPayment, sendable) <= networkFeeMax).toBe(isPaid);
});
