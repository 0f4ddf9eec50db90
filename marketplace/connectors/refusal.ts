import type { ErrorCode } from "../../shared/errors.ts";
import { ConnectorError } from "./result.ts";
import { slotsOf } from "./template.ts";

/**
 * A call that cannot work, known before anything was done. It costs nothing, by every payment method: found before money
 * moves it is the call's answer, in a run it is a failure like any other.
 */
export class RefusalError extends ConnectorError {
  readonly code: RefusalCode;
  /** The input that was wrong. */
  readonly field: string | undefined;
  /** When asking again may help, where time alone can help. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: RefusalCode, message: string, more: RefusalDetail = {}) {
    super(
      message,
      more.reason === undefined ? {} : { reason: more.reason },
      code === "unavailable" || code === "rate_limited" ? "later" : "input",
    );
    this.code = code;
    this.field = more.field;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

/**
 * `bad_request`: the input has not the form; `invalid_value`: it breaks a rule; `conflict`: it has been used up;
 * `rate_limited`: too much is asked at the moment; `unavailable`: not now, for any buyer.
 */
export type RefusalCode = Extract<
  ErrorCode,
  "bad_request" | "invalid_value" | "conflict" | "rate_limited" | "unavailable"
>;

/** What a filled template says is wrong with the buyer's input; where the template takes none, with the agent itself. */
export function refuseInput(template: unknown, code: "bad_request" | "invalid_value", message: string): RefusalError {
  const [field] = slotsOf(template).fields;
  return field === undefined ? misconfigured(message) : new RefusalError(code, message, { field });
}

interface RefusalDetail {
  readonly field?: string;
  readonly retryAfterSeconds?: number;
  /** For the log. */
  readonly reason?: string;
}

export function notNow(message: string, retryAfterSeconds: number, reason?: string): RefusalError {
  return new RefusalError("unavailable", message, { retryAfterSeconds, ...(reason !== undefined && { reason }) });
}

/** Something that only the creator can put right. */
export function misconfigured(reason: string): RefusalError {
  return notNow("The agent is not set up any more; its creator has to see to it.", otherActsSeconds, reason);
}

/** When to ask again about what the creator or the operator has to see to. */
export const otherActsSeconds = 600;
