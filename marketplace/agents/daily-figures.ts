import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId } from "../ids.ts";
import { figuresDays } from "./count-runs.ts";

/** How an agent did on one day (UTC); its creator's own runs do not count. */
export interface DayFigures {
  /** `2026-11-20`. */
  readonly day: string;
  readonly succeeded: number;
  readonly failed: number;
  /** Median time of runs that succeeded, at most 5 % off; null where none did. */
  readonly medianMs: number | null;
}

/** The days that the agent's figures add up, oldest first, also those without a run. */
export async function readDailyFigures(db: Queryable, agentId: AgentId): Promise<readonly DayFigures[]> {
  const { rows } = await db.query<{ day: string; succeeded: bigint; failed: bigint; medianMs: number | null }>({
    name: "read daily figures",
    text: dailyFigures,
    values: [agentId],
  });
  return rows.map(({ succeeded, failed, ...row }) => ({
    ...row,
    succeeded: Number(succeeded),
    failed: Number(failed),
  }));
}

const dailyFigures = `
  with counts as (
    select day, outcome, runs, outcome between 0 and 998 as is_timed,
      sum(runs) filter (where outcome between 0 and 998) over (partition by day order by outcome) as upto,
      sum(runs) filter (where outcome between 0 and 998) over (partition by day) as timed
    from agent_run_counts where agent_id = $1
  )
  select d::date::text as day,
    coalesce(sum(runs) filter (where outcome >= 0), 0)::bigint as succeeded,
    coalesce(sum(runs) filter (where outcome < 0), 0)::bigint as failed,
    round(power(2, (min(outcome) filter (where is_timed and upto >= timed * 0.5) + 0.5) / 8))::float8 as "medianMs"
  from generate_series((now() at time zone 'utc')::date - ${figuresDays - 1}, (now() at time zone 'utc')::date, '1 day') d
    left join counts on counts.day = d::date
  group by d order by d`;
