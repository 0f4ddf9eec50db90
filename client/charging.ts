import { AnswerError, type Charged, ConnectionError, errorOf, OutcomeUnknownError } from "./errors.ts";
import { toHex } from "./hex.ts";
import type { Answer, CallOptions, HttpClient } from "./http-client.ts";

/** How a call that charges credits is made. */
export interface ChargingOptions extends CallOptions {
  /** Your own name for the request, 1 to 255 characters: under one name it runs and is charged once. One is made when left out. */
  readonly idempotencyKey?: string | undefined;
}

/**
 * Posts a request that charges credits, under a name, so that a repetition gets the first one's answer. Throws TypeError for a name
 * that cannot be sent, OutcomeUnknownError where no answer came, and AnswerError for a refusal; the latter two carry the name to go
 * on with.
 */
export async function postOnce(
  http: HttpClient,
  path: string,
  body: object,
  options: ChargingOptions = {},
): Promise<{ readonly answer: Answer; readonly idempotencyKey: string }> {
  const { idempotencyKey = newIdempotencyKey(), signal } = options;
  const isNamedByCaller = options.idempotencyKey !== undefined;
  if (!sendable.test(idempotencyKey))
    throw new TypeError("idempotencyKey must have 1 to 255 printable ASCII characters.");
  signal?.throwIfAborted();
  const headers = { "idempotency-key": idempotencyKey };
  const call = { method: "POST", path, body: JSON.stringify(body), headers, repeat: "always" } as const;
  const answer = await http.send(call, options).catch((error: unknown) => {
    // Under a name of the caller's an earlier call may have run.
    if (error instanceof AnswerError && !isNamedByCaller) throw error;
    const cause = error instanceof ConnectionError ? error.cause : error;
    throw new OutcomeUnknownError(unknownText, { idempotencyKey, cause });
  });
  if (answer.status === 200) return { answer, idempotencyKey };
  throw errorOf(answer, { idempotencyKey, charged: chargedBy(answer, isNamedByCaller) });
}

/** A refusal costs nothing; but one that came before the name was looked up says nothing of an attempt that had no answer. */
function chargedBy({ status, body, isAfterLoss }: Answer, isNamedByCaller: boolean): Charged {
  if (typeof body.charged === "boolean") return body.charged;
  // A run was begun, and the answer does not say how it ended.
  if (status >= 500 && typeof body.run_id === "string") return "unknown";
  const isLookedUp = status < 500 && ![401, 403, 408, 429].includes(status);
  if (isLookedUp) return false;
  return isAfterLoss || isNamedByCaller ? "unknown" : false;
}

const sendable = /^[ -~]{1,255}$/;

const unknownText =
  "There was no answer, so it is not known whether this was charged. Send it again with the same idempotencyKey: it is charged once.";

function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return toHex(bytes);
}
