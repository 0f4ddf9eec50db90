import { readInput, showFieldError } from "../dom/fields.ts";
import { asked, errorOf, jsonOf } from "../payment/answer.ts";
import type { Outcome } from "./outcome.ts";
import type { Answer, Output } from "./result.ts";

/** The result of a run for which nothing was taken. */
export function freeResult(body: Readonly<Record<string, unknown>>, paid: string, ms?: number): Answer {
  const receipt = body.receipt as Record<string, unknown> | null;
  return { runId: String(body.run_id), output: body.output as Output, receipt, paid, ms };
}

/** Runs a free agent, without an account. */
export async function runFree(form: HTMLFormElement, url: string, outcome: Outcome): Promise<void> {
  outcome.wait();
  const startedAt = performance.now();
  const headers = { "content-type": "application/json" };
  const answer = await asked(url, { method: "POST", headers, body: JSON.stringify(readInput(form)) });
  const body = await jsonOf(answer);
  const error = errorOf(answer.status, body);
  if (answer.ok && body.success === true) return outcome.show(freeResult(body, "Free.", performance.now() - startedAt));
  if (answer.status === 500) return outcome.tell("bad", "The agent failed", `“${error}” It is free.`);
  outcome.tell("warn", error, "Nothing was charged.");
  showFieldError(form, body.field, error);
}
