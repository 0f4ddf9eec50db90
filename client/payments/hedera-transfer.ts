import type { Requirements } from "./quote.ts";

/*
 * A transfer of exactly the quoted amount to the quoted account, on an id of the facilitator's account, which pays the
 * network's fee. Messages are those of the Hedera API (hapi/services), written by hand.
 */

/** What all copies of one transfer have in common. */
export interface HederaTransfer {
  readonly requirements: Requirements;
  /** `0.0.1234` */
  readonly payer: string;
  readonly feePayer: string;
  readonly seconds: bigint;
  readonly nanos: bigint;
  /** For how many seconds it can land. */
  readonly duration: bigint;
}

/** `at`: when the quote was made, by the server's clock. */
export function hederaTransfer(requirements: Requirements, payer: string, at: Date): HederaTransfer {
  return {
    requirements,
    payer,
    feePayer: String(requirements.extra.feePayer),
    seconds: BigInt(Math.floor(at.getTime() / 1_000) - startEarlierSeconds),
    nanos: BigInt(crypto.getRandomValues(new Uint32Array(1))[0]! % 1_000_000_000),
    duration: BigInt(Math.min(180, requirements.maxTimeoutSeconds)),
  };
}

/** `0.0.5@1700000000.000000001` */
export function transactionId({ feePayer, seconds, nanos }: HederaTransfer): string {
  return `${feePayer}@${seconds}.${String(nanos).padStart(9, "0")}`;
}

/** Every network has these nodes. A transaction goes to the one that its body names. */
export const hederaNodes = ["0.0.3", "0.0.4", "0.0.5"];

/** TransactionBody: .1 id, .2 node, .3 fee, .4 duration, .14 cryptoTransfer → .2 tokenTransfers → .1 token, .2 rows. */
export function transferBody(transfer: HederaTransfer, node: string): Uint8Array<ArrayBuffer> {
  const { requirements, payer, feePayer, seconds, nanos, duration } = transfer;
  const amount = BigInt(requirements.amount);
  const row = (account: string, moved: bigint) => [...bytesField(1, entity(account)), ...numberField(2, zigzag(moved))];
  const transfers = [
    ...bytesField(1, entity(requirements.asset)),
    ...bytesField(2, row(payer, -amount)),
    ...bytesField(2, row(requirements.payTo, amount)),
  ];
  const start = [...numberField(1, seconds), ...numberField(2, nanos)];
  return Uint8Array.from([
    ...bytesField(1, [...bytesField(1, start), ...bytesField(2, entity(feePayer))]),
    ...bytesField(2, entity(node)),
    ...numberField(3, feeMaxTinybars),
    ...bytesField(4, numberField(1, duration)),
    ...bytesField(14, bytesField(2, transfers)),
  ]);
}

/** SignatureMap.1 → SignaturePair: .1 the key, .3 ed25519, .6 ECDSA. An ed25519 key has 32 bytes. */
export function signatureMap(publicKey: Uint8Array, signature: Uint8Array): Uint8Array<ArrayBuffer> {
  const kind = publicKey.length === 32 ? 3 : 6;
  return Uint8Array.from(bytesField(1, [...bytesField(1, [...publicKey]), ...bytesField(kind, [...signature])]));
}

/** TransactionList.1 → Transaction.5 → SignedTransaction.1 and .2, for each node that the transfer was signed for. */
export function transactionList(signed: ReadonlyArray<{ body: Uint8Array; signatures: Uint8Array }>): Uint8Array {
  const transactions = signed.flatMap(({ body, signatures }) =>
    bytesField(1, bytesField(5, [...bytesField(1, [...body]), ...bytesField(2, [...signatures])])),
  );
  return Uint8Array.from(transactions);
}

/** The facilitator pays it, and refuses what is dear. */
const feeMaxTinybars = 200_000_000n;
/** Clocks of nodes may be behind. */
const startEarlierSeconds = 5;

/** AccountID and TokenID have their number in the same place. */
const entity = (id: string) => numberField(3, BigInt(id.split(".")[2] ?? "0"));
const zigzag = (value: bigint) => (value < 0n ? -value * 2n - 1n : value * 2n);

function numberField(number: number, value: bigint): number[] {
  return value === 0n ? [] : [...varint(BigInt(number * 8)), ...varint(value)];
}

function bytesField(number: number, bytes: readonly number[]): number[] {
  return [...varint(BigInt(number * 8 + 2)), ...varint(BigInt(bytes.length)), ...bytes];
}

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return [...bytes, Number(rest)];
}
