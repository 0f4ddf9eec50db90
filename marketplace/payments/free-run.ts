import type { Context } from "../context.ts";
import { newId, type RunId } from "../ids.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import { executeRun, type Outcome } from "../runs/execute.ts";
import { answerRefusal, precheck } from "../runs/precheck.ts";
import type { PreparedRun } from "../runs/prepare.ts";
import { closeRun, openRun } from "../runs/record.ts";

/** A run that costs nothing, for somebody without a key; it goes on when they leave. Throws ApiError as `precheck` has it. */
export async function runFree(context: Context, prepared: PreparedRun): Promise<FreeRun> {
  const runId = newId("run");
  const modelCharge = await context.modelFunds.charge(prepared.agent, runId, false);
  await precheck(context, { runId, prepared }).catch(answerRefusal);
  const work = recordedRun(context, runId, prepared, modelCharge).finally(async () => {
    await context.modelFunds.end(runId, modelCharge);
    await context.reservations.end(runId);
  });
  return { runId, outcome: await context.inFlight.track(work) };
}

interface FreeRun {
  readonly runId: RunId;
  readonly outcome: Outcome;
}

async function recordedRun(
  context: Context,
  runId: RunId,
  prepared: PreparedRun,
  modelCharge: ModelCharge | undefined,
): Promise<Outcome> {
  const { id: agentId, version } = prepared.agent;
  const { runLeaseMs: leaseMs } = context.config;
  await openRun(context.db, { id: runId, agentId, agentVersion: version.number, priceCredits: 0n, leaseMs });
  context.leases.keep(runId);
  const outcome = await executeRun(context, { runId, prepared, modelCharge }).finally(() => context.leases.end(runId));
  await closeRun(context.db, runId, outcome);
  return outcome;
}
