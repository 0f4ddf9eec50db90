import type { Request, Response } from "express";
import { clientOf } from "./client-address.ts";
import { ApiError } from "./errors.ts";
import { onceClosed } from "./response-closed.ts";

/** Answers of no more characters are not counted. */
const smallLength = 262_144;

/**
 * The memory that large answers have between them until they were sent: a caller that asks for many and reads none holds a share of
 * it. For what can be asked for again.
 */
export class LargeAnswers {
  readonly #perClient: number;
  readonly #total: number;
  readonly #byClient = new Map<string, number>();
  #all = 0;

  /** Characters that may be on their way at the same time: to an address, and altogether. */
  constructor({ perClient = 33_554_432, total = 100_663_296 }: { perClient?: number; total?: number } = {}) {
    this.#perClient = perClient;
    this.#total = total;
  }

  /** Answers with `body` as JSON. Throws ApiError 429 when too much is on its way to the caller's address, 503 when altogether. */
  send(request: Request, response: Response, body: object): void {
    const text = JSON.stringify(body);
    if (text.length > smallLength) this.#count(clientOf(request.ip ?? ""), text.length, response);
    response.type("application/json").send(text);
  }

  #count(client: string, length: number, response: Response): void {
    const own = this.#byClient.get(client) ?? 0;
    const headers = { "retry-after": "5" };
    if (own > 0 && own + length > this.#perClient) {
      throw new ApiError("rate_limited", "Too many large answers are on their way to this address.", { headers });
    }
    if (this.#all > 0 && this.#all + length > this.#total) {
      throw new ApiError("unavailable", "Too many large answers are on their way at the moment.", { headers });
    }
    this.#byClient.set(client, own + length);
    this.#all += length;
    onceClosed(response, () => {
      const left = (this.#byClient.get(client) ?? length) - length;
      if (left <= 0) this.#byClient.delete(client);
      else this.#byClient.set(client, left);
      this.#all -= length;
    });
  }
}
