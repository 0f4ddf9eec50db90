import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";

/** How an agent has done in the last `figuresDays` (count-runs.ts); its creator's own runs do not count. Null where there is nothing to say. */
export interface Figures {
  readonly runs_30d: number;
  /** Share of those runs that succeeded, between 0 and 1. */
  readonly success_rate: number | null;
  /** Times of runs that succeeded, at most 5 % off. */
  readonly median_ms: number | null;
  readonly p95_ms: number | null;
  readonly last_success_at: string | null;
}

/** A row of the table; undefined, or nulls, for an agent that has not been run. */
export interface FiguresRow {
  readonly runs: number | bigint | null;
  readonly succeeded: number | bigint | null;
  readonly median_ms: number | null;
  readonly p95_ms: number | null;
  readonly last_success_at: string | Date | null;
}

export async function readFigures(db: Queryable, agentId: AgentId): Promise<Figures> {
  const { rows } = await db.query<FiguresRow>({
    name: "read figures",
    text: "select runs, succeeded, median_ms, p95_ms, last_success_at from agent_figures where agent_id = $1",
    values: [agentId],
  });
  return asFigures(rows[0]);
}

export function asFigures(row: FiguresRow | undefined): Figures {
  const runs = Number(row?.runs ?? 0);
  return {
    runs_30d: runs,
    success_rate: successRate(Number(row?.succeeded ?? 0), runs),
    median_ms: row?.median_ms ?? null,
    p95_ms: row?.p95_ms ?? null,
    last_success_at: row?.last_success_at ? new Date(row.last_success_at).toISOString() : null,
  };
}

/** Cut to four digits, so that only all is 1; null of no runs. */
export function successRate(succeeded: number, runs: number): number | null {
  // Multiplied first: .57 times ten thousand is less than 5,700.
  return runs === 0 ? null : Math.floor((succeeded * 10_000) / runs) / 10_000;
}
