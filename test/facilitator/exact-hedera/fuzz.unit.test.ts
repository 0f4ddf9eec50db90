import { TransferTransaction } from "@hashgraph/sdk";
import { proto } from "@hiero-ledger/proto";
import { expect, test } from "vitest";
import { decodePayment } from "../../../facilitator/schemes/exact-hedera/checks.ts";
import { isRefusal } from "../../../facilitator/schemes/scheme.ts";
import {
  account,
  amount,
  body,
  config,
  feePayer,
  int64,
  paymentOf,
  payTo,
  request,
  transactionId,
  usdc,
} from "./payloads.ts";

const transactionID = transactionId({ transactionValidStart: { seconds: int64(1_700_000_000), nanos: 5 } });
const seeds = [
  paymentOf(body({ transactionID })),
  paymentOf(...[3, 4, 5].map((node) => body({ transactionID, nodeAccountID: account(node), memo: "a memo" }))),
].map((text) => Buffer.from(text, "base64"));

test("of 8,000 mutilated payments none makes the decoder throw, and none is accepted that the SDK reads differently", () => {
  const random = generator(20_261_120);
  let accepted = 0;
  for (let round = 0; round < 8_000; round += 1) {
    const mutated = mutate(seeds[round % seeds.length]!, random);
    const decoded = decodePayment(request(mutated.toString("base64")), config);
    if (isRefusal(decoded)) continue;
    accepted += 1;
    const rows = { [decoded.payer]: `${-amount}`, [payTo]: `${amount}` };
    expect(meaningBySdk(mutated)).toEqual({ key: decoded.key, feePayer, rows });
  }
  // Changes within signatures, keys, memos, timestamps and fees leave a readable payment; others must not.
  expect(accepted).toBeGreaterThan(400);
  expect(accepted).toBeLessThan(6_000);
});

/** What another reader of the same bytes takes them for. */
function meaningBySdk(bytes: Buffer): object {
  const transfer = TransferTransaction.fromBytes(bytes) as TransferTransaction;
  const { transactionList } = proto.TransactionList.decode(bytes);
  for (const { signedTransactionBytes } of transactionList) {
    const { bodyBytes } = proto.SignedTransaction.decode(signedTransactionBytes ?? new Uint8Array());
    const { cryptoTransfer } = proto.TransactionBody.decode(bodyBytes);
    expect(cryptoTransfer?.tokenTransfers).toHaveLength(1);
    expect(cryptoTransfer?.tokenTransfers?.[0]?.transfers).toHaveLength(2);
    expect(cryptoTransfer?.transfers?.accountAmounts ?? []).toHaveLength(0);
  }
  return {
    key: transfer.transactionId?.toString(),
    feePayer: transfer.transactionId?.accountId?.toString(),
    rows: Object.fromEntries(
      [...(transfer.tokenTransfers.get(usdc) ?? [])].map(([id, value]) => [`${id}`, `${value}`]),
    ),
  };
}

function mutate(original: Buffer, random: () => number): Buffer {
  let bytes = Buffer.from(original);
  for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes -= 1) {
    const at = Math.floor(random() * bytes.length);
    const length = 1 + Math.floor(random() * 8);
    switch (Math.floor(random() * 5)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
        break;
      case 1:
        bytes[at] = Math.floor(random() * 256);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at + length), bytes.subarray(at)]);
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), original.subarray(at, at + 4 * length), bytes.subarray(at)]);
    }
  }
  return bytes;
}

/** mulberry32: the same numbers on every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
