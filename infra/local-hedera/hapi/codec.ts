import { createHash } from "node:crypto";
import { proto, type Reader } from "@hiero-ledger/proto";
import { accountNumber, type EntityNumber, toBigint, toNanos, transactionKey } from "./ids.ts";
import { ensure, RefusalError, type StatusName } from "./refusal.ts";
import { StrictReader } from "./strict-reader.ts";

/**
 * Reads one `Transaction` as a consensus node does: strictly, so that an unknown field is refused rather than skipped.
 * Throws a RefusalError with the precheck status of TransactionChecker (hiero-consensus-node).
 */
export function parseTransaction(bytes: Buffer): ParsedTransaction {
  ensure(bytes.length <= transactionBytesMax, "TRANSACTION_OVERSIZE");
  const outer = decodeStrictly(proto.Transaction, envelope(bytes), "INVALID_TRANSACTION");
  const { bodyBytes, sigPairs } = unwrap(outer);
  const body = decodeStrictly(
    proto.TransactionBody,
    new StrictReader(bodyBytes, { hasSmallNumbers: true }),
    "INVALID_TRANSACTION_BODY",
  );

  ensure(body.data !== undefined, "INVALID_TRANSACTION_BODY");
  ensure(!!body.transactionID, "INVALID_TRANSACTION_ID");
  const payer = accountNumber(body.transactionID.accountID);
  ensure(payer !== undefined, "PAYER_ACCOUNT_NOT_FOUND");
  ensure(!body.transactionID.scheduled && !body.transactionID.nonce, "TRANSACTION_ID_FIELD_NOT_ALLOWED");

  const validStart = toNanos(body.transactionID.transactionValidStart);
  const signed = outer.signedTransactionBytes.length > 0 ? outer.signedTransactionBytes : bytes;
  return {
    key: transactionKey(payer, validStart),
    kind: body.data,
    body,
    bodyBytes,
    sigPairs,
    payer,
    validStart,
    validSeconds: Number(toBigint(body.transactionValidDuration?.seconds)),
    maxFee: toBigint(body.transactionFee),
    sizeBytes: bytes.length,
    hash: createHash("sha384").update(signed).digest("base64"),
  };
}

export function decodeQuery(bytes: Buffer): proto.Query {
  return proto.Query.decode(bytes);
}

const unwrap = (outer: proto.Transaction): { bodyBytes: Uint8Array; sigPairs: proto.ISignaturePair[] } => {
  if (outer.signedTransactionBytes.length > 0) {
    ensure(outer.bodyBytes.length === 0 && !outer.sigMap && !outer.body && !outer.sigs, "INVALID_TRANSACTION");
    const signed = decodeStrictly(
      proto.SignedTransaction,
      envelope(outer.signedTransactionBytes),
      "INVALID_TRANSACTION",
    );
    ensure(!!signed.sigMap, "INVALID_TRANSACTION_BODY");
    return { bodyBytes: signed.bodyBytes, sigPairs: signed.sigMap.sigPair ?? [] };
  }
  ensure(outer.bodyBytes.length > 0 && !!outer.sigMap, "INVALID_TRANSACTION_BODY");
  return { bodyBytes: outer.bodyBytes, sigPairs: outer.sigMap.sigPair ?? [] };
};

const decodeStrictly = <T>(type: Decoder<T>, reader: StrictReader, malformed: StatusName): T => {
  try {
    return type.decode(reader);
  } catch (error) {
    throw error instanceof RefusalError ? error : new RefusalError(malformed);
  }
};

const envelope = (bytes: Uint8Array): StrictReader => new StrictReader(bytes, { hasSmallNumbers: false });

const transactionBytesMax = 6_144;

type Decoder<T> = { decode(reader: Reader): T };

export type TransactionKind = NonNullable<proto.TransactionBody["data"]>;

export type ParsedTransaction = {
  key: string;
  kind: TransactionKind;
  body: proto.TransactionBody;
  bodyBytes: Uint8Array;
  sigPairs: proto.ISignaturePair[];
  payer: EntityNumber;
  /** Nanoseconds since the epoch. */
  validStart: bigint;
  validSeconds: number;
  /** Tinybars. */
  maxFee: bigint;
  sizeBytes: number;
  /** SHA-384 of the signed transaction, base64. */
  hash: string;
};
