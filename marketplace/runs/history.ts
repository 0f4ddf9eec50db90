import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import type { AccountId, RunId } from "../ids.ts";
import { followsPlace, microsOf, type Place, pageOf, pageQuery, placeValues } from "../query.ts";

export const runId = /^run_[0-9a-z]{26}$/;

export const runsQuery = z.object(pageQuery(runId));

/** The account's runs of the last `historyDays`, newest first, without what they answered. */
export async function listRuns(
  db: Queryable,
  accountId: AccountId,
  { limit, cursor }: z.infer<typeof runsQuery>,
): Promise<RunPage> {
  const { rows } = await db.query<RunRow & Place>({
    name: "list runs",
    text: `
      select ${runColumns}, ${microsOf("r.created_at")} as "createdMicros"
      from runs r join agents a on a.id = r.agent_id
      where r.account_id = $1 and r.created_at > now() - interval '${historyDays} days'
        and ${followsPlace(2, { at: "r.created_at", id: "r.id" })}
      order by r.created_at desc, r.id limit $4`,
    values: [accountId, ...placeValues(cursor), limit + 1],
  });
  const { page, cursor: next } = pageOf(rows, limit);
  return { runs: page.map(asRecord), cursor: next };
}

/** One of the account's own runs with what it answered. 404 for any other, and after `historyDays`. */
export async function readRun(db: Queryable, accountId: AccountId, id: string): Promise<RunDetail> {
  const { rows } = await db.query<RunRow & Answered>({
    name: "read run",
    text: `
      select ${runColumns}, r.output, r.receipt from runs r join agents a on a.id = r.agent_id
      where r.id = $1 and r.account_id = $2 and r.created_at > now() - interval '${historyDays} days'`,
    values: [runId.test(id) ? id : "", accountId],
  });
  const row = rows[0];
  if (!row) throw new ApiError("not_found", "There is no such run.");
  return { ...asRecord(row), ...(row.output ? { output: row.output } : {}), receipt: row.receipt };
}

export interface RunPage {
  readonly runs: readonly RunRecord[];
  readonly cursor: string | null;
}

export interface RunRecord {
  readonly run_id: RunId;
  readonly agent: string;
  readonly state: RunState;
  /** Null while it runs. */
  readonly success: boolean | null;
  readonly credits_used: number;
  /** The balance after the run; null while it runs. */
  readonly credits_remaining: number | null;
  readonly error?: string;
  readonly created_at: string;
  readonly finished_at: string | null;
}

export interface RunDetail extends RunRecord {
  readonly output?: object;
  readonly receipt: object | null;
}

export const runStates = ["running", "succeeded", "failed", "lost"] as const;
type RunState = (typeof runStates)[number];

export const runColumns = `r.id, a.handle || '/' || a.slug as agent, r.state, r.price_credits as "priceCredits",
        r.credits_remaining as "creditsRemaining", r.error, r.created_at as "createdAt", r.finished_at as "finishedAt"`;

export function asRecord(row: RunRow): RunRecord {
  const succeeded = row.state === "succeeded";
  return {
    run_id: row.id,
    agent: row.agent,
    state: row.state,
    success: row.state === "running" ? null : succeeded,
    credits_used: succeeded ? toSafeNumber(row.priceCredits) : 0,
    credits_remaining: row.creditsRemaining === null ? null : toSafeNumber(row.creditsRemaining),
    ...(row.error === null ? {} : { error: row.error }),
    created_at: row.createdAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}

export interface RunRow {
  readonly id: RunId;
  readonly agent: string;
  readonly state: RunState;
  readonly priceCredits: bigint;
  readonly creditsRemaining: bigint | null;
  readonly error: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

interface Answered {
  readonly output: object | null;
  readonly receipt: object | null;
}
