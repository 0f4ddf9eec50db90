import type { Response } from "express";
import type { Context } from "../context.ts";
import type { Delivered, PaidResult } from "./redemption.ts";

/**
 * What was bought as `ready` puts it, to be written to `response` next. It is recorded as handed out once it has left, and
 * not before: whatever becomes of the buyer or of this process until then, the same payment fetches it. The time that
 * is recorded is that before the writing, so that nobody who has read it can pass for one who was still waiting.
 */
export async function handOut<Answer>(
  { inFlight }: Context,
  response: Response,
  { result, conclude }: Delivered,
  ready: (result: PaidResult) => Answer | Promise<Answer>,
): Promise<Answer> {
  let answer: Answer;
  try {
    answer = await ready(result);
  } catch (error) {
    await conclude(null);
    throw error;
  }
  const handedOutAt = new Date();
  const ended = () => inFlight.background(conclude(response.writableFinished ? handedOutAt : null));
  if (response.closed) ended();
  else response.once("close", ended);
  return answer;
}
