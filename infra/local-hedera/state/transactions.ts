import type { TransactionKind } from "../hapi/codec.ts";
import type { EntityNumber } from "../hapi/ids.ts";
import { type Status, statusCode } from "../hapi/refusal.ts";

/**
 * Every transaction the nodes accepted, oldest first. Receipts, duplicates and the mirror all read from here.
 * Bounded: beyond `kept`, the oldest go once no receipt is owed for them any more.
 */
export class Transactions {
  readonly #byKey = new Map<string, TransactionRecord>();
  /** Accepted by one node and never heard of again (a fault): that node alone remembers the id. */
  readonly #lost = new Map<string, { node: EntityNumber; untilMs: number }>();
  readonly #kept: number;

  constructor(kept: number) {
    this.#kept = kept;
  }

  get size(): number {
    return this.#byKey.size;
  }

  add(record: TransactionRecord, receiptTtlMs: number): void {
    this.#byKey.set(record.key, record);
    if (this.#byKey.size <= this.#kept) return;
    for (const oldest of this.#byKey.values()) {
      if (this.#byKey.size <= this.#kept || oldest.acceptedAtMs + receiptTtlMs >= record.acceptedAtMs) return;
      this.#byKey.delete(oldest.key);
    }
  }

  get(key: string): TransactionRecord | undefined {
    return this.#byKey.get(key);
  }

  lose(key: string, node: EntityNumber, untilMs: number): void {
    this.#lost.set(key, { node, untilMs });
  }

  isKnownTo(node: EntityNumber, key: string): boolean {
    return this.#byKey.has(key) || this.isLostAt(node, key);
  }

  isLostAt(node: EntityNumber, key: string): boolean {
    const lost = this.#lost.get(key);
    if (!lost) return false;
    if (lost.untilMs < Date.now()) this.#lost.delete(key);
    return lost.node === node && this.#lost.has(key);
  }

  /** The newest `count`, and every younger one than `ageMs`, oldest first. */
  recent(count: number, ageMs: number): TransactionRecord[] {
    const all = [...this.#byKey.values()];
    const since = Date.now() - ageMs;
    return all.filter((record, index) => index >= all.length - count || record.acceptedAtMs >= since);
  }

  *newestFirst(): Generator<TransactionRecord> {
    const all = [...this.#byKey.values()];
    for (let index = all.length - 1; index >= 0; index--) yield all[index]!;
  }
}

/** In flight until `status` is something else than UNKNOWN. Kept small: there may be hundreds of thousands. */
export type TransactionRecord = {
  key: string;
  kind: TransactionKind;
  payer: EntityNumber;
  node: EntityNumber;
  validStart: bigint;
  validSeconds: number;
  maxFee: bigint;
  memo: string;
  hash: string;
  highVolume: boolean;
  /** By the machine's clock, not the chain's. */
  acceptedAtMs: number;
  status: Status;
  consensusAt: bigint;
  outcome: Outcome;
};

/** What a transaction did. A failed one has only its fee and the transfers that paid it. */
export type Outcome = {
  fee: bigint;
  hbar: [account: EntityNumber, amount: bigint][];
  tokens?: TokenMove[];
  nfts?: NftMove[];
  assessedFees?: AssessedFee[];
  autoAssociations?: [token: EntityNumber, account: EntityNumber][];
  /** The entity acted upon, as the mirror names it. */
  entity?: EntityNumber;
  created?: { kind: "account" | "token" | "topic"; number: EntityNumber };
  totalSupply?: bigint;
  serials?: number[];
  topicSequence?: number;
  runningHash?: Buffer;
};

export type TokenMove = { token: EntityNumber; account: EntityNumber; amount: bigint; approved: boolean };
export type NftMove = { token: EntityNumber; serial: number; from: EntityNumber; to: EntityNumber; approved: boolean };
export type AssessedFee = {
  token: EntityNumber | null;
  amount: bigint;
  collector: EntityNumber;
  payers: EntityNumber[];
};

export const inFlight: Status = statusCode("UNKNOWN");
