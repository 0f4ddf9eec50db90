import { quoteIn, type Requirements } from "../../../../client/payments/quote.ts";
import { AnswerError, asked, jsonOf } from "./answer.ts";
import { shownTo } from "./shown-to.ts";

export interface Quote {
  readonly resource: object;
  readonly accepts: readonly Requirements[];
  /** When it was made by the server's clock, which signatures count by. */
  readonly at: Date;
}

/** Asks what a call costs now, without a charge; `account` is the one that buys. */
export async function askQuote(url: string, body: string, account?: string): Promise<Quote> {
  const headers = { "content-type": "application/json", ...shownTo(account) };
  const answer = await asked(url, { method: "POST", headers, body });
  const quote = answer.status === 402 ? quoteIn(answer.headers) : undefined;
  if (!quote) throw new AnswerError(answer.status, await jsonOf(answer));
  const { resource, accepts } = quote;
  return { resource, accepts, at: new Date(answer.headers.get("date") ?? Date.now()) };
}
