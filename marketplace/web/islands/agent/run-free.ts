import { readInput, showFieldError } from "../dom/fields.ts";
import { asked, errorOf, jsonOf } from "../payment/answer.ts";
import type { Outcome } from "./outcome.ts";
import type { Output } from "./result.ts";

/** Runs a free agent, without an account. */
export async function runFree(form: HTMLFormElement, url: string, outcome: Outcome): Promise<void> {
  outcome.wait();
  const startedAt = performance.now();
  const headers = { "content-type": "application/json" };
  const answer = await asked(url, { method: "POST", headers, body: JSON.stringify(readInput(form)) });
  const body = await jsonOf(answer);
  const error = errorOf(answer.status, body);
  if (answer.ok && body.success === true) {
    const receipt = body.receipt as Record<string, unknown> | null;
    const ms = performance.now() - startedAt;
    outcome.show({ runId: String(body.run_id), output: body.output as Output, receipt, paid: "Free.", ms });
    return;
  }
  if (answer.status === 500) return outcome.tell("bad", "The agent failed", `“${error}” It is free.`);
  outcome.tell("warn", error, "Nothing was charged.");
  showFieldError(form, body.field, error);
}
