import { AccountId, KeyList, PrivateKey, type PublicKey, TransactionId, TransferTransaction } from "@hashgraph/sdk";
import { proto } from "@hiero-ledger/proto";
import { describe, expect, test } from "vitest";
import { decodePayment } from "../../../facilitator/schemes/exact-hedera/checks.ts";
import { type Key, readMirrorKey, signaturesFor } from "../../../facilitator/schemes/exact-hedera/keys.ts";
import type { HederaPayment } from "../../../facilitator/schemes/exact-hedera/payload.ts";
import {
  amount,
  body,
  bodyBytes,
  config,
  feePayer,
  field,
  goodPair,
  payer,
  payerKey,
  payload,
  payTo,
  request,
  signedBytes,
  usdc,
  varint,
} from "./payloads.ts";

const ed25519 = PrivateKey.generateED25519();
const ecdsa = PrivateKey.generateECDSA();
const third = PrivateKey.generateED25519();

const mirrorKey = (key: PublicKey | KeyList): Key => {
  const encoded = key._toProtobufKey() as proto.IKey;
  return readMirrorKey({
    _type: "ProtobufEncoded",
    key: Buffer.from(proto.Key.encode(encoded).finish()).toString("hex"),
  });
};

const nodeChoices = { one: [3], three: [3, 4, 5], "thirty-two": Array.from({ length: 32 }, (_, index) => 3 + index) };
const keyChoices: Record<string, { signers: PrivateKey[]; key: Key }> = {
  "an ed25519 key": {
    signers: [ed25519],
    key: readMirrorKey({ _type: "ED25519", key: ed25519.publicKey.toStringRaw() }),
  },
  "an ECDSA key": {
    signers: [ecdsa],
    key: readMirrorKey({ _type: "ECDSA_SECP256K1", key: ecdsa.publicKey.toStringRaw() }),
  },
  "a list of two keys": {
    signers: [ed25519, ecdsa],
    key: mirrorKey(new KeyList([ed25519.publicKey, ecdsa.publicKey])),
  },
  "two of three keys": {
    signers: [third, ecdsa],
    key: mirrorKey(new KeyList([ed25519.publicKey, ecdsa.publicKey, third.publicKey], 2)),
  },
  "a key within a list within a list": {
    signers: [third],
    key: mirrorKey(new KeyList([new KeyList([third.publicKey]), ed25519.publicKey], 1)),
  },
};
const shapeChoices: Record<string, (transfer: TransferTransaction) => TransferTransaction> = {
  plain: (transfer) => pay(transfer),
  "payTo's row first": (transfer) =>
    transfer.addTokenTransfer(usdc, payTo, Number(amount)).addTokenTransfer(usdc, payer, -Number(amount)),
  "with a memo": (transfer) => pay(transfer).setTransactionMemo("Zahlung für 1 Bild ✓"),
  "with the token's decimals": (transfer) =>
    transfer
      .addTokenTransferWithDecimals(usdc, payer, -Number(amount), 6)
      .addTokenTransferWithDecimals(usdc, payTo, Number(amount), 6),
  "valid for 180 s": (transfer) => pay(transfer).setTransactionValidDuration(180),
};
const pay = (transfer: TransferTransaction) =>
  transfer.addTokenTransfer(usdc, payer, -Number(amount)).addTokenTransfer(usdc, payTo, Number(amount));

const decoded = (transaction: string): HederaPayment => {
  const result = decodePayment(request(transaction), config);
  expect(result).not.toHaveProperty("refused");
  return result as HederaPayment;
};

describe("whatever an SDK builds for a plain payment is accepted, and means what the payer built", () => {
  const combinations = Object.keys(nodeChoices).flatMap((nodes) =>
    Object.keys(keyChoices).flatMap((key) => Object.keys(shapeChoices).map((shape) => [shape, key, nodes] as const)),
  );
  test.each(combinations)("%s, %s, %s", async (shape, keyName, nodes) => {
    const { signers, key } = keyChoices[keyName]!;
    const id = TransactionId.generate(feePayer);
    const transfer = shapeChoices[shape]!(new TransferTransaction())
      .setTransactionId(id)
      .setNodeAccountIds(nodeChoices[nodes as keyof typeof nodeChoices].map((node) => new AccountId(node)))
      .freeze();
    for (const signer of signers) await transfer.sign(signer);
    const payment = decoded(Buffer.from(transfer.toBytes()).toString("base64"));

    expect(payment).toMatchObject({ key: id.toString(), payer, payTo, asset: usdc, amount, feePayer });
    expect(payment.bodies.map(({ node }) => node)).toEqual(nodes === "one" ? ["0.0.3"] : ["0.0.3", "0.0.4", "0.0.5"]);
    expect(payment.expectedDecimals).toBe(shape === "with the token's decimals" ? 6 : undefined);
    for (const signedBody of payment.bodies) expect(await signaturesFor(key, signedBody)).toHaveLength(signers.length);
    for (const signedBody of payment.bodies) expect(await signaturesFor(strangerKey, signedBody)).toBeUndefined();
  });
});

const strangerKey = readMirrorKey({ _type: "ED25519", key: PrivateKey.generateED25519().publicKey.toStringRaw() });

describe("an encoding that other SDKs use is accepted:", () => {
  // Java, Go and Rust leave out what is zero or empty, and Go writes oneof fields last.
  const accountOf = (num: number) => Buffer.concat([varint(0x18), varint(num)]);
  const rowOf = (num: number, zigzag: number) => Buffer.concat([field(1, accountOf(num)), field(2, zigzag)]);
  const transfer = field(
    2,
    Buffer.concat([
      field(1, accountOf(429274)),
      field(2, rowOf(777, Number(amount) * 2 - 1)),
      field(2, rowOf(888, Number(amount) * 2)),
    ]),
  );
  const parts = {
    id: field(1, Buffer.concat([field(1, field(1, 1_700_000_000)), field(2, accountOf(9999))])),
    node: field(2, accountOf(3)),
    fee: field(3, 100_000_000),
    duration: field(4, field(1, 120)),
    transfer: field(14, transfer),
  };

  test("zeros left out", () => {
    const payment = decoded(payload(signedBytes(Buffer.concat(Object.values(parts)))));
    expect(payment).toMatchObject({ key: "0.0.9999@1700000000.000000000", payer, payTo, asset: usdc, amount });
  });

  test("fields in another order", () => {
    const payment = decoded(payload(signedBytes(Buffer.concat(Object.values(parts).reverse()))));
    expect(payment).toMatchObject({ key: "0.0.9999@1700000000.000000000", payer, payTo, asset: usdc, amount });
  });

  test("two bodies whose node ids have different lengths", () => {
    const far = Buffer.concat([parts.id, field(2, accountOf(4_000)), parts.fee, parts.duration, parts.transfer]);
    const payment = decoded(payload(signedBytes(Buffer.concat(Object.values(parts))), signedBytes(far)));
    expect(payment.bodies).toHaveLength(1);
  });
});

describe("signatures", () => {
  const bytes = bodyBytes(body());
  const key: Key = { kind: "ed25519", raw: payerKey };
  const only = (...pairs: proto.ISignaturePair[]) => decoded(payload(signedBytes(bytes, pairs))).bodies[0]!;
  const junk = Array.from({ length: 19 }, () => ({
    pubKeyPrefix: PrivateKey.generateED25519().publicKey.toBytesRaw(),
    ed25519: Buffer.alloc(64, 7),
  }));

  test("a six-byte key prefix, or none, is as good as the whole key", async () => {
    for (const length of [6, 0]) {
      const found = await signaturesFor(key, only({ ...goodPair(bytes), pubKeyPrefix: payerKey.subarray(0, length) }));
      expect(found).toEqual([{ kind: "ed25519", key: payerKey, signature: goodPair(bytes).ed25519 }]);
    }
  });

  test("of nineteen strange ones and a good one, the good one is kept", async () => {
    expect(await signaturesFor(key, only(...junk, goodPair(bytes)))).toEqual([
      { kind: "ed25519", key: payerKey, signature: goodPair(bytes).ed25519 },
    ]);
  });

  test("a signature whose prefix fits every key of a long list is tried with a few of them, with its whole key with its own", async () => {
    const keys = Array.from({ length: 40 }, () => PrivateKey.generateED25519());
    const anyOf: Key = {
      kind: "threshold",
      threshold: 1,
      keys: keys.map(({ publicKey }) => ({ kind: "ed25519", raw: Buffer.from(publicKey.toBytesRaw()) })),
    };
    const pairOf = (key: PrivateKey, prefix: number) => ({
      pubKeyPrefix: Buffer.from(key.publicKey.toBytesRaw()).subarray(0, prefix),
      ed25519: Buffer.from(key.sign(bytes)),
    });
    const found = async (key: PrivateKey, prefix: number) =>
      (await signaturesFor(anyOf, only(pairOf(key, prefix))))?.length;
    expect([await found(keys[3]!, 0), await found(keys[30]!, 0), await found(keys[30]!, 32)]).toEqual([
      1,
      undefined,
      1,
    ]);
  });

  test("one made for another body is none", async () => {
    const other = bodyBytes(body({ memo: "other" }));
    expect(await signaturesFor(key, only(goodPair(other)))).toBeUndefined();
    const raw = Buffer.from(ecdsa.publicKey.toBytesRaw());
    const pair = { pubKeyPrefix: raw, ECDSASecp256k1: ecdsa.sign(other) };
    expect(await signaturesFor({ kind: "ecdsa", raw }, only(pair))).toBeUndefined();
  });

  test("a key for which one signature fits every message signs none", async () => {
    const identity = Buffer.from(`01${"00".repeat(31)}`, "hex");
    const pair = { pubKeyPrefix: identity, ed25519: Buffer.concat([identity, Buffer.alloc(32)]) };
    expect(await signaturesFor({ kind: "ed25519", raw: identity }, only(pair))).toBeUndefined();
  });

  test("an ECDSA signature in the upper half of s is sent on in the lower", async () => {
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const lower = Buffer.from(ecdsa.sign(bytes));
    const s = order - BigInt(`0x${lower.toString("hex", 32)}`);
    const upper = Buffer.concat([lower.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex")]);
    const raw = Buffer.from(ecdsa.publicKey.toBytesRaw());
    const found = await signaturesFor({ kind: "ecdsa", raw }, only({ pubKeyPrefix: raw, ECDSASecp256k1: upper }));
    expect(found).toHaveLength(1);
    expect([lower, upper].some((either) => either.equals(found![0]!.signature))).toBe(true);
    const again = await signaturesFor({ kind: "ecdsa", raw }, only({ pubKeyPrefix: raw, ECDSASecp256k1: lower }));
    expect(found).toEqual(again);
  });

  test.each([
    ["an account without a key", null],
    ["a contract", { _type: "ProtobufEncoded", key: "0a021805" }],
    ["an empty key list", { _type: "ProtobufEncoded", key: "3200" }],
    ["a threshold of none", mirrorThreshold(0)],
    ["a threshold of more keys than there are", mirrorThreshold(2)],
    ["an ed25519 key cut short", { _type: "ED25519", key: "ab" }],
    ["an ECDSA key that is no point", { _type: "ECDSA_SECP256K1", key: `02${"ff".repeat(32)}` }],
    ["bytes that are no key", { _type: "ProtobufEncoded", key: "ffff" }],
    ["nothing sensible", "x"],
  ])("%s cannot sign", async (_name, given) => {
    expect(await signaturesFor(readMirrorKey(given), only(goodPair(bytes)))).toBeUndefined();
  });

  function mirrorThreshold(threshold: number) {
    const encoded = proto.Key.encode({ thresholdKey: { threshold, keys: { keys: [{ ed25519: payerKey }] } } }).finish();
    return { _type: "ProtobufEncoded", key: Buffer.from(encoded).toString("hex") };
  }
});
