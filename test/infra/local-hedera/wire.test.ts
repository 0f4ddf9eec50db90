import { proto, Writer } from "@hiero-ledger/proto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountId, toInt64, tokenId } from "../../../infra/local-hedera/hapi/ids.ts";
import { type LocalHedera, startLocalHedera } from "../../../infra/local-hedera/local-hedera.ts";
import { connect, encodeBody, encodeTransaction, paymentBody, signaturesOf, signedPayment } from "./raw.ts";
import { eventually, hbarBalances } from "./sdk.ts";

let ledger: LocalHedera;
let node: ReturnType<typeof connect>;

beforeAll(async () => {
  ledger = await startLocalHedera({ consensusDelayMs: 0 });
  node = connect(Object.keys(ledger.nodes)[0]!);
});

afterAll(async () => {
  node.close();
  await ledger.close();
});

/** A signed payment after `change` was made to its body. */
const changed = (change: (body: proto.ITransactionBody) => void): Buffer => {
  const body = paymentBody(ledger);
  change(body);
  return signedPayment(ledger, body);
};

const withUnknownField = (bytes: Uint8Array): Uint8Array =>
  Buffer.concat([
    bytes,
    new Writer()
      .uint32((999 << 3) | 0)
      .uint32(1)
      .finish(),
  ]);

const legs = (body: proto.ITransactionBody) => body.cryptoTransfer!.tokenTransfers![0]!.transfers!;

describe("a node reads strictly", () => {
  it("takes the payment the other cases are made from", async () => {
    expect(await node.submit(signedPayment(ledger))).toBe("OK");
  });

  it.each([
    ["the body", () => withUnknownField(encodeBody(paymentBody(ledger)))],
    [
      "a part of the body",
      () => {
        const body = paymentBody(ledger);
        const transfer = withUnknownField(proto.CryptoTransferTransactionBody.encode(body.cryptoTransfer!).finish());
        const head = encodeBody({ ...body, cryptoTransfer: null });
        return Buffer.concat([
          head,
          new Writer()
            .uint32((14 << 3) | 2)
            .bytes(transfer)
            .finish(),
        ]);
      },
    ],
  ])("refuses an unknown field in %s", async (_, makeBody) => {
    const bytes = makeBody();
    const transaction = encodeTransaction(bytes, signaturesOf(ledger, bytes));
    expect(await node.submit(transaction)).toBe("TRANSACTION_HAS_UNKNOWN_FIELDS");
  });

  it("refuses an unknown field around the body", async () => {
    expect(await node.submit(Buffer.from(withUnknownField(signedPayment(ledger))))).toBe(
      "TRANSACTION_HAS_UNKNOWN_FIELDS",
    );
  });

  it("refuses known fields of a foreign wire type, at every level", async () => {
    const bytes = encodeBody(paymentBody(ledger));
    const signed = proto.SignedTransaction.encode({
      bodyBytes: bytes,
      sigMap: { sigPair: signaturesOf(ledger, bytes) },
    });
    // The first tag of each: field 1 or 5, length-delimited (2), told to be a varint (0) or 64 bits (1).
    for (const foreign of [0, 1]) {
      const wrapped = Buffer.from(signed.finish());
      wrapped[0] = (wrapped[0]! & ~7) | foreign;
      const inner = proto.Transaction.encode({ signedTransactionBytes: wrapped }).finish();
      expect(await node.submit(Buffer.from(inner))).toBe("TRANSACTION_HAS_UNKNOWN_FIELDS");
      const outer = signedPayment(ledger);
      outer[0] = (outer[0]! & ~7) | foreign;
      expect(await node.submit(outer)).toBe("TRANSACTION_HAS_UNKNOWN_FIELDS");
    }
    const body = Buffer.from(encodeBody({ ...paymentBody(ledger), memo: "tea" }));
    body[body.indexOf("tea") - 2]! &= ~7;
    expect(await node.submit(encodeTransaction(body, signaturesOf(ledger, body)))).toBe(
      "TRANSACTION_HAS_UNKNOWN_FIELDS",
    );
  });

  it("refuses more than 6,144 bytes", async () => {
    const padded = changed((body) => {
      body.memo = "x".repeat(6_144);
    });
    expect(await node.submit(padded)).toBe("TRANSACTION_OVERSIZE");
  });

  it("refuses a transaction in two forms at once, and one without signatures at all", async () => {
    const bodyBytes = encodeBody(paymentBody(ledger));
    const { signedTransactionBytes } = proto.Transaction.decode(signedPayment(ledger));
    const both = proto.Transaction.encode({ signedTransactionBytes, bodyBytes }).finish();
    expect(await node.submit(Buffer.from(both))).toBe("INVALID_TRANSACTION");
    const unsigned = proto.SignedTransaction.encode({ bodyBytes }).finish();
    const bare = proto.Transaction.encode({ signedTransactionBytes: unsigned }).finish();
    expect(await node.submit(Buffer.from(bare))).toBe("INVALID_TRANSACTION_BODY");
  });

  it.each([
    [
      "a key prefix that begins another",
      "KEY_PREFIX_MISMATCH",
      () => {
        const bytes = encodeBody(paymentBody(ledger));
        const [first, second] = signaturesOf(ledger, bytes);
        return encodeTransaction(bytes, [
          first!,
          second!,
          { ...first, pubKeyPrefix: first!.pubKeyPrefix!.subarray(0, 4) },
        ]);
      },
    ],
    [
      "a scheduled id",
      "TRANSACTION_ID_FIELD_NOT_ALLOWED",
      () =>
        changed((body) => {
          body.transactionID!.scheduled = true;
        }),
    ],
    [
      "a nonce in the id",
      "TRANSACTION_ID_FIELD_NOT_ALLOWED",
      () =>
        changed((body) => {
          body.transactionID!.nonce = 1;
        }),
    ],
    [
      "no id",
      "INVALID_TRANSACTION_ID",
      () =>
        changed((body) => {
          body.transactionID = null;
        }),
    ],
    [
      "a payer named by alias",
      "PAYER_ACCOUNT_NOT_FOUND",
      () =>
        changed((body) => {
          body.transactionID!.accountID = { alias: Buffer.alloc(20, 1) };
        }),
    ],
    [
      "a payer in another shard",
      "PAYER_ACCOUNT_NOT_FOUND",
      () =>
        changed((body) => {
          body.transactionID!.accountID!.shardNum = toInt64(1);
        }),
    ],
    [
      "a memo over 100 bytes",
      "MEMO_TOO_LONG",
      () =>
        changed((body) => {
          body.memo = "é".repeat(51);
        }),
    ],
    [
      "a zero byte in the memo",
      "INVALID_ZERO_BYTE_IN_STRING",
      () =>
        changed((body) => {
          body.memo = "a\0b";
        }),
    ],
    [
      "another node's body",
      "INVALID_NODE_ACCOUNT",
      () =>
        changed((body) => {
          body.nodeAccountID = accountId(4);
        }),
    ],
    [
      "a batch key",
      "BATCH_KEY_SET_ON_NON_INNER_TRANSACTION",
      () =>
        changed((body) => {
          body.batchKey = { ed25519: Buffer.alloc(32) };
        }),
    ],
    [
      "a limit on custom fees",
      "MAX_CUSTOM_FEES_IS_NOT_SUPPORTED",
      () =>
        changed((body) => {
          body.maxCustomFees = [{ accountId: accountId(1_003) }];
        }),
    ],
    [
      "nothing to do",
      "INVALID_TRANSACTION_BODY",
      () =>
        changed((body) => {
          body.cryptoTransfer = null;
        }),
    ],
    [
      "an account twice",
      "ACCOUNT_REPEATED_IN_ACCOUNT_AMOUNTS",
      () =>
        changed((body) => {
          legs(body).push(legs(body)[0]!);
        }),
    ],
    [
      "legs that do not add up",
      "TRANSFERS_NOT_ZERO_SUM_FOR_TOKEN",
      () =>
        changed((body) => {
          legs(body)[1]!.amount = toInt64(2);
        }),
    ],
    [
      "a token twice",
      "TOKEN_ID_REPEATED_IN_TOKEN_LIST",
      () =>
        changed((body) => {
          body.cryptoTransfer!.tokenTransfers!.push(body.cryptoTransfer!.tokenTransfers![0]!);
        }),
    ],
    [
      "a token without legs",
      "EMPTY_TOKEN_TRANSFER_ACCOUNT_AMOUNTS",
      () =>
        changed((body) => {
          body.cryptoTransfer!.tokenTransfers!.push({ token: tokenId(7) });
        }),
    ],
    [
      "HBAR that does not add up",
      "INVALID_ACCOUNT_AMOUNTS",
      () =>
        changed((body) => {
          body.cryptoTransfer!.transfers = { accountAmounts: [{ accountID: accountId(1_003), amount: toInt64(1) }] };
        }),
    ],
  ])("and refuses %s: %s", async (_, status, transaction) => {
    const before = await hbarBalances(ledger);
    expect(await node.submit(transaction())).toBe(status);
    expect(await hbarBalances(ledger)).toEqual(before);
  });

  it("takes a signature whose key prefix is short but unambiguous", async () => {
    const bytes = encodeBody(paymentBody(ledger));
    const short = signaturesOf(ledger, bytes).map((pair) => ({
      ...pair,
      pubKeyPrefix: pair.pubKeyPrefix!.subarray(0, 6),
    }));
    expect(await node.submit(encodeTransaction(bytes, short))).toBe("OK");
  });

  const oneMore = (list: proto.ITransactionBody) => {
    for (let number = 100; number < 109; number++)
      legs(list).push({ accountID: accountId(number), amount: toInt64(0) });
  };
  const manyMoves = (list: proto.ITransactionBody) => {
    list.cryptoTransfer!.tokenTransfers![0] = {
      token: tokenId(429_274),
      nftTransfers: Array.from({ length: 11 }, (_, index) => ({
        senderAccountID: accountId(1_003),
        receiverAccountID: accountId(1_002),
        serialNumber: toInt64(index + 1),
      })),
    };
  };
  it.each([
    [
      "eleven HBAR legs",
      "TRANSFER_LIST_SIZE_LIMIT_EXCEEDED",
      (body: proto.ITransactionBody) => {
        const accountAmounts = Array.from({ length: 11 }, (_, index) => ({
          accountID: accountId(1_001 + index),
          amount: toInt64(0),
        }));
        body.cryptoTransfer!.transfers = { accountAmounts };
      },
    ],
    ["eleven token legs", "TOKEN_TRANSFER_LIST_SIZE_LIMIT_EXCEEDED", oneMore],
    ["eleven NFTs", "BATCH_SIZE_LIMIT_EXCEEDED", manyMoves],
    [
      "other decimals than the token has",
      "UNEXPECTED_TOKEN_DECIMALS",
      (body: proto.ITransactionBody) => {
        body.cryptoTransfer!.tokenTransfers![0]!.expectedDecimals = { value: 8 };
      },
    ],
  ])("accepts %s and then fails it with %s", async (_, status, change) => {
    const body = { ...paymentBody(ledger), transactionFee: toInt64(1_000_000_000) };
    change(body);
    expect(await node.submit(signedPayment(ledger, body))).toBe("OK");
    await eventually(() => node.receipt(body.transactionID!)).toBe(status);
  });

  it("answers a query that is none with an error, and goes on", async () => {
    await expect(node.call("getTransactionReceipts", Buffer.from("garbage!"))).rejects.toThrow("not a query");
    expect(await node.submit(signedPayment(ledger))).toBe("OK");
  });
});
