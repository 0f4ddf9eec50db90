import { statusByCode } from "../../../shared/errors.ts";
import { paymentHeaders, type SettleResponse } from "../../../shared/x402.ts";
import { otherActsSeconds } from "../../connectors/refusal.ts";
import type { Remedy } from "../../connectors/result.ts";
import { answerOf } from "../../runs/precheck.ts";
import { encodeHeader } from "../payment-payload.ts";
import { signInChallenge, signInExtension } from "../sign-in-with-x.ts";
import { debtText } from "./debt-of-call.ts";
import type { DebtOutcome, Failed, Spent, Unknown } from "./redemption.ts";

/*
 * What a buyer is told about each outcome, over HTTP (http-transport.ts) and by the tool server (mcp/paid-tools.ts) alike:
 *
 *   delivered  200, the result                                        the settlement beside it
 *   refused    402, a new quote that says why                         HTTP: the refused settlement beside it, if there was one
 *   spent      402, without an offer: who signs one pays twice            the settlement beside it, as `already_settled`;
 *                                                                     what a wallet is to sign where that gives the result
 *   failed     500, uncharged; what cannot work 400, 409, 422, 429    the settlement beside it where the buyer is charged: the payment
 *              or 503; charged 422 or 503                             stays good, and is to be posted again
 *   debt       410, what the agent owes                               the settlement beside it
 *   unknown    503, to be asked again in 5 seconds
 */

/** HTTP sends `status`, `headers` and `body`; a tool call's result, which is an error, has `text` and `meta`. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly text: string;
  readonly meta?: object;
  readonly settlement?: SettleResponse | undefined;
}

/** `replay` tells the buyer, in the transport's words, how the same payment is presented again. */
export function answerTo(redemption: Failed | Spent | DebtOutcome | Unknown, replay: string): Answer {
  switch (redemption.outcome) {
    case "failed":
      return answerToFailure(redemption, replay);
    case "spent":
      return answerToSpent(redemption);
    case "debt": {
      const { debt, settlement } = redemption;
      const meta = { charged: true, debt };
      const body = { error: debtText, ...meta };
      return { status: statusByCode.gone, headers: {}, body, text: debtText, meta, settlement };
    }
    case "unknown": {
      const { message } = redemption;
      const status = statusByCode.unavailable;
      return { status, headers: { "retry-after": "5" }, body: { error: message }, text: message };
    }
  }
}

function answerToSpent({ message, advice, settlement, signIn }: Spent): Answer {
  const error = `already_settled: ${message}`;
  const extensions = signIn && { [signInExtension]: signInChallenge(signIn) };
  const required = signIn && { x402Version: 2, error, resource: { url: signIn.url }, accepts: [], extensions };
  return {
    status: statusByCode.payment_required,
    headers: required ? { [paymentHeaders.requiredV2]: encodeHeader(required) } : {},
    body: { x402Version: 1, error, charged: true, advice, accepts: [], ...(extensions && { extensions }) },
    text: `${error} ${advice}`,
    meta: { charged: true },
    settlement,
  };
}

function answerToFailure({ error, runId, settlement, remedy, refusal }: Failed, replay: string): Answer {
  const charged = settlement !== undefined;
  const advice = charged ? adviceFor(remedy, replay) : "Nothing was charged.";
  const told = { text: `${error} ${advice}`, settlement };
  const retryAfterSeconds = refusal ? refusal.retryAfterSeconds : charged ? secondsBefore[remedy] : undefined;
  const retryAfter = retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds };
  const meta = { run_id: runId, charged, ...retryAfter };
  if (refusal) {
    const { status, headers, body } = answerOf(refusal);
    return { ...told, status, headers, body: { error, ...body, charged, advice }, meta };
  }
  const status = charged ? statusWhereCharged[remedy] : statusByCode.internal;
  const headers = retryAfter ? { "retry-after": String(retryAfterSeconds) } : {};
  return { ...told, status, headers, body: { success: false, run_id: runId, error, charged, advice }, meta };
}

/** A 500 says that nothing was charged. Here something was, and the same payment gives the result once what is in its way has gone. */
const statusWhereCharged: Readonly<Record<Remedy, number>> = {
  again: statusByCode.unavailable,
  later: statusByCode.unavailable,
  input: statusByCode.invalid_value,
};
const secondsBefore: Readonly<Record<Remedy, number | undefined>> = {
  again: 5,
  later: otherActsSeconds,
  input: undefined,
};

/** What a buyer whose payment is settled can do about a run that failed. */
function adviceFor(remedy: Remedy, replay: string): string {
  return `The payment was settled and stays good for this agent until one run succeeds: ${remedies[remedy](replay)}`;
}

const remedies: Readonly<Record<Remedy, (replay: string) => string>> = {
  again: (replay) => `${replay} with the same input to run again without paying.`,
  later: (replay) => `${replay} with the same input later; no buyer can be served before that.`,
  input: (replay) =>
    `as things stand this input cannot work. Put right what the error names and ${lower(replay)} with the same input, or ` +
    `${lower(replay)} with another one, with the quote it was settled for (\`accepted\`, whole) or the wallet that paid.`,
};

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
