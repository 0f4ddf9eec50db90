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

  /** Answers with `body` as JSON. Throws ApiError 429 when too much is on its way to the caller's address, 503 when altogether. */
  send(request: Request, response: Response, body: object): void {
    const text = JSON.stringify(body);
    if (text.length > smallLength) this.#limits.begin(request, response, text.length);
    response.type("application/json").send(text);
  }
}
