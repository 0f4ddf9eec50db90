import type { ChainContext } from "../context.ts";
import type { Signatures } from "../crypto/signatures.ts";
import { transactionPrice } from "../fees/schedule.ts";
import { handlers } from "../handlers/dispatch.ts";
import type { ParsedTransaction } from "../hapi/codec.ts";
import { type EntityNumber, nanosPerSecond } from "../hapi/ids.ts";
import { RefusalError, type StatusName, statusCode } from "../hapi/refusal.ts";
import { inFlight, type TransactionRecord } from "../state/transactions.ts";
import { keyOfAccount } from "./authority.ts";
import { Handling } from "./handling.ts";

/** Accepted transactions wait here for the consensus delay, then run one after the other in the order they came. */
export class Consensus {
  readonly #chain: ChainContext;
  readonly #queue: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(chain: ChainContext) {
    this.#chain = chain;
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
      highVolume: body.highVolume,
      acceptedAtMs: Date.now(),
      status: inFlight,
      consensusAt: 0n,
      outcome: { fee: 0n, hbar: [] },
    };
    this.#chain.transactions.add(record, this.#chain.levels.receiptTtlMs);
    this.#queue.push({ transaction, signatures, record });
    this.#timer ??= setTimeout(() => this.runDue(), this.#chain.levels.consensusDelayMs);
  }

  /** Runs the transactions that are due, and sets the timer for the rest. Call it also when the delay was changed. */
  runDue(): void {
    clearTimeout(this.#timer);
    const { consensusDelayMs } = this.#chain.levels;
    this.#runAccepted(Date.now() - consensusDelayMs);
    const [head] = this.#queue;
    const waitMs = head && Math.max(1, head.record.acceptedAtMs + consensusDelayMs - Date.now());
    this.#timer = waitMs === undefined ? undefined : setTimeout(() => this.runDue(), waitMs);
  }

  /** Runs everything that waits, due or not. */
  drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#runAccepted(Number.POSITIVE_INFINITY);
  }

  #runAccepted(untilMs: number): void {
    const notYet = this.#queue.findIndex(({ record }) => record.acceptedAtMs > untilMs);
    const due = this.#queue.splice(0, notYet === -1 ? this.#queue.length : notYet);
    for (const waiting of due) run(this.#chain, waiting);
  }
}

const run = (chain: ChainContext, { transaction, signatures, record }: Waiting): void => {
  const handling = new Handling({
    chain,
    transaction,
    signatures,
    consensusAt: chain.clock.nextConsensus(),
    node: record.node,
  });
  const status = execute(handling, record.node);
  if (status !== "SUCCESS") handling.undo();
  record.outcome = handling.finish();
  record.consensusAt = handling.consensusAt;
  record.status = statusCode(status);
  chain.changed();
};

const execute = (handling: Handling, node: EntityNumber): StatusName => {
  const { chain, transaction, signatures, payer } = handling;
  const end = transaction.validStart + BigInt(transaction.validSeconds) * nanosPerSecond;
  if (end < handling.consensusAt) return "TRANSACTION_EXPIRED";
  if (payer.deleted) return "PAYER_ACCOUNT_DELETED";
  const key = keyOfAccount(payer, signatures);
  if (!key || !signatures.satisfies(key)) return "INVALID_PAYER_SIGNATURE";
  const price = transactionPrice(transaction, signatures.count, chain.state);
  if (!handling.chargeFee(price)) return "INSUFFICIENT_PAYER_BALANCE";
  if (chain.faults.take("throttleAtConsensus", node)) return "THROTTLED_AT_CONSENSUS";
  try {
    handling.requireAccount(payer);
    const handle = handlers[transaction.kind];
    if (!handle) return "NOT_SUPPORTED";
    handle(handling);
    return "SUCCESS";
  } catch (error) {
    if (error instanceof RefusalError) return error.message as StatusName;
    console.error("local-hedera: a handler broke on", transaction.kind, error);
    return "FAIL_INVALID";
  }
};

type Waiting = { transaction: ParsedTransaction; signatures: Signatures; record: TransactionRecord };
