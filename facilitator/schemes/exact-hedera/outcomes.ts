import type { HederaNodes } from "../../../shared/hedera/nodes.ts";
import type { Log } from "../../../shared/log.ts";
import type { BroadcastLog, Outcome } from "../scheme.ts";
import type { Copy } from "./copies.ts";
import type { HederaFeePayers } from "./fee-payers.ts";
import { type Mirror, paysAsAgreed, type TransactionRecord } from "./mirror.ts";
import type { Preflight } from "./preflight.ts";
import { type Failure, failureOf, isFaultOfNode } from "./statuses.ts";
import type { UsualWait } from "./usual-wait.ts";

/** What a settlement needs, and the one way to the chain for payments. */
export interface ChainNeeds {
  /** CAIP-2. */
  readonly network: string;
  readonly store: BroadcastLog;
  readonly log: Log;
  readonly nodes: HederaNodes;
  readonly mirror: Mirror;
  readonly preflight: Preflight;
  readonly feePayers: HederaFeePayers;
  /** Transactions that a `submit` of this process is looking after. */
  readonly underway: Set<string>;
  /** Hashes of the copies that a node took from this process lately: the chain cannot have had their ids from anything else. */
  readonly taken: Set<string>;
  readonly usualWait: UsualWait;
}

/** By the record of one of our copies; any other that succeeded under this id has paid as agreed or used it up. */
export function judge(
  records: readonly TransactionRecord[],
  copies: readonly Copy[],
  agreed: Agreed,
): Verdict | undefined {
  const own = records.filter(
    (record) => !isFaultOfNode(record.result) && copies.some(({ hash }) => hash === record.hash),
  );
  if (own.some(({ result }) => result === "SUCCESS")) return "settled";
  if (own[0]) return failureOf(own[0].result);
  if (records.some((record) => paysAsAgreed(record, agreed))) return "settled by another";
  if (!records.some(({ result }) => result === "SUCCESS")) return undefined;
  const message = "Another transaction has used this payment's id.";
  return { reason: "invalid_transaction_state", message, retryable: false };
}

type Verdict = "settled" | "settled by another" | Failure;
type Agreed = Parameters<typeof paysAsAgreed>[1];

export function ended({ log, feePayers }: ChainNeeds, transaction: string, verdict: Verdict): Outcome {
  if (verdict === "settled") return { outcome: "settled", transaction };
  if (verdict === "settled by another") return { outcome: "settled", transaction, byAnother: true };
  const { reason, message, retryable, alarm, unpaid, charged = false } = verdict;
  if (unpaid) feePayers.noteEmpty(transaction.slice(0, transaction.indexOf("@")));
  if (alarm) log.error({ transaction, reason }, message);
  return { outcome: "failed", reason, message, transaction, retryable, charged };
}

/** The status of a receipt that ends the payment. */
export function endOf(receipt: Receipt): number | undefined {
  if (typeof receipt !== "object") return undefined;
  const status = receipt.status as number;
  return isFaultOfNode(status) ? undefined : status;
}

type Receipt = Awaited<ReturnType<HederaNodes["receipt"]>>;

/**
 * Nodes to ask for a receipt, the best first: others than those that were offered a copy, where there are such. The payer may
 * have named a node of their own, which must not decide alone whether the money has moved.
 */
export function witnessesOf({ nodes }: Pick<ChainNeeds, "nodes">, copies: readonly Copy[]): readonly string[] {
  const order = nodes.inOrder();
  const others = order.filter((node) => !copies.some((copy) => copy.node === node));
  return others.length > 1 ? others : order;
}
