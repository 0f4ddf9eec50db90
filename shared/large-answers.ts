import type { Request, Response } from "express";
import { SendingLimits } from "./sending-limits.ts";

/** Answers of no more characters are not counted. */
const smallLength = 262_144;

/**
 * The memory that large answers have between them until they were sent: a caller that asks for many and reads none holds a share of
 * it. For what can be asked for again.
 */
export class LargeAnswers {
  readonly #limits: SendingLimits;

  /** Characters that may be on their way at the same time. */
  constructor(limits = { perAddress: 33_554_432, total: 100_663_296 }) {
    this.#limits = new SendingLimits("large answers", limits);
  }

  /** Counts an answer that is about to be sent. Throws ApiError 429 when too much is on its way to the caller's address, 503 when altogether. */
  begin(request: Request, response: Response, length: number): void {
    if (length > smallLength) this.#limits.begin(request, response, length);
  }

  /** Answers with `body` as JSON. Throws as `begin` does. */
  send(request: Request, response: Response, body: object): void {
    const text = JSON.stringify(body);
    this.begin(request, response, text.length);
    response.type("application/json").send(text);
  }
}
