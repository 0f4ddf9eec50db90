import type { Queryable } from "../../shared/postgres.ts";
import type { AgentId, RunId } from "../ids.ts";
import type { ModelFundsConfig } from "./funds-config.ts";

/** The cost of one call for one run. */
export interface Claim {
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly cost: bigint;
  /** The price that is held pays for it should the run succeed. */
  readonly covered: boolean;
}

/** The day's budget is used up; the creator has no credits for it; or calls under way hold what is left of either. */
export type Shortage = "model_budget_spent" | "model_balance_spent" | "busy";

/** Claims for all runs that ask at the same moment, in the order they came for each agent. */
export async function claimAll(
  db: Queryable,
  { budgetPerDay, lentMax }: ModelFundsConfig,
  claims: readonly Claim[],
): Promise<Array<"ok" | Shortage>> {
  const ordered = claims.toSorted((a, b) => (a.agentId < b.agentId ? -1 : Number(a.agentId > b.agentId)));
  const { rows } = await retryDeadlock(() =>
    db.query<{ outcome: keyof typeof outcomes }>({
      name: "claim models",
      text: "select outcome from claim_models($1, $2, $3, $4, $5, $6, $7) outcome",
      values: [
        ordered.map(({ runId }) => runId),
        ordered.map(({ agentId }) => agentId),
        ordered.map(({ cost }) => cost),
        ordered.map(({ covered }) => covered),
        budgetPerDay,
        blockCredits,
        lentMax,
      ],
    }),
  );
  const byRun = new Map(ordered.map(({ runId }, index) => [runId, outcomes[rows[index]!.outcome]]));
  return claims.map(({ runId }) => byRun.get(runId)!);
}

/** Ends claims: what was borne is the creator's to pay, the rest is free again. */
export async function endAll(
  db: Queryable,
  ended: ReadonlyArray<{ readonly runId: RunId; readonly borne: boolean }>,
): Promise<boolean[]> {
  const ids = (borne: boolean) => ended.filter((one) => one.borne === borne).map(({ runId }) => runId);
  await retryDeadlock(() =>
    db.query({
      name: "end model claims",
      text: `with unused as (delete from model_claims where run_id = any($2::text[]))
             update model_claims set borne = true where run_id = any($1::text[])`,
      values: [ids(true), ids(false)],
    }),
  );
  return ended.map(() => true);
}

/** What agents have for models, in the order asked; nothing is locked. */
export async function readRoom(
  db: Queryable,
  { budgetPerDay }: ModelFundsConfig,
  agentIds: readonly AgentId[],
): Promise<Array<Room | undefined>> {
  const { rows } = await db.query<Room & { id: AgentId }>({
    name: "read room for models",
    text: `
      select a.id, coalesce(a.model_credits_per_day, $2::bigint) as budget, coalesce(d.taken, 0) as "setAside",
        coalesce(d.spent, 0) + coalesce(c.borne, 0) as spent, coalesce(c.open, 0) as open,
        greatest(0, b.spendable - coalesce(o.owed, 0)) as spendable
      from agents a join balances b on b.account_id = a.account_id
      left join model_debts o on o.account_id = a.account_id
      left join model_days d on d.agent_id = a.id and d.day = (now() at time zone 'utc')::date
      cross join lateral (
        select sum(credits) filter (where borne) as borne, sum(credits) filter (where not borne) as open
        from model_claims where agent_id = d.agent_id and day = d.day
      ) c
      where a.id = any($1)`,
    values: [[...new Set(agentIds)], budgetPerDay],
  });
  const found = new Map(rows.map((row) => [row.id, row]));
  return agentIds.map((id) => found.get(id));
}

export interface Room {
  readonly budget: bigint;
  /** From the creator's balance, today; what is spent of it, what calls under way have claimed of it. */
  readonly setAside: bigint;
  readonly spent: bigint;
  readonly open: bigint;
  /** Of the balance, once what is owed is paid. */
  readonly spendable: bigint;
}

export const settleModelDaysEveryMs = 60_000;

/** Gives back what lies idle, and closes the days that are over. Any number of copies may do this at once. */
export async function settleModelDays(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ agent: AgentId; day: string; over: boolean }>(
    `select agent_id as agent, day::text, over from model_days, lateral (
       select (now() at time zone 'utc') > day + interval '1 day' + interval '20 minutes' as over) ending
     where not closed and (over or touched_at < now() - interval '5 minutes' and taken + lent > spent)
     order by touched_at limit 200`,
  );
  for (const { agent, day, over } of rows) {
    await retryDeadlock(() => db.query("select settle_model_day($1, $2::date, $3)", [agent, day, over]));
  }
}

/** Set aside at a time, from a balance that has it. */
const blockCredits = 100;

const outcomes = { ok: "ok", budget: "model_budget_spent", balance: "model_balance_spent", busy: "busy" } as const;

/** Creators with several agents on several copies: whom the database chose to give way asks once more. */
async function retryDeadlock<T>(statement: () => Promise<T>): Promise<T> {
  return statement().catch((error: { code?: string }) => {
    if (error.code !== "40P01") throw error;
    return statement();
  });
}
