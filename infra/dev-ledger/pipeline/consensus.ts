import type { LedgerContext } from "../context.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { transactionPrice } from "../fees/schedule.ts";
import { handlers } from "../handlers/dispatch.ts";
import type { ParsedTransaction } from "../hapi/codec.ts";
import { type EntityNumber, NANOS_PER_SECOND } from "../hapi/ids.ts";
import { Refusal, type StatusName, statusCode } from "../hapi/refusal.ts";
import { IN_FLIGHT, type TransactionRecord } from "../state/transactions.ts";
import { keyOfAccount } from "./authority.ts";
import { Handling } from "./handling.ts";

/** Accepted transactions wait here for the consensus delay, then run one after the other in the order they came. */
export class Consensus {
  readonly #ledger: LedgerContext;
  readonly #queue: Waiting[] = [];
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: LedgerContext) {
    this.#ledger = ledger;
  }

  enqueue(transaction: ParsedTransaction, signatures: Signatures, node: EntityNumber): void {
    const { key, kind, payer, validStart, validSeconds, maxFee, hash, body } = transaction;
    const record: TransactionRecord = {
      key,
      kind,
      payer,
      node,
      validStart,
      validSeconds,
      maxFee,
      memo: body.memo,
      hash,
      acceptedAtMs: Date.now(),
      status: IN_FLIGHT,
      consensusAt: 0n,
      outcome: { fee: 0n, hbar: [] },
    };
    this.#ledger.transactions.add(record, this.#ledger.settings.receiptTtlMs);
    this.#queue.push({ transaction, signatures, record, dueMs: Date.now() + this.#ledger.settings.consensusDelayMs });
    this.#timer ??= setTimeout(() => this.#runDue(), this.#ledger.settings.consensusDelayMs);
  }

  /** Runs everything that waits, due or not. */
  drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#runUntil(Number.POSITIVE_INFINITY);
  }

  #runDue(): void {
    this.#timer = undefined;
    this.#runUntil(Date.now());
    const head = this.#queue[this.#next];
    if (head) this.#timer = setTimeout(() => this.#runDue(), Math.max(1, head.dueMs - Date.now()));
  }

  #runUntil(nowMs: number): void {
    for (let waiting = this.#queue[this.#next]; waiting && waiting.dueMs <= nowMs; waiting = this.#queue[this.#next]) {
      this.#next++;
      run(this.#ledger, waiting);
    }
    this.#queue.splice(0, this.#next);
    this.#next = 0;
  }
}

const run = (ledger: LedgerContext, { transaction, signatures, record }: Waiting): void => {
  const handling = new Handling({
    ledger,
    transaction,
    signatures,
    consensusAt: ledger.clock.nextConsensus(),
    node: record.node,
  });
  const status = execute(handling, record.node);
  if (status !== "SUCCESS") handling.undo();
  record.outcome = handling.finish();
  record.consensusAt = handling.consensusAt;
  record.status = statusCode(status);
  ledger.changed();
};

const execute = (handling: Handling, node: EntityNumber): StatusName => {
  const { ledger, transaction, signatures, payer } = handling;
  const end = transaction.validStart + BigInt(transaction.validSeconds) * NANOS_PER_SECOND;
  if (end < handling.consensusAt) return "TRANSACTION_EXPIRED";
  if (payer.deleted) return "PAYER_ACCOUNT_DELETED";
  const key = keyOfAccount(payer, signatures);
  if (!key || !signatures.satisfies(key)) return "INVALID_PAYER_SIGNATURE";
  const price = transactionPrice(transaction, signatures.count, ledger.state);
  if (!handling.chargeFee(price)) return "INSUFFICIENT_PAYER_BALANCE";
  if (ledger.faults.take("throttleAtConsensus", node)) return "THROTTLED_AT_CONSENSUS";
  try {
    handling.requireAccount(payer);
    const handle = handlers[transaction.kind];
    if (!handle) return "NOT_SUPPORTED";
    handle(handling);
    return "SUCCESS";
  } catch (error) {
    if (error instanceof Refusal) return error.message as StatusName;
    console.error("dev-ledger: a handler broke on", transaction.kind, error);
    return "FAIL_INVALID";
  }
};

type Waiting = { transaction: ParsedTransaction; signatures: Signatures; record: TransactionRecord; dueMs: number };
