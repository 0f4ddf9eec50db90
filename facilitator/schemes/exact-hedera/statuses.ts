import { statusName } from "../../../shared/hedera/nodes.ts";

/** What a node's precheck code means for a payment that was offered to it. */
export function verdictOfPrecheck(code: number): "accepted" | "duplicate" | "try again" | Failure {
  const name = statusName(code);
  if (name === "OK") return "accepted";
  if (name === "DUPLICATE_TRANSACTION") return "duplicate";
  if (transient.has(name)) return "try again";
  return (
    precheckFailures[name] ?? {
      reason: "transaction_failed",
      retryable: false,
      message: `The node refused the transaction: ${name}.`,
    }
  );
}

/** What a status at consensus means, by name or code: undefined is success. */
export function failureOf(status: number | string): Failure | undefined {
  const name = typeof status === "number" ? statusName(status) : status;
  if (name === "SUCCESS") return undefined;
  const reason = consensusReasons[name] ?? "transaction_failed";
  const message = `The chain executed the transaction without success: ${name}.`;
  const unpaid = name === "INSUFFICIENT_PAYER_BALANCE" ? ({ unpaid: true } as const) : {};
  return { reason, retryable: false, message, charged: !notThePayers.has(name), ...unpaid };
}

/**
 * A node put a spoilt copy to consensus: this ends nothing, since the transaction may still come, and its receipt then says so.
 * Source: hiero-consensus-node, RecordCache.NODE_FAILURES.
 */
export function isFaultOfNode(status: number | string): boolean {
  const name = typeof status === "number" ? statusName(status) : status;
  return name === "INVALID_PAYER_SIGNATURE" || name === "INVALID_NODE_ACCOUNT";
}

export interface Failure {
  readonly reason: string;
  readonly message: string;
  readonly retryable: boolean;
  /** Ours to mend, not the payer's. */
  readonly alarm?: true;
  /** The fee payer has no money for the network fee, and nothing was charged. */
  readonly unpaid?: true;
  /** The network fee was spent, and the payer could have known. */
  readonly charged?: boolean;
}

const prefix = "invalid_exact_hedera_payload_";
const expired: Failure = {
  reason: `${prefix}transaction_expired`,
  message: "The transaction's validity does not include the chain's present time.",
  retryable: false,
};
const ours = (message: string): Failure => ({
  reason: "unexpected_settle_error",
  message,
  retryable: true,
  alarm: true,
});

/** Nothing was executed and nothing was charged; another node, or the same one later, may take the transaction. */
const transient = new Set([
  "BUSY",
  "PLATFORM_NOT_ACTIVE",
  "PLATFORM_TRANSACTION_NOT_CREATED",
  "INVALID_NODE_ACCOUNT",
  "INVALID_TRANSACTION_START",
  "THROTTLED_AT_CONSENSUS",
]);

const precheckFailures: Readonly<Record<string, Failure>> = {
  TRANSACTION_EXPIRED: expired,
  INVALID_TRANSACTION_DURATION: expired,
  INSUFFICIENT_TX_FEE: {
    reason: `${prefix}max_fee`,
    message: "The transaction's maximum fee is less than the chain charges.",
    retryable: false,
  },
  INSUFFICIENT_PAYER_BALANCE: { ...ours("The fee payer cannot pay the network fee at the moment."), unpaid: true },
  PAYER_ACCOUNT_NOT_FOUND: { ...ours("The fee payer's account cannot be charged."), unpaid: true },
  PAYER_ACCOUNT_DELETED: { ...ours("The fee payer's account cannot be charged."), unpaid: true },
  // At precheck only the fee payer's signature is looked at.
  INVALID_SIGNATURE: ours("The fee payer's signature was not accepted."),
};

const consensusReasons: Readonly<Record<string, string>> = {
  INSUFFICIENT_TOKEN_BALANCE: "insufficient_funds",
  INSUFFICIENT_ACCOUNT_BALANCE: "insufficient_funds",
  INVALID_SIGNATURE: `${prefix}signature_invalid`,
  TOKEN_NOT_ASSOCIATED_TO_ACCOUNT: `${prefix}preflight_failed`,
  NO_REMAINING_AUTOMATIC_ASSOCIATIONS: `${prefix}preflight_failed`,
  ACCOUNT_FROZEN_FOR_TOKEN: `${prefix}preflight_failed`,
  TOKEN_IS_PAUSED: `${prefix}preflight_failed`,
  ACCOUNT_KYC_NOT_GRANTED_FOR_TOKEN: `${prefix}preflight_failed`,
  TRANSACTION_EXPIRED: `${prefix}transaction_expired`,
  INSUFFICIENT_PAYER_BALANCE: "unexpected_settle_error",
};

/** Failures at consensus that no payer brings about. */
const notThePayers = new Set(["INSUFFICIENT_PAYER_BALANCE", "THROTTLED_AT_CONSENSUS", "TRANSACTION_EXPIRED"]);
