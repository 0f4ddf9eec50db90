import type { Notes } from "../../../tracer/notes.ts";
import { shownTo } from "../payment/shown-to.ts";

/** What the service answers with a drawing, as far as the page uses it. */
export interface Made extends Notes {
  readonly svg: string;
  readonly score: number;
  readonly ms: number;
  readonly url?: string;
  readonly cost_usd?: number;
  readonly tries_left?: number;
  /** What a wallet paid for it. */
  readonly paid_usdc?: string;
}

/** Why there is none, for a person to read. Whatever it was, nothing was charged, unless `isLost`. */
export class AskFailedError extends Error {
  override readonly name = "AskFailedError";
  readonly retryAfterSeconds: number | undefined;
  /** No answer came: it may have been made. Asking again under the same name gets it and charges once. */
  readonly isLost: boolean;
  /** What happened, where it is not that nothing was drawn or charged. */
  readonly title: string | undefined;
  /** The status of an answer by HTTP. */
  readonly status: number | undefined;
  /** The answer says that nothing was charged. */
  readonly isFree: boolean;

  constructor(message: string, { retryAfterSeconds, isLost = false, title, status, isFree = false }: AskFailure) {
    super(message);
    this.title = title;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isLost = isLost;
    this.status = status;
    this.isFree = isFree;
  }

  /** The service turned it away before it looked for an equal request that came before. */
  get saysNothingOfBefore(): boolean {
    return [401, 403, 408, 429, 500, 503, 504].includes(this.status ?? 0);
  }

  /** The service failed or was away, perhaps after it was made. */
  get mayHaveRun(): boolean {
    return !this.isFree && [500, 503, 504].includes(this.status ?? 0);
  }

  asLost(): AskFailedError {
    return new AskFailedError(this.message, { ...this, isLost: true });
  }
}

const notHereYet = "It is drawn and paid for, and not here yet. Press again.";

interface AskFailure {
  readonly retryAfterSeconds?: number | undefined;
  readonly isLost?: boolean;
  readonly title?: string | undefined;
  readonly status?: number | undefined;
  readonly isFree?: boolean;
}

/** How long the queue is; undefined when it cannot be learnt. */
export async function readQueue(): Promise<{ readonly waiting: number; readonly seconds: number } | undefined> {
  const response = await fetch("/api/svg/queue").catch(() => undefined);
  return response?.ok ? response.json().catch(() => undefined) : undefined;
}

/**
 * Asks for a drawing, in JSON. `name` makes a request that is sent again the same request; `account` is the one that pays. Throws
 * AskFailedError.
 */
export async function ask(path: string, body: string, name: string, account?: string): Promise<Made> {
  const headers = { "content-type": "application/json", "idempotency-key": name, ...shownTo(account) };
  const response = await fetch(path, { method: "POST", headers, body }).catch(() => {
    throw new AskFailedError("The answer was lost on the way.", { isLost: true });
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok && answer) return answer as Made;
  const seconds = Number(response.headers.get("retry-after"));
  const isGone = response.status === 410;
  throw new AskFailedError(answer?.error ?? `The service answered ${response.status}.`, {
    status: response.status,
    isFree: answer?.charged === false,
    ...(seconds > 0 && { retryAfterSeconds: seconds }),
    ...(answer?.charged === true && { title: isGone ? "It was drawn before, and charged once." : notHereYet }),
    // A gateway gave up, not the service.
    isLost: answer === undefined || answer.charged === "unknown" || (answer.charged === true && !isGone),
  });
}
