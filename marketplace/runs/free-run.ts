import { clientOf } from "../../shared/client-address.ts";
import type { Database } from "../../shared/postgres.ts";
import type { BackgroundWork } from "../background-work.ts";
import type { Config } from "../config.ts";
import { newId, type RunId } from "../ids.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import type { ModelFunds } from "../models/model-funds.ts";
import { type ExecuteNeeds, executeRun, type Outcome } from "./execute.ts";
import type { Leases } from "./leases.ts";
import { answerRefusal, type PrecheckNeeds, precheck } from "./precheck.ts";
import type { PreparedRun } from "./prepare.ts";
import { closeRun, openRun } from "./record.ts";

/**
 * A run that costs nothing, for a caller without a key at the address `from`; it goes on when the caller leaves. Throws ApiError as
 * `precheck` has it.
 */
export async function runFree(context: FreeRunNeeds, prepared: PreparedRun, from: string): Promise<FreeRun> {
  const runId = newId("run");
  const modelCharge = await context.modelFunds.charge(prepared.runnable, runId);
  await precheck(context, { runId, prepared, caller: clientOf(from) }).catch(answerRefusal);
  const work = recordedRun(context, runId, prepared, modelCharge).finally(async () => {
    await context.modelFunds.end(runId, modelCharge);
    await context.reservations.end(runId);
  });
  return { runId, outcome: await context.backgroundWork.track(work) };
}

/** What a run without a charge takes. */
export interface FreeRunNeeds extends ExecuteNeeds, PrecheckNeeds {
  readonly config: Pick<Config, "runLeaseMs">;
  readonly db: Database;
  readonly leases: Leases;
  readonly modelFunds: ModelFunds;
  readonly backgroundWork: BackgroundWork;
}

interface FreeRun {
  readonly runId: RunId;
  readonly outcome: Outcome;
}

async function recordedRun(
  context: FreeRunNeeds,
  runId: RunId,
  prepared: PreparedRun,
  modelCharge: ModelCharge | undefined,
): Promise<Outcome> {
  const { id: agentId, version: agentVersion } = prepared.runnable;
  const { runLeaseMs: leaseMs } = context.config;
  await openRun(context.db, { id: runId, agentId, agentVersion, priceCredits: 0n, leaseMs });
  context.leases.keep(runId);
  const outcome = await executeRun(context, { runId, prepared, modelCharge }).finally(() => context.leases.end(runId));
  // Callers without an account could fill the database.
  await closeRun(context.db, runId, outcome, false);
  return outcome;
}
