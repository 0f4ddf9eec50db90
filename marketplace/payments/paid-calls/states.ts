/*
 * A paid call as a state machine. A call is one row of `paid_calls`, for one payment. Its state is not a column: it follows from what
 * the row holds (the payment's transaction, the run's output, when the output was delivered), so that no two columns can disagree.
 *
 *   none ── begin ──→ begun ──── run, keepResult ────→ ran ── settle, conclude ──→ deliverable ── conclude ──→ delivered
 *     │                 └─ settle, keepTransaction ─→ settled ── run, keepResult ──────┘
 *     └──── begin, with a payment settled before ───────┘
 *
 * What can be undone runs before it is settled: a run that fails costs nothing. What cannot be undone is settled first: the payment
 * then stays good until a run succeeds. Only the lease's holder changes a call; a lease lapses when its holder's process dies.
 */

export type PaidCallState =
  /** Verified; neither settled nor run. */
  | "begun"
  /** Charged, without a result: the agent owes it (debts.ts). */
  | "settled"
  /** Its result is kept, and withheld until the payment is settled. */
  | "ran"
  /** Charged, and its result waits for the buyer. */
  | "deliverable"
  /** Its result has left the service. */
  | "delivered";

/**
 * The changer of a call: a buyer's post of the payment, or, where no buyer came back, the periodic task that credits purchases or the
 * one that records settlements.
 */
export type Actor = "buyer" | "crediting" | "recording";

/**
 * Every change of a call, by the store's verb that makes it: what becomes of a call of each state from which it is legal. `none`: there
 * is no row.
 */
export const transitions = {
  /** To `settled` for a payment that was settled before it came here. */
  begin: { from: { none: ["begun", "settled"] }, by: ["buyer"] },
  acquireLease: {
    from: { begun: ["begun"], settled: ["settled"], ran: ["ran"], deliverable: ["deliverable"] },
    by: ["buyer", "crediting", "recording"],
  },
  /** For another input of the same product, while nothing was done and nothing may be under way. */
  rebind: { from: { begun: ["begun"], settled: ["settled"] }, by: ["buyer"] },
  /** From `ran` where the agent was published anew meanwhile, and what it does now cannot be undone. */
  keepTransaction: { from: { begun: ["settled"], ran: ["deliverable"] }, by: ["buyer", "crediting", "recording"] },
  keepResult: { from: { begun: ["ran"], settled: ["deliverable"] }, by: ["buyer", "crediting"] },
  /** To `deliverable` while the buyer has still to fetch the result. */
  conclude: {
    from: { ran: ["deliverable", "delivered"], deliverable: ["deliverable", "delivered"] },
    by: ["buyer", "crediting", "recording"],
  },
  /**
   * The run failed, or the payment was refused: nothing was charged, and the payment is as good as new. Only of the post that
   * began the call: a later one may be told less than is true, or have forged what it presents.
   */
  forget: { from: { begun: ["none"] }, by: ["buyer", "crediting"] },
  /**
   * Others had it settled, for something else, or the presenter has not shown the payer's wallet. Like `forget`, only of the post that
   * began the call.
   */
  discard: { from: { begun: ["none"], ran: ["none"] }, by: ["buyer", "crediting"] },
  /**
   * By a periodic task: the payment was not settled within `historyDays`, or its end is known and the result kept in files. If it is
   * settled after all, the agent runs again.
   */
  dropResult: { from: { ran: ["begun"] }, by: [] },
} as const satisfies Record<string, Rule>;

export type Transition = keyof typeof transitions;

interface Rule {
  readonly from: Readonly<Partial<Record<PaidCallState | "none", ReadonlyArray<PaidCallState | "none">>>>;
  readonly by: readonly Actor[];
}

/** A buyer's post of a payment that an earlier post began: what it presents, and is told, need not be what the earlier one was. */
export function isLaterPost({ isResumed, by }: { readonly isResumed: boolean; readonly by: Actor }): boolean {
  return isResumed && by === "buyer";
}

/** What a call's row holds. */
export interface Recorded {
  readonly transaction: string | null;
  readonly output: object | null;
  readonly deliveredAt?: Date | null;
}

export function stateOf({ transaction, output, deliveredAt = null }: Recorded): PaidCallState {
  if (deliveredAt !== null) return "delivered";
  if (output === null) return transaction === null ? "begun" : "settled";
  return transaction === null ? "ran" : "deliverable";
}

/** What is done next to a call whose lease is held. */
export function nextStep(call: Recorded, { permanent }: { readonly permanent: boolean }): "settle" | "run" | "deliver" {
  switch (stateOf(call)) {
    case "begun":
      return permanent ? "settle" : "run";
    case "settled":
      return "run";
    case "ran":
      return "settle";
    case "deliverable":
    case "delivered":
      return "deliver";
  }
}

/** Throws for a change that the table does not allow: a bug of ours, which ends the request before anything is written. */
export function requireLegal(transition: Transition, call: Recorded & { readonly by: Actor }): void {
  const { from, by }: Rule = transitions[transition];
  const state = stateOf(call);
  if (state in from && by.includes(call.by)) return;
  throw new Error(`a paid call that is ${state} may not be changed by ${transition} of ${call.by}`);
}

/** SQL: whether a row of `paid_calls` is in a state from which this change is legal. */
export function legalFor(transition: Exclude<Transition, "begin">): string {
  return inStates(Object.keys(transitions[transition].from) as PaidCallState[]);
}

/** SQL: whether a row of `paid_calls` is in one of these states. */
export function inStates(states: readonly PaidCallState[]): string {
  return `(${states.map((state) => `(${conditions[state]})`).join(" or ")})`;
}

/** SQL: whether no post works on the call, whose lease has lapsed or was given back. */
export const isFree = "(lease_until is null or lease_until < now())";

const conditions: Readonly<Record<PaidCallState, string>> = {
  begun: "delivered_at is null and output is null and transaction_id is null",
  settled: "delivered_at is null and output is null and transaction_id is not null",
  ran: "delivered_at is null and output is not null and transaction_id is null",
  deliverable: "delivered_at is null and output is not null and transaction_id is not null",
  delivered: "delivered_at is not null",
};
