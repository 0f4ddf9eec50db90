import type { Queryable } from "../../shared/postgres.ts";
import type { Credits } from "../credits/amount.ts";
import type { AccountId, AgentId, KeyId, RunId } from "../ids.ts";
import type { ModelFundsConfig } from "./funds-config.ts";

/** The cost of one call for one run. */
export interface Claim {
  readonly runId: RunId;
  readonly agentId: AgentId;
  readonly cost: bigint;
  /** The price that is held pays for it should the run succeed. */
  readonly covered: boolean;
  /** The buyer who is asked to pay for the run; undefined where it is free. */
  readonly buyer?: ModelBuyer | undefined;
  /** The price that the buyer is about to pay in credits: a buyer who cannot pay it claims nothing, and so keeps no other buyer waiting. */
  readonly payment?: CreditPayment | undefined;
}

/** The price of a run, and the account and key that pay it in credits. A key may spend so much in a day, and in a month (UTC). */
export interface CreditPayment {
  readonly accountId: AccountId;
  readonly key?: PayingKey | undefined;
  readonly price: Credits;
}

interface PayingKey {
  readonly id: KeyId;
  readonly maxCreditsPerDay?: Credits | undefined;
  readonly maxCreditsPerMonth?: Credits | undefined;
}

/** An account; or the payer of a payment, and the network address it came from. */
export interface ModelBuyer {
  readonly id: string;
  readonly address?: string;
}

/** The day's budget is used up; the creator has no credits for it; or calls under way hold what is left of either. */
export type Shortage = "model_budget_spent" | "model_balance_spent" | "busy";

/** `failures`: the buyer's runs of the agent have failed too often at the creator's cost. `crowd`: so many are under way that they might. */
export type BuyerLimit = "failures" | "crowd";

/** The account has fewer credits than the price; the key has spent its day's or month's part. As `hold` has it, which decides. */
export type CannotPay = "insufficient" | "over_cap";

/** Claims for all runs that ask at the same moment, in the order they came for each agent. */
export async function claimAll(
  db: Queryable,
  { budgetPerDay, lentMax, lentPerDay, failuresPerHour }: ModelFundsConfig,
  claims: readonly Claim[],
): Promise<Array<"ok" | Shortage | BuyerLimit | CannotPay>> {
  const ordered = claims.toSorted((a, b) => (a.agentId < b.agentId ? -1 : Number(a.agentId > b.agentId)));
  const { rows } = await retryDeadlock(() =>
    db.query<{ outcome: keyof typeof outcomes }>({
      name: "claim models",
      text: claimStatement,
      values: [
        ordered.map(({ runId }) => runId),
        ordered.map(({ agentId }) => agentId),
        ordered.map(({ cost }) => cost),
        ordered.map(({ covered }) => covered),
        ordered.map(({ buyer }) => buyer?.id ?? null),
        ordered.map(({ buyer }) => buyer?.address ?? null),
        ordered.map(({ payment }) => payment?.accountId ?? null),
        ordered.map(({ payment }) => payment?.key?.id ?? null),
        ordered.map(({ payment }) => payment?.price ?? null),
        ordered.map(({ payment }) => payment?.key?.maxCreditsPerDay ?? null),
        budgetPerDay,
        blockCredits,
        lentMax,
        lentPerDay,
        failuresPerHour,
        ordered.map(({ payment }) => payment?.key?.maxCreditsPerMonth ?? null),
      ],
    }),
  );
  const byRun = new Map(ordered.map(({ runId }, index) => [runId, outcomes[rows[index]!.outcome]]));
  return claims.map(({ runId }) => byRun.get(runId)!);
}

/** Runs whose buyers have the price are claimed for, in their order; the outcome of each is answered in the order asked. */
const claimStatement = `
      with asked as materialized (
        select asked.*, case
            when b.spendable < asked.price then 'insufficient'
            when asked.price > 0 and coalesce(d.spent, 0) + asked.price > asked.cap then 'over_cap'
            when asked.price > 0 and asked.month_cap is not null and asked.price > asked.month_cap - (
              select coalesce(sum(spent), 0) from key_days
              where key_id = asked.key and day >= date_trunc('month', now() at time zone 'utc')::date) then 'over_cap'
          end as cannot_pay
        from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::text[],
                    $9::bigint[], $10::bigint[], $16::bigint[])
          with ordinality asked (run, agent, cost, covered, buyer, address, account, key, price, cap, month_cap, n)
        left join balances b on b.account_id = asked.account
        left join key_days d on d.key_id = asked.key and d.day = (now() at time zone 'utc')::date
      ), claimed as materialized (
        select one.outcome, able.places[one.n] as n
        from (
          select array_agg(run order by n) as runs, array_agg(agent order by n) as agents, array_agg(cost order by n) as costs,
            array_agg(covered order by n) as covered, array_agg(buyer order by n) as buyers,
            array_agg(address order by n) as addresses, array_agg(n order by n) as places
          from asked where cannot_pay is null having count(*) > 0
        ) able cross join lateral claim_models(
          able.runs, able.agents, able.costs, able.covered, $11, $12, $13, $14, able.buyers, able.addresses, $15
        ) with ordinality one (outcome, n)
      )
      select coalesce(asked.cannot_pay, claimed.outcome) as outcome from asked left join claimed using (n) order by n`;

/** Ends claims: what was borne is the creator's to pay, the rest is free again. */
export async function endClaims(
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

/** Unpaid runs of one buyer are counted together for so long. */
export const failuresWithin = "1 hour";

/** Counts a run of the agent that its buyer does not pay for and its creator bears the model of. */
export async function countFailure(db: Queryable, agentId: AgentId, { id, address }: ModelBuyer): Promise<void> {
  const callers = address === undefined ? [id] : [id, address].toSorted();
  await retryDeadlock(() =>
    db.query(
      `insert into model_failures as kept (agent_id, caller, failures, since)
       select $1, caller, 1, now() from unnest($2::text[]) caller
       on conflict (agent_id, caller) do update set
         failures = case when kept.since > now() - interval '${failuresWithin}' then kept.failures + 1 else 1 end,
         since = case when kept.since > now() - interval '${failuresWithin}' then kept.since else now() end`,
      [agentId, callers],
    ),
  );
}

/** How many runs of the agent the buyer, or a caller from the same address, left unpaid within `failuresWithin`. */
export async function failuresOf(db: Queryable, agentId: AgentId, { id, address }: ModelBuyer): Promise<number> {
  const { rows } = await db.query({
    name: "read model failures",
    text: `select coalesce(max(failures), 0) as failures from model_failures
            where agent_id = $1 and caller in ($2, $3) and since > now() - interval '${failuresWithin}'`,
    values: [agentId, id, address ?? null],
  });
  return rows[0].failures;
}

/** What agents have for models, in the order asked; nothing is locked. */
export async function readModelBudgets(
  db: Queryable,
  { budgetPerDay }: ModelFundsConfig,
  agentIds: readonly AgentId[],
): Promise<Array<ModelBudget | undefined>> {
  const { rows } = await db.query<ModelBudget & { id: AgentId }>({
    name: "read model budgets",
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

export interface ModelBudget {
  readonly budget: bigint;
  /** Credits set aside from the creator's balance today; then those of them that are spent, and those that calls under way have claimed. */
  readonly setAside: bigint;
  readonly spent: bigint;
  readonly open: bigint;
  /** The rest of the balance, once debts are paid. */
  readonly spendable: bigint;
}

/** Gives back credits that are set aside and unused, and closes the days that are over. Copies may do this at once. */
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

const outcomes = {
  ok: "ok",
  budget: "model_budget_spent",
  balance: "model_balance_spent",
  busy: "busy",
  failures: "failures",
  crowd: "crowd",
  insufficient: "insufficient",
  over_cap: "over_cap",
} as const;

/**
 * Claims that end are locked in any order, and copies of the version before lock days and balances by turns: a statement that
 * the database ended for that is sent again.
 */
async function retryDeadlock<T>(statement: () => Promise<T>): Promise<T> {
  return statement().catch((error: { code?: string }) => {
    if (error.code !== "40P01") throw error;
    return statement();
  });
}
