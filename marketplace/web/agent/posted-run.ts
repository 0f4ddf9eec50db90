import { randomUUID } from "node:crypto";
import { ApiError } from "../../../shared/errors.ts";
import type { Queryable } from "../../../shared/postgres.ts";
import type { AnonymousLimits } from "../../anonymous-limits.ts";
import { readIdempotencyKey } from "../../http/idempotency-key.ts";
import type { Value } from "../../input.ts";
import { readExamples } from "../../runs/agent-examples.ts";
import { type FreeRunNeeds, runFree } from "../../runs/free-run.ts";
import { readAskedInput, readOwnRun } from "../../runs/own-run.ts";
import { prepareAgent } from "../../runs/prepare.ts";
import { type RunNeeds, runAgent } from "../../runs/run.ts";
import { admitAccountChange, requireShownTo } from "../../sign-in/require-session.ts";
import { creditsOf } from "../money.tsx";
import type { Visit } from "../page.ts";
import { exampleInput, fieldsOf, inputOfForm } from "./form-input.ts";
import type { Told } from "./result-card.tsx";
import type { ShownAgent } from "./shown-agent.ts";
import type { PaymentMethod, Tried } from "./tried.ts";

type FormState = Pick<Tried, "values" | "wrong" | "told" | "method" | "requestName">;

/**
 * The form as it is before anything was posted; with `?run=` filled in as the visitor's own run of this agent was asked, with
 * `?example=` as one that its page shows.
 */
export async function freshForm(
  { db }: { readonly db: Queryable },
  { agent, detail }: ShownAgent,
  { viewer, query }: Pick<Visit, "viewer" | "query">,
): Promise<FormState> {
  const method = viewer?.account || !detail.per_call ? "credits" : "wallet";
  const run = query.get("run");
  const again =
    run && viewer?.account ? await readAskedInput(db, viewer.account.id, { run, agentId: agent.id }) : undefined;
  const example = query.has("example") ? await readExamples(db, agent.id) : [];
  const shown = example.find(({ runId }) => runId === query.get("example"))?.input;
  return { values: again ?? shown ?? exampleInput(detail), method, requestName: randomUUID() };
}

export type PostedRunNeeds = RunNeeds & FreeRunNeeds & { readonly anonymousLimits: AnonymousLimits };

/** Runs the input of a form without JavaScript: with the account's credits, or for free. A refusal is shown beside the form. */
export async function runPosted(
  context: PostedRunNeeds,
  shown: ShownAgent,
  visit: Visit,
  form: URLSearchParams,
): Promise<FormState> {
  const values = inputOfForm(fieldsOf(shown.detail), form);
  const method = methodIn(form);
  try {
    const told = await runOnce(context, shown, visit, { form, values });
    // Under the same name it is asked for again, not run again.
    const requestName = (told.outcome === "unknown" && form.get("request")) || randomUUID();
    return { values, told, method, requestName };
  } catch (error) {
    if (!(error instanceof ApiError) || error.isFault) throw error;
    const { field } = error.body as { field?: unknown };
    const wrong = typeof field === "string" ? { field, problem: error.message } : undefined;
    // An earlier post under its name may have run, of which this refusal need not know; the name of another request is used up.
    const requestName = (error.code !== "conflict" && form.get("request")) || randomUUID();
    return { values, ...(wrong && { wrong }), told: refusedBy(error), method, requestName };
  }
}

async function runOnce(
  context: PostedRunNeeds,
  { agent, detail }: ShownAgent,
  { request, viewer }: Visit,
  { form, values }: { form: URLSearchParams; values: Readonly<Record<string, Value>> },
): Promise<Told> {
  const { account } = viewer ?? {};
  if (!account) {
    if (detail.price_credits > 0 || !detail.per_call) {
      throw new ApiError("forbidden", "Sign in to run it with credits, or pay from a wallet or a terminal.");
    }
    const from = request.ip ?? "";
    await context.anonymousLimits.admitFreeCall(from, agent.id);
    const { runId, outcome } = await runFree(context, prepareAgent(agent, values), from);
    if (!outcome.success) return { outcome: "failed", runId, error: outcome.error };
    return { outcome: "success", runId, output: outcome.output, paid: "Free." };
  }
  if (detail.price_credits > 0 && methodIn(form) !== "credits") {
    throw new ApiError("bad_request", "Nothing was charged. Choose credits to run it on this page as it is.");
  }
  requireShownTo(account, form.get("account"));
  await admitAccountChange(context.db, account);
  const asked = { agent: detail.agent, input: values, maxCredits: priceAgreed(form) };
  const idempotencyKey = readIdempotencyKey(`form-${form.get("request") || randomUUID()}`);
  const { result } = await runAgent(context, { accountId: account.id }, { ...asked, idempotencyKey });
  const { run_id: runId, output, credits_used: used, credits_remaining: left } = result;
  if (!result.success || !output) {
    const { state } = await readOwnRun(context.db, account.id, runId);
    // Its chain may have told since the answer was written: a post under the same name gets the result.
    const outcome = state === "failed" || state === "lost" ? "failed" : "unknown";
    return { outcome, runId, error: result.error ?? "It gave no result." };
  }
  return { outcome: "success", runId, output, paid: `Paid ${creditsOf(used)}. ${creditsOf(left)} left.` };
}

function methodIn(form: URLSearchParams): PaymentMethod {
  const by = form.get("by");
  return by === "terminal" || by === "wallet" ? by : "credits";
}

/** The price that the form showed. */
function priceAgreed(form: URLSearchParams): number {
  const price = Number(form.get("max_credits") || Number.NaN);
  if (Number.isSafeInteger(price) && price >= 0) return price;
  throw new ApiError("bad_request", '"max_credits" must be a whole number.', { body: { field: "max_credits" } });
}

function refusedBy(error: ApiError): Told {
  const { limit_source: limit, credits_required: required } = error.body as {
    limit_source?: string;
    credits_required?: number;
  };
  if (limit === "request" && required !== undefined) {
    return { outcome: "refused", message: `The price rose to ${creditsOf(required)}. Run again to agree to it.` };
  }
  const isForNow = error.code === "unavailable" || error.code === "rate_limited";
  const wasCharged = error.body.charged === true;
  return {
    outcome: "refused",
    message: error.message,
    ...(isForNow && { isForNow }),
    ...(wasCharged && { wasCharged }),
  };
}
