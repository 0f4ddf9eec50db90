import type { Queryable } from "../../shared/postgres.ts";
import { outputJson } from "../connectors/output-json.ts";
import type { AgentId, RunId } from "../ids.ts";
import type { Outcome } from "./execute.ts";

/**
 * Starts a run that no account pays with credits, or goes on with one whose process died: the row says what ran, and its lease that it
 * is still running.
 */
export async function openRun(db: Queryable, run: UnchargedRun): Promise<void> {
  await db.query({
    name: "open uncharged run",
    text: `insert into runs (id, rail, agent_id, agent_version, price_credits, state, lease_until)
           values ($1, 'per_call', $2, $3, $4, 'running', now() + $5::integer * interval '1 ms')
           on conflict (id) do update set lease_until = excluded.lease_until where runs.state = 'running'`,
    values: [run.id, run.agentId, run.agentVersion, run.priceCredits, run.leaseMs],
  });
}

/**
 * Ends such a run, unless it is not known yet how. False when it had ended before, as a run does whose lease lapsed. `keepsOutput`:
 * somebody can ask for the output again.
 */
export async function closeRun(db: Queryable, id: RunId, outcome: Outcome, keepsOutput = true): Promise<boolean> {
  if (!outcome.success && outcome.unknown) return true;
  const { rowCount } = await db.query(
    `update runs set state = $2, output = $3, receipt = $4, error = $5, finished_at = now(), lease_until = null
     where id = $1 and rail = 'per_call' and state = 'running'`,
    outcome.success
      ? [
          id,
          "succeeded",
          keepsOutput ? outputJson(outcome.output) : null,
          outcome.receipt && JSON.stringify(outcome.receipt),
          null,
        ]
      : [id, "failed", null, null, outcome.error],
  );
  return rowCount === 1;
}

/**
 * Writes a run down that failed; in place of its row if it was opened. One that succeeds and was not opened is written
 * down by the call that paid for it (payments/paid-calls/store.ts).
 */
export async function recordFailure(db: Queryable, run: EndedRun, error: string): Promise<void> {
  await db.query({
    name: "record failed run",
    text: `
      insert into runs (id, rail, agent_id, agent_version, price_credits, created_at, state, error, finished_at)
      values ($1, 'per_call', $2, $3, $4, $5, 'failed', $6, now())
      on conflict (id) do update
        set state = 'failed', error = excluded.error, finished_at = excluded.finished_at, lease_until = null
        where runs.rail = 'per_call' and runs.state = 'running'`,
    values: [run.id, run.agentId, run.agentVersion, run.priceCredits, run.startedAt, error],
  });
}

export interface EndedRun extends WhatRuns {
  readonly id: RunId;
  readonly startedAt: Date;
}

interface UnchargedRun extends WhatRuns {
  readonly id: RunId;
  readonly leaseMs: number;
}

/** What a run's row says of the agent. */
export interface WhatRuns {
  readonly agentId: AgentId;
  readonly agentVersion: number;
  readonly priceCredits: bigint;
}
