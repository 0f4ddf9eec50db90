import { ApiError } from "../../shared/errors.ts";
import type { Account } from "../accounts/create.ts";
import type { Context } from "../context.ts";
import { newId } from "../ids.ts";
import { withinTryAllowance } from "../models/try-allowance.ts";
import { admitOrRefuse } from "../rate-limit.ts";
import { executeRun, type Outcome } from "../runs/execute.ts";
import { answerRefusal, precheck } from "../runs/precheck.ts";
import { requireSafe } from "../runs/prepare.ts";
import { findOwnAgent } from "./own.ts";

const triesPerMinute = 10;

/**
 * Runs the newest version of the account's own agent, live or not, for free. 400 and 422 as for a run; 409 where a run
 * could not be taken back, 429 past ten a minute, and past what the platform bears of models a day.
 */
export async function tryAgent(
  context: Context,
  owner: Account,
  slug: string,
  given: Readonly<Record<string, unknown>>,
): Promise<Outcome & { version: number }> {
  const own = await findOwnAgent(context.db, owner.id, slug);
  if (own.state === "suspended") throw new ApiError("conflict", `${own.handle}/${own.slug} is suspended.`);
  const version = await context.versions.load(own.id, own.newestVersion);
  if (version.permanent) {
    throw new ApiError("conflict", "What this agent does cannot be taken back, so there is no trying it.");
  }
  requireSafe(version);
  const input = version.contract.read(given);
  version.model?.requireShort(input);
  await admitOrRefuse(
    context.db,
    `try:${owner.id}`,
    triesPerMinute,
    `Agents may be tried ${triesPerMinute} times a minute.`,
  );
  const agent = { ...own, ownerId: owner.id, address: `${own.handle}/${own.slug}`, version };
  const prepared = { agent, input, creatorId: owner.id };
  const run = { runId: newId("run"), prepared, buyerId: owner.id };
  await precheck(context, run).catch(answerRefusal);
  const tried = withinTryAllowance(context.db, context.config.modelFunds, owner.id, version, (modelCharge) =>
    executeRun(context, { ...run, modelCharge }),
  );
  const work = tried.finally(() => context.reservations.end(run.runId));
  return { ...(await context.inFlight.track(work)), version: version.number };
}
