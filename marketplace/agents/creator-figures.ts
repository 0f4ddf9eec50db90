import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { atomicPerCredit } from "../answers/amounts.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import { wholeNumber } from "../query.ts";
import { dayBefore } from "../utc-day.ts";
import { figuresDays } from "./count-runs.ts";
import { successRate } from "./figures.ts";

export const figuresQuery = z.object({
  days: wholeNumber(1, 90).default(figuresDays).describe("How many days (UTC), up to today."),
});

/** How an agent does, for its creator, whose own runs do not count. */
export interface CreatorFigures extends Revenue {
  readonly runs: number;
  /** How many of those failed; no buyer was charged for them. */
  readonly failed: number;
  /** Between 0 and 1. */
  readonly success_rate: number | null;
  /** Runs in as many days before. */
  readonly runs_before: number;
  /** Times of runs that succeeded in the last `figuresDays`, if not fewer were asked for; at most 5 % off. */
  readonly median_ms: number | null;
  readonly p95_ms: number | null;
  readonly days: ReadonlyArray<Revenue & { readonly day: string; readonly runs: number; readonly failed: number }>;
  /** Payers of runs that succeeded, most runs first. */
  readonly payers: ReadonlyArray<{ readonly payer: string; readonly runs: number }>;
  /** The newest failures, at most `failuresMax`. */
  readonly failures: readonly Failure[];
}

interface Revenue {
  /** Earned, less the platform's fee. */
  readonly credits: number;
  /** Settled, to the creator's wallets. */
  readonly usdc: string;
}

interface Failure {
  readonly cause: string;
  readonly runs: number;
  readonly last_at: string;
  /** The newest. Its input is its buyer's; `shared` is its link's last part, if the buyer shares it. */
  readonly example: RunId;
  readonly shared: string | null;
}

export const failuresMax = 10_000;
const causesMax = 20;

export async function readCreatorFigures(db: Queryable, agentId: AgentId, days: number): Promise<CreatorFigures> {
  const today = new Date().toISOString().slice(0, 10);
  const first = dayBefore(today, days - 1);
  const { rows } = await db.query<DayRow>(
    `select case when day < $2::date then 'before' else day::text end as day, payer, sum(runs)::bigint as runs,
       sum(failed)::bigint as failed, sum(credits)::bigint as credits, sum(units)::text as units
     from agent_days where agent_id = $1 and day >= $3::date group by 1, 2`,
    [agentId, first, dayBefore(first, days)],
  );
  const asked = rows.filter(({ day }) => day !== "before");
  const { runs, failed, ...revenue } = added(asked);
  const payers = [...new Set(asked.map(({ payer }) => payer))];
  return {
    runs,
    failed,
    ...revenue,
    success_rate: successRate(runs - failed, runs),
    runs_before: added(rows.filter(({ day }) => day === "before")).runs,
    ...(await timesOf(db, agentId, first)),
    days: Array.from({ length: days }, (_, at) => dayBefore(today, days - 1 - at)).map((day) => ({
      day,
      ...added(asked.filter((row) => row.day === day)),
    })),
    payers: payers
      .map((payer) => ({ payer, of: added(asked.filter((row) => row.payer === payer)) }))
      .map(({ payer, of }) => ({ payer, runs: of.runs - of.failed }))
      .filter((payer) => payer.runs > 0)
      .toSorted((a, b) => b.runs - a.runs),
    failures: await failuresOf(db, agentId, first),
  };
}

/** What each of the agents brought in the last days, in credits; those that brought nothing are left out. */
export async function readRevenues(
  db: Queryable,
  agentIds: readonly string[],
  days: number,
): Promise<Map<string, bigint>> {
  const first = dayBefore(new Date().toISOString().slice(0, 10), days - 1);
  const { rows } = await db.query<{ id: string; worth: string }>(
    `select agent_id as id, trunc(sum(credits) + sum(units) / ${atomicPerCredit})::text as worth
     from agent_days where agent_id = any($1) and day >= $2::date group by agent_id`,
    [agentIds, first],
  );
  return new Map(rows.map(({ id, worth }) => [id, BigInt(worth)]));
}

/** What calls of the account's agents paid in the last days, in USDC, by network; those without any are left out. */
export async function readPaidOn(db: Queryable, accountId: AccountId, days: number): Promise<Map<string, string>> {
  const first = dayBefore(new Date().toISOString().slice(0, 10), days - 1);
  const { rows } = await db.query<{ network: string; units: string }>(
    `select d.payer as network, sum(d.units)::text as units from agents a join agent_days d on d.agent_id = a.id
     where a.account_id = $1 and d.day >= $2::date and d.units > 0 group by d.payer`,
    [accountId, first],
  );
  return new Map(rows.map(({ network, units }) => [network, inUsdc(BigInt(units))]));
}

function added(rows: readonly DayRow[]) {
  const sum = (of: (row: DayRow) => bigint) => rows.reduce((total, row) => total + of(row), 0n);
  return {
    runs: toSafeNumber(sum((row) => row.runs)),
    failed: toSafeNumber(sum((row) => row.failed)),
    credits: toSafeNumber(sum((row) => row.credits)),
    usdc: inUsdc(sum((row) => BigInt(row.units))),
  };
}

/** USDC has six decimals on every network. */
function inUsdc(units: bigint): string {
  const digits = units.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** The middle of what an outcome stands for, as countRuns keeps them: an eighth of the binary logarithm of milliseconds. */
async function timesOf(db: Queryable, agentId: AgentId, first: string) {
  const { rows } = await db.query<{ median_ms: number | null; p95_ms: number | null }>(
    `select round(power(2, (min(outcome) filter (where upto >= timed * 0.5) + 0.5) / 8))::integer as median_ms,
       round(power(2, (min(outcome) filter (where upto >= timed * 0.95) + 0.5) / 8))::integer as p95_ms
     from (
       select outcome, sum(sum(runs)) over (order by outcome) as upto, sum(sum(runs)) over () as timed
       from agent_run_counts where agent_id = $1 and day >= $2::date and outcome between 0 and 998 group by outcome
     ) outcomes`,
    [agentId, first],
  );
  return rows[0] ?? { median_ms: null, p95_ms: null };
}

/** By what buyers were told. The creator's own runs are left out here as well. */
async function failuresOf(db: Queryable, agentId: AgentId, first: string): Promise<Failure[]> {
  const { rows } = await db.query<FailureRow>(
    `select cause, runs, "lastAt", example, s.token as shared
     from (
       select cause, count(*)::integer as runs, max(finished_at) as "lastAt",
         (array_agg(id order by finished_at desc))[1] as example
       from (
         select r.id, r.finished_at, case when r.state = 'lost' then 'The service was interrupted.' else coalesce(r.error, '') end as cause
         from runs r join agents a on a.id = r.agent_id
         where r.agent_id = $1 and r.state in ('failed', 'lost') and r.account_id is distinct from a.account_id
           and r.finished_at >= $2::timestamptz
         order by r.finished_at desc limit ${failuresMax}
       ) newest group by cause order by count(*) desc, max(finished_at) desc limit ${causesMax}
     ) causes left join run_shares s on s.run_id = causes.example
     order by runs desc, "lastAt" desc`,
    [agentId, `${first}T00:00:00Z`],
  );
  return rows.map(({ lastAt, ...row }) => ({ ...row, last_at: lastAt.toISOString() }));
}

interface DayRow {
  readonly day: string;
  readonly payer: string;
  readonly runs: bigint;
  readonly failed: bigint;
  readonly credits: bigint;
  readonly units: string;
}

interface FailureRow extends Omit<Failure, "last_at"> {
  readonly lastAt: Date;
}
