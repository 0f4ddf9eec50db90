import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Payment } from "../scheme.ts";
import {
  bool,
  bytes,
  decode,
  fieldSpan,
  int,
  MalformedError,
  message,
  present,
  repeated,
  sint,
  sub,
  uint,
} from "./wire.ts";

export interface HederaPayment extends Payment {
  readonly feePayer: string;
  readonly validStartMs: number;
  readonly durationSeconds: number;
  /** The most the payer lets the network charge, in tinybars. */
  readonly feeMax: bigint;
  /** The token's decimals as the payer believes them to be; the chain refuses the transfer where they differ. */
  readonly expectedDecimals: number | undefined;
  /** One body a node of our address book; they differ in nothing else. */
  readonly bodies: readonly SignedBody[];
}

/** One copy of the transaction, for one node, with what signed it. */
export interface SignedBody {
  /** `0.0.n`; undefined when the body names no plain account. */
  readonly node: string | undefined;
  readonly bytes: Buffer;
  readonly signatures: readonly SignaturePair[];
}

export interface SignaturePair {
  /** The first bytes of the public key, possibly all of it or none. */
  readonly keyPrefix: Buffer;
  readonly ed25519: Buffer | undefined;
  readonly ecdsa: Buffer | undefined;
}

/** What a payer signed, read strictly and not judged yet. */
export interface SignedTransfer {
  readonly body: Body;
  readonly rows: readonly Row[];
  readonly bodies: readonly SignedBody[];
}

export interface Row {
  /** `0.0.0` is HBAR. */
  readonly asset: string | undefined;
  /** Undefined when the row names its account by alias or outside shard and realm 0. */
  readonly account: string | undefined;
  readonly amount: bigint;
  readonly isApproval: boolean;
  readonly callsHook: boolean;
}

export const hbar = "0.0.0";

/** A node takes no transaction over 6,144 bytes. */
const limits = { bytesMax: 32_768, bodiesMax: 40, bodyBytesMax: 6_144, signaturesMax: 20 };

/**
 * Base64 of a TransactionList (what every SDK's toBytes() gives) → what it says. Throws MalformedError when the bytes could
 * be read in two ways, when the copies for several nodes differ, or when anything exceeds its limit.
 */
export function readSignedTransfer(base64: string): SignedTransfer {
  if (base64.length > Math.ceil(limits.bytesMax / 3) * 4) throw new MalformedError("shape", "it exceeds 32 KB");
  const raw = Buffer.from(base64, "base64");
  if (raw.length === 0 || raw.toString("base64") !== base64)
    throw new MalformedError("undecodable", "it is not base64");
  const { transactions } = decode(transactionList, raw);
  if (transactions.length === 0) throw new MalformedError("undecodable", "it holds no transaction");
  if (transactions.length > limits.bodiesMax)
    throw new MalformedError("shape", `it has over ${limits.bodiesMax} bodies`);

  const signed = transactions.map(({ signedBytes }) => decode(signedTransaction, signedBytes ?? empty));
  const [first = empty, ...others] = signed.map(({ bodyBytes }) => bodyBytes ?? empty);
  if (first.length > limits.bodyBytesMax)
    throw new MalformedError("shape", `a body has over ${limits.bodyBytesMax} bytes`);
  const body = decode(transactionBody, first);
  if (!isUtf8(body.memo ?? empty)) throw new MalformedError("undecodable", "its memo is not UTF-8");
  const nodes = [accountText(body.node), ...nodesOfCopies(first, others)];
  return {
    body,
    rows: rowsOf(body),
    bodies: signed.map(({ bodyBytes, signatures }, index) => ({
      node: nodes[index],
      bytes: bodyBytes ?? empty,
      signatures: readPairs(signatures?.pairs ?? []),
    })),
  };
}

/** Ten seconds later than the chain executes it: by so much one mirror's copies may differ. */
export function expiryOf(validStartMs: number, durationSeconds: number): Date {
  return new Date(Math.ceil(validStartMs) + (durationSeconds + 10) * 1_000);
}

/** A Transaction of ours: the SignedTransaction in it, and the node that one is for. */
export function readSigned(raw: Buffer): { signed: Buffer; node: string } {
  const signed = decode(transaction, raw).signedBytes ?? empty;
  const { bodyBytes = empty } = decode(signedTransaction, signed);
  return { signed, node: accountText(decode(transactionBody, bodyBytes).node) ?? "" };
}

/** SHA-256 of a transaction without its node id: the payer signs one copy for each node, and all have the same digest. */
export function digestOfBody(bytes: Buffer): Buffer {
  const { start, end } = fieldSpan(bytes, nodeField) ?? { start: 0, end: 0 };
  return createHash("sha256").update(bytes.subarray(0, start)).update(bytes.subarray(end)).digest();
}

/** Each copy must be the first one except for its node id. */
function nodesOfCopies(first: Buffer, copies: readonly Buffer[]): ReadonlyArray<string | undefined> {
  if (copies.length === 0) return [];
  const span = fieldSpan(first, nodeField);
  if (span === undefined) throw new MalformedError("undecodable", "several bodies without a node id");
  return copies.map((copy) => {
    const own = fieldSpan(copy, nodeField);
    const same =
      own !== undefined &&
      own.start === span.start &&
      copy.compare(first, 0, span.start, 0, span.start) === 0 &&
      copy.subarray(own.end).equals(first.subarray(span.end));
    if (!same) throw new MalformedError("undecodable", "its bodies differ in more than the node id");
    return accountText(decode(nodeOnly, copy.subarray(own.start, own.end)).node);
  });
}

function rowsOf(body: Body): readonly Row[] {
  const { transfers, tokens = [] } = body.transfer ?? {};
  return [
    ...(transfers?.rows ?? []).map((row) => rowOf(hbar, row)),
    ...tokens.flatMap(({ token, rows }) => rows.map((row) => rowOf(tokenText(token), row))),
  ];
}

function rowOf(asset: string | undefined, row: AccountAmount): Row {
  return {
    asset,
    account: accountText(row.account),
    amount: row.amount ?? 0n,
    isApproval: row.isApproval ?? false,
    callsHook: row.hook !== undefined,
  };
}

function readPairs(pairs: readonly SignaturePairFields[]): readonly SignaturePair[] {
  if (pairs.length > limits.signaturesMax) {
    throw new MalformedError("shape", `a body has over ${limits.signaturesMax} signatures`);
  }
  return pairs.map(readPair);
}

function readPair(pair: SignaturePairFields): SignaturePair {
  const given = [pair.ed25519, pair.ecdsa, pair.other].filter((signature) => signature !== undefined);
  if (given.length > 1) throw new MalformedError("shape", "a signature pair holds several signatures");
  return { keyPrefix: pair.keyPrefix ?? empty, ed25519: pair.ed25519, ecdsa: pair.ecdsa };
}

/** `0.0.n` of a plain account id; undefined for an alias, another shard or realm, or no account. */
export function accountText(id: AccountId | undefined): string | undefined {
  return id && id.alias === undefined ? entityText(id.shard, id.realm, id.num) : undefined;
}

export function tokenText(id: TokenId | undefined): string | undefined {
  return id && entityText(id.shard, id.realm, id.num);
}

function entityText(shard = 0n, realm = 0n, num = 0n): string | undefined {
  return shard === 0n && realm === 0n && num > 0n ? `0.0.${num}` : undefined;
}

const empty = Buffer.alloc(0);
const nodeField = 2;

// The messages of the Hedera API (hapi/services) as far as a payment may use them. Fields that are known and have no
// place in a payment are noted, so that a rule can name them; what is not listed here cannot be read at all.
const accountId = message("AccountID", { shard: int(1), realm: int(2), num: int(3), alias: bytes(4) });
const tokenId = message("TokenID", { shard: int(1), realm: int(2), num: int(3) });
const accountAmount = message("AccountAmount", {
  account: sub(1, accountId),
  amount: sint(2),
  isApproval: bool(3),
  hook: present(4, 5),
});
const transferList = message("TransferList", { rows: repeated(sub(1, accountAmount)) });
const uint32Value = message("UInt32Value", { value: uint(1) });
const tokenTransferList = message("TokenTransferList", {
  token: sub(1, tokenId),
  rows: repeated(sub(2, accountAmount)),
  nfts: repeated(present(3)),
  expectedDecimals: sub(4, uint32Value),
});
const cryptoTransfer = message("CryptoTransferTransactionBody", {
  transfers: sub(1, transferList),
  tokens: repeated(sub(2, tokenTransferList)),
});
const timestamp = message("Timestamp", { seconds: int(1), nanos: int(2) });
const transactionId = message("TransactionID", {
  validStart: sub(1, timestamp),
  account: sub(2, accountId),
  scheduled: bool(3),
  nonce: int(4),
});
const transferNumber = 14;
const batchKeyNumber = 73;
/** The `data` oneof. */
const operationNumbers = Array.from({ length: 93 }, (_, index) => index + 7).filter(
  (number) => number !== transferNumber && number !== batchKeyNumber,
);
const transactionBody = message("TransactionBody", {
  id: sub(1, transactionId),
  node: sub(nodeField, accountId),
  feeMax: uint(3),
  duration: sub(4, message("Duration", { seconds: int(1) })),
  generateRecord: bool(5),
  memo: bytes(6),
  transfer: sub(transferNumber, cryptoTransfer),
  batchKey: present(batchKeyNumber),
  operations: repeated(present(...operationNumbers)),
  customFeesMax: repeated(present(1001)),
  highVolume: bool(1002),
});
const nodeOnly = message("TransactionBody", { node: sub(nodeField, accountId) });
const signaturePair = message("SignaturePair", {
  keyPrefix: bytes(1),
  ed25519: bytes(3),
  ecdsa: bytes(6),
  other: present(2, 4, 5),
});
const signatureMap = message("SignatureMap", { pairs: repeated(sub(1, signaturePair)) });
const signedTransaction = message("SignedTransaction", { bodyBytes: bytes(1), signatures: sub(2, signatureMap) });
const transaction = message("Transaction", { signedBytes: bytes(5) });
const transactionList = message("TransactionList", { transactions: repeated(sub(1, transaction)) }, "undecodable");

type AccountId = ReturnType<typeof accountId>;
type TokenId = ReturnType<typeof tokenId>;
type AccountAmount = ReturnType<typeof accountAmount>;
type SignaturePairFields = ReturnType<typeof signaturePair>;
export type Body = ReturnType<typeof transactionBody>;
