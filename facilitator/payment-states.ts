/*
 * A payment as a state machine, one row of `payments`: a state, and whether it may be claimed again (`retryable`).
 *
 *   none ─────────────────────── claimSigned ──────→ broadcast
 *   none ── claim ──→ claimed ── recordBroadcast ──→ broadcast ── finishUnknown ──→ unknown
 *                     │    ↑ ↑                        │  │                            │
 *                     │    │ └──────── takeBack ──────┘  │                            │
 *                     │    claim: if retryable; reopen   │                            │
 *                     │    │                             │                            │
 *                     └────┴── finish: settled or failed ┴────────────────────────────┘
 *
 * A chain of blocks may take a settled one back: it fails where it cannot land again (loseToChain).
 *
 * Each change is one statement that asks for the state before it and, except for `claim`, `reopen` and `giveWay` (from the same states as
 * `reopen`), for the token of the claim: the caller who claimed the payment has it and, once that caller's lease has run out, the reconciler.
 * `loseToChain` asks for the transaction that was told instead: no claim is held on what is settled.
 */

export const paymentStates = ["claimed", "broadcast", "unknown", "settled", "failed"] as const;
export type PaymentState = (typeof paymentStates)[number];

/** Payments whose end is still to come. */
export const unfinishedStates = ["claimed", "broadcast", "unknown"] as const satisfies readonly PaymentState[];
/** Signed bytes of it are stored, and its end was not seen: it may land at any time. */
export const sentStates = ["broadcast", "unknown"] as const satisfies readonly PaymentState[];

/** By the verb that makes the change, what becomes of a payment of each state from which it is legal. `none`: there is no row. */
export const transitions = {
  /** By a caller who presents the payment; again only where it is retryable. */
  claim: { none: ["claimed"], failed: ["claimed"], claimed: ["claimed"] },
  /** A caller's claim, stored together with what is signed for it; only where the payment has no claim yet. */
  claimSigned: { none: ["broadcast"] },
  recordBroadcast: { claimed: ["broadcast"] },
  /** What was signed can certainly never land, or no daemon has sent it. */
  takeBack: { broadcast: ["claimed"] },
  /** Certainly nothing was sent, for no fault of the payment: retryable. */
  withdraw: { claimed: ["failed"] },
  /** The lease ends at once: the reconciler looks after it. */
  giveUp: { claimed: ["claimed"] },
  /** By the reconciler, of a payment that the chain knows nothing of: retryable. */
  openClaim: { claimed: ["claimed"] },
  /** The chain shows a payment that failed, or is retryable, as settled: the reconciler records how. */
  reopen: { failed: ["claimed"], claimed: ["claimed"] },
  /** The chain has settled another payment under the same key: the row, which moved nothing, becomes that one's. */
  giveWay: { failed: ["claimed"], claimed: ["claimed"] },
  finishUnknown: { broadcast: ["unknown"], unknown: ["unknown"] },
  finish: { claimed: ["settled", "failed"], broadcast: ["settled", "failed"], unknown: ["settled", "failed"] },
  /** A reorganisation took back what settled it, and that can land no more. */
  loseToChain: { settled: ["failed"] },
} as const satisfies Readonly<
  Record<string, Readonly<Partial<Record<PaymentState | "none", readonly PaymentState[]>>>>
>;

type Transition = keyof typeof transitions;

/** SQL: whether a row of `payments` is in a state from which this change is legal. Of a table joined with others, by its name. */
export function legalFor(
  transition: Exclude<Transition, "claim" | "claimSigned" | "reopen" | "giveWay">,
  table?: string,
): string {
  return inStates(statesBefore(transition), table);
}

/** SQL: whether a row of `payments` may be claimed again. */
export function claimableAgain(table?: string): string {
  return `${inStates(statesBefore("claim"), table)} and ${columnOf("retryable", table)}`;
}

/** SQL: whether the reconciler may be asked once more about a row of `payments`, or the row may give way to another payment. */
export function reopenable(table?: string): string {
  return `(${inStates(["failed"], table)} or ${claimableAgain(table)})`;
}

/** A caller who presents it may claim it again: it failed in a way that left it valid, or its holder is gone. */
export function isClaimable({
  state,
  retryable,
}: {
  readonly state: PaymentState;
  readonly retryable: boolean;
}): boolean {
  return retryable && state in transitions.claim;
}

/** SQL: whether a row of `payments` is in one of these states. */
export function inStates(states: readonly PaymentState[], table?: string): string {
  return `${columnOf("state", table)} in (${states.map((state) => `'${state}'`).join(", ")})`;
}

/** SQL: whether it is under way, or its end is unknown. A claim that waits for another caller is neither. */
export const hasNotEnded = `${inStates(unfinishedStates)} and not (state = 'claimed' and retryable)`;

/**
 * SQL: whether a row of `payments` is one of those that may not have ended, by the ids that are kept apart. How many they are is not left to the
 * planner: after a burst it takes them for many still, and would read all of `payments` to find the few that there are.
 */
export const amongUnfinished = "id = any(array(select payment_id from unfinished_payments))";

function statesBefore(transition: Transition): readonly PaymentState[] {
  return paymentStates.filter((state) => state in transitions[transition]);
}

function columnOf(name: string, table: string | undefined): string {
  return table === undefined ? name : `${table}.${name}`;
}
