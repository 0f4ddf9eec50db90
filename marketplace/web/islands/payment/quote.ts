import { quoteIn, type Requirements } from "../../../../client/payments/quote.ts";

export interface Quote {
  readonly resource: object;
  readonly accepts: readonly Requirements[];
  /** When it was made by the server's clock, which signatures count by. */
  readonly at: Date;
}

/** Something that was answered instead of a quote or a result. */
export class AnswerError extends Error {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.error === "string" ? body.error : `The service answered ${status}.`);
    this.status = status;
    this.body = body;
  }
}

/** Asks what a call costs now, without a charge. */
export async function askQuote(url: string, body: string): Promise<Quote> {
  const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  const quote = answer.status === 402 ? quoteIn(answer.headers) : undefined;
  if (!quote) throw new AnswerError(answer.status, await jsonOf(answer));
  const { resource, accepts } = quote;
  return { resource, accepts, at: new Date(answer.headers.get("date") ?? Date.now()) };
}

export async function jsonOf(answer: Response): Promise<Record<string, unknown>> {
  const body: unknown = await answer.json().catch(() => ({}));
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}
