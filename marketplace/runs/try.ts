import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { Account } from "../accounts/create.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import { findOwnAgent } from "../agents/creator-agents.ts";
import type { Versions } from "../agents/version.ts";
import { asRunnable } from "../agents/version.ts";
import type { BackgroundWork } from "../background-work.ts";
import type { Config } from "../config.ts";
import { newId } from "../ids.ts";
import { withinTryAllowance } from "../models/try-allowance.ts";
import { type ExecuteNeeds, executeRun, type Outcome } from "./execute.ts";
import { answerRefusal, type PrecheckNeeds, precheck } from "./precheck.ts";
import { requireSafe } from "./prepare.ts";

export const triesPerMinute = 10;

/**
 * Runs a version of the account's own agent, the newest unless one is named, live or not, for free. 400 and 422 as for a run; 409
 * where a run could not be taken back, 429 past `triesPerMinute`, and past what the platform bears of models a day.
 */
export async function tryAgent(
  context: TryNeeds,
  owner: Account,
  slug: string,
  given: Readonly<Record<string, unknown>>,
  asked?: number,
): Promise<Outcome & { version: number }> {
  const own = await findOwnAgent(context.db, owner.id, slug);
  if (own.state === "suspended") throw new ApiError("conflict", `${own.handle}/${own.slug} is suspended.`);
  const version = await context.versions.load(own.id, asked ?? own.newestVersion);
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
  const agent = { id: own.id, ownerId: owner.id, address: `${own.handle}/${own.slug}` };
  const prepared = { runnable: asRunnable(agent, version), input, creatorId: owner.id };
  const run = { runId: newId("run"), prepared, buyerId: owner.id };
  await precheck(context, run).catch(answerRefusal);
  const tried = withinTryAllowance(context.db, context.config.modelFunds, owner.id, version, (modelCharge) =>
    executeRun(context, { ...run, modelCharge }),
  );
  const work = tried.finally(() => context.reservations.end(run.runId));
  return { ...(await context.backgroundWork.track(work)), version: version.number };
}

export interface TryNeeds extends ExecuteNeeds, PrecheckNeeds {
  readonly config: Pick<Config, "modelFunds">;
  readonly db: Queryable;
  readonly versions: Versions;
  readonly backgroundWork: BackgroundWork;
}
