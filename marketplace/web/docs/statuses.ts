/**
 * A status of an answer: its meaning for the caller's money, and what to do. The statuses are those that the endpoint
 * documents; a test compares the two.
 */
export interface StatusNote {
  readonly status: number;
  readonly means: string;
  readonly money: Money;
  readonly next: string;
}

type Money =
  | "moved"
  | "did not move"
  | "moved, and stays good"
  | "not known yet"
  | "charged if `success`"
  | "see `charged`";

const common = {
  408: note(408, "The body did not arrive in time", "did not move", "send it again"),
  413: note(413, "The body is too large", "did not move", "send less"),
  429: note(429, "Too many requests", "did not move", "wait `Retry-After`"),
} as const;

/** By operation id; `others` is for all the rest. */
export const statusNotes = {
  runAgent: [
    note(
      200,
      "The agent was run, or the same request was sent again",
      "charged if `success`",
      "read `success`, then `output` or `error`",
    ),
    note(400, "Not JSON, or a required field is missing", "did not move", "mend the body"),
    note(401, "The key is missing, wrong or revoked", "did not move", "use another key"),
    note(
      402,
      "Balance or cap too small, or the price is above `max_credits`",
      "did not move",
      "buy credits, or agree to `credits_required`",
    ),
    note(404, "No such agent, or it is not live", "did not move", "find another"),
    common[408],
    note(
      409,
      "The `Idempotency-Key` was used for another request, or what the agent gives out is used up",
      "did not move",
      "use another key; try later",
    ),
    note(410, "The named request ran before, and what it gave is no longer kept", "moved", "run it anew"),
    common[413],
    note(422, "A value broke a rule; `field` names it", "did not move", "mend the field"),
    common[429],
    note(500, "It failed on this side", "did not move", "try once more"),
    note(
      503,
      "Not possible right now, a named request still runs, or (`charged` is `unknown`) the end of the run is not known",
      "see `charged`",
      "ask again after `Retry-After`, with the same `Idempotency-Key`; without one look at `run_id` first",
    ),
  ],
  payAgent: [
    note(200, "The agent answered, or a lost answer was fetched", "moved", "read `output`, and keep it"),
    note(400, "Not JSON, or a required field is missing", "see `charged`", "mend the body"),
    note(
      402,
      "No payment, a refused one, or the price changed; `already_settled`: its result has left the service",
      "see `charged`",
      "sign one of the offers; `already_settled` has none: sign its `sign-in-with-x` if the result did not arrive; ask for a new quote for another run",
    ),
    note(403, "A page of another site asked for what pages may not have", "did not move", "ask from a server"),
    note(404, "No live agent there", "did not move", "find another"),
    common[408],
    note(409, "What the agent gives out is used up", "see `charged`", "try later"),
    note(
      410,
      "The agent is gone; the payment for it stays on record",
      "moved, and stays good",
      "keep the answer: it names the debt",
    ),
    common[413],
    note(422, "A value broke a rule; `field` names it", "see `charged`", "mend the field"),
    note(429, "Too many requests, or too many payments that did not hold", "see `charged`", "wait `Retry-After`"),
    note(500, "The agent failed, and the payment was not settled", "did not move", "try once more"),
    note(
      503,
      "The agent failed though it is paid for, nothing is possible right now, or (no `charged`) the end of the payment is not known",
      "see `charged`",
      "post the same payment again after `Retry-After`; do not pay anew",
    ),
  ],
  others: [
    note(401, "The key or the session is missing, wrong or over", "did not move", "sign in, or use another key"),
    note(403, "Not for this page, under this host name, or without an open account", "did not move", "open an account"),
    note(404, "There is no such thing, or it is not yours", "did not move", "look at the address"),
    note(405, "The method is not possible there; `Allow` says which is", "did not move", "use another method"),
    note(409, "It contradicts what is there already", "did not move", "read `error`"),
    note(415, "The body must be JSON", "did not move", "send `Content-Type: application/json`"),
    note(502, "A service that this one depends on failed", "did not move", "try again"),
  ],
} as const satisfies Readonly<Record<string, readonly StatusNote[]>>;

function note(status: number, means: string, money: Money, next: string): StatusNote {
  return { status, means, money, next };
}
