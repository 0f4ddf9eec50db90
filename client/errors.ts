import type { SignedPayment } from "./payments/signed-payment.ts";

/** Whether money moved: `unknown` until the same request, or the same payment, is sent again. */
export type Charged = boolean | "unknown";

/** What all errors of this package have in common. */
export class MarketplaceError extends Error {
  /** Whether the call was charged. Never pay or run anew while it is `unknown`: repeat with what the error carries. */
  readonly charged: Charged;
  /** The name of the request. Sent again with it, it runs and is charged once. */
  readonly idempotencyKey: string | undefined;
  /** The payment to repeat, by `pay.repeat(payment)`. */
  readonly payment: SignedPayment | undefined;

  constructor(message: string, { charged = false, idempotencyKey, payment, cause }: ErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.charged = charged;
    this.idempotencyKey = idempotencyKey;
    this.payment = payment;
  }
}

export interface ErrorFacts {
  readonly charged?: Charged;
  readonly idempotencyKey?: string | undefined;
  readonly payment?: SignedPayment | undefined;
  readonly cause?: unknown;
}

/** No answer came, after all repetitions; of a call that charges nothing. */
export class ConnectionError extends MarketplaceError {}

/** A call that charges has no answer. `cause` says why: the connection, the time limit, or your signal. */
export class OutcomeUnknownError extends MarketplaceError {
  constructor(message: string, facts: ErrorFacts) {
    super(message, { ...facts, charged: "unknown" });
  }
}

/** The agent ran and failed. */
export class RunFailedError extends MarketplaceError {
  readonly runId: string | undefined;
  /** What to do with a payment that was settled all the same. */
  readonly advice: string | undefined;

  constructor(message: string, facts: ErrorFacts & { runId?: string | undefined; advice?: string | undefined }) {
    super(message, facts);
    this.runId = facts.runId;
    this.advice = facts.advice;
  }
}

/** It costs more than you allow, or cannot be paid with what you have. Nothing was signed; a `payment` was before, and was not sent. */
export class NotPaidError extends MarketplaceError {}

/** The payment was not taken. With `charged` its money moved before, and its result was delivered. */
export class PaymentRefusedError extends MarketplaceError {
  /** A reason code of x402, such as `invalid_exact_evm_insufficient_balance`. */
  readonly reason: string;

  constructor(reason: string, message: string, facts: ErrorFacts) {
    super(message, facts);
    this.reason = reason;
  }
}

/** What the service answered, as far as an error tells it. */
export interface AnswerFacts {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The service refused. Branch on the class, or on `status`; the text is for people. */
export class AnswerError extends MarketplaceError {
  readonly status: number;
  /** A word for the status: `invalid_value`. */
  readonly code: string;
  /** The input or parameter that was wrong. */
  readonly field: string | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  /** Seconds to wait. */
  readonly retryAfter: number | undefined;
  readonly body: Readonly<Record<string, unknown>>;

  constructor({ status, headers, body }: AnswerFacts, facts: ErrorFacts = {}) {
    const { error, field } = body;
    super(typeof error === "string" ? error : `The service answered ${status}.`, facts);
    this.status = status;
    this.code = codes[status] ?? (status >= 500 ? "internal" : "refused");
    this.field = typeof field === "string" ? field : undefined;
    this.requestId = headers.get("x-request-id") ?? undefined;
    this.retryAfter = retryAfterIn(headers);
    this.body = body;
  }
}

export class BadRequestError extends AnswerError {}
export class AuthenticationError extends AnswerError {}
export class ForbiddenError extends AnswerError {}
export class NotFoundError extends AnswerError {}
export class ConflictError extends AnswerError {}
export class GoneError extends AnswerError {}
export class InvalidValueError extends AnswerError {}
export class RateLimitError extends AnswerError {}
export class ServiceError extends AnswerError {}

/** Not enough credits, or the price is above what a cap or `max_credits` allows. */
export class PaymentRequiredError extends AnswerError {
  readonly creditsRequired = this.#number("credits_required");
  readonly creditsRemaining = this.#number("credits_remaining");
  /** The limit that is too small. */
  readonly limitSource = this.body.limit_source as "balance" | "key" | "request" | undefined;

  #number(name: string): number | undefined {
    const value = this.body[name];
    return typeof value === "number" ? value : undefined;
  }
}

/** The error of a refusal, of the class that its status has. */
export function errorOf(answer: AnswerFacts, facts: ErrorFacts = {}): AnswerError {
  const Kind = classes[answer.status] ?? (answer.status >= 500 ? ServiceError : AnswerError);
  return new Kind(answer, facts);
}

/** `Retry-After` in seconds, whichever of its two forms it has. */
export function retryAfterIn(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null || text === "") return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

const classes: Readonly<Record<number, typeof AnswerError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  422: InvalidValueError,
  429: RateLimitError,
};

const codes: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "unauthenticated",
  402: "payment_required",
  403: "forbidden",
  404: "not_found",
  405: "method_not_allowed",
  406: "not_acceptable",
  408: "too_slow",
  409: "conflict",
  410: "gone",
  413: "too_large",
  422: "invalid_value",
  429: "rate_limited",
  502: "upstream_failed",
  503: "unavailable",
};
