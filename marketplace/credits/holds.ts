import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { type AccountId, type AgentId, type KeyId, platformAccount, type RunId } from "../ids.ts";
import { type Credits, credits } from "./amount.ts";

/*
 * With ledger.ts the only writer of balances: what a run's price goes through. Every function is one statement, so one transaction and
 * one round trip, except a release that waits for its run; only the buyer's balance and a capped key's day are locked, in this order,
 * and before them the run that is released, or of a run that begins its account and its agent, against closing alone; the creator's and
 * the platform's legs are appended.
 */

/** Starts a run and sets its price aside. Unless the outcome is `held`, nothing has happened. */
export async function hold(db: Queryable, run: NewRun): Promise<Hold> {
  const { key, request } = run;
  try {
    const { rows } = await db.query({
      name: "hold",
      text: `
        with parties as (
          select from accounts buyer, agents agent
          where buyer.id = $2 and buyer.state = 'open' and agent.id = $5
            and (agent.state = 'live' or agent.account_id = '${platformAccount}')
          for key share
        ), paid as (
          update balances set spendable = spendable - $1::bigint
          where account_id = $2 and spendable >= $1 and $1 > 0 and ${mayBegin}
          returning spendable
        ), buyer as (
          select spendable from paid
          union all
          select spendable from balances where account_id = $2 and $1 = 0 and ${mayBegin}
        ), counted as (
          insert into key_days (key_id, day, spent, cap)
          select $4, (now() at time zone 'utc')::date, $1, ${capToday} from paid
          where $8::bigint is not null or $12::bigint is not null
          on conflict (key_id, day) do update set spent = key_days.spent + excluded.spent, cap = excluded.cap
        ), started as (
          insert into runs (id, rail, account_id, key_id, agent_id, agent_version, price_credits, state, lease_until,
                            idempotency_key, request_digest, input)
          select $3, 'credits', $2, $4, $5, $6, $1, 'running', now() + $7::integer * interval '1 ms', $9, $10, $11::json from buyer
        ), posted as (
          insert into postings (kind, from_purse, to_purse, amount, run_id)
          select 'hold', 'spendable:' || $2, 'held:' || $3, $1, $3 from paid
        )
        select spendable from buyer`,
      values: [
        run.priceCredits,
        run.accountId,
        run.id,
        key?.id ?? null,
        run.agentId,
        run.agentVersion,
        run.leaseMs,
        key?.maxCreditsPerDay ?? null,
        request?.idempotencyKey ?? null,
        request?.digest ?? null,
        run.input ?? null,
        key?.maxCreditsPerMonth ?? null,
      ],
    });
    return rows[0] ? { outcome: "held", creditsRemaining: credits(rows[0].spendable) } : { outcome: "insufficient" };
  } catch (error) {
    const { constraint } = error as { constraint?: string };
    if (constraint === "key_days_cap") return { outcome: "over_cap" };
    if (constraint === "runs_once") return { outcome: "repeated" };
    throw error;
  }
}

/**
 * SQL of hold: the account is open and the agent on the market, and both stay so until the run is there: closing an account waits for
 * these locks (accounts/state.ts), which a new run's foreign keys take as well. And the outputs of the account's runs leave room for more
 * (runs/kept-outputs.ts).
 */
const mayBegin = "exists (select from parties) and not exists (select from full_accounts where account_id = $2)";

/**
 * SQL of hold: the key's room for today, under its day's cap and the rest of its month's after the days before. Only a key
 * with a month's cap reads those days. A run that begins in the same instant as the day is counted on the day before.
 */
const capToday = `
          case when $12::bigint is null then $8::bigint else least($8::bigint, $12::bigint - (
            select coalesce(sum(spent), 0)::bigint from key_days
            where key_id = $4 and day >= date_trunc('month', now() at time zone 'utc')::date
              and day < (now() at time zone 'utc')::date
          )) end`;

/**
 * Ends a run that succeeded: the held credits go to the creator, less the platform's fee and, as far as that reaches, the
 * cost of the run's model; the creator bears the rest of that. A run that has already ended is left as it is; `state` says
 * how it ended.
 */
export async function capture(db: Queryable, run: Captured): Promise<Resolved> {
  const { rows } = await db.query({
    name: run.modelClaimed ? "capture with model" : "capture",
    text: `
      with done as (
        update runs set state = 'succeeded', output = $2, receipt = $3, finished_at = now(), lease_until = null,
          credits_remaining = balances.spendable
        from balances
        where id = $1 and rail = 'credits' and state = 'running' and balances.account_id = runs.account_id
        returning id, price_credits, credits_remaining
      ), ${run.modelClaimed ? modelPaid : noModel}, posted as (
        insert into postings (kind, from_purse, to_purse, amount, run_id)
        select leg.kind, 'held:' || done.id, leg.to_purse, leg.amount, done.id
        from done left join model on true, lateral (values
          ('capture', 'earned:' || $4::text, done.price_credits - $5::bigint - coalesce(model.paid, 0)),
          ('fee', 'platform:fees', $5::bigint),
          ('model_cost', 'platform:models', coalesce(model.paid, 0))
        ) leg (kind, to_purse, amount)
        where leg.amount > 0
      )
      select credits_remaining from done`,
    values: [
      run.id,
      run.outputJson,
      run.receipt === undefined ? null : JSON.stringify(run.receipt),
      run.creatorId,
      run.fee,
    ],
  });
  return rows[0]
    ? { endedHere: true, state: "succeeded", creditsRemaining: credits(rows[0].credits_remaining) }
    : readResolved(db, run.id);
}

/** SQL of capture: what of the claim on the creator's credits (0034) the price pays instead; the rest is borne. */
const modelPaid = `
      model as (
        select claim.run_id, least(claim.credits, done.price_credits - $5::bigint) as paid
        from done join model_claims claim on claim.run_id = done.id where not claim.borne for update of claim
      ), borne as (
        update model_claims claim set credits = claim.credits - model.paid, borne = true
        from model where claim.run_id = model.run_id
      )`;
const noModel = "model as (select 0::bigint as paid)";

/**
 * Ends a run that failed and gives the buyer everything back; what its model cost stays with the creator if it was
 * borne. Where that is not said, the claim stays open: the process that made the call ends it (`ModelFunds.end`), and if that has
 * died it counts as borne (0034). Leaves a run alone that has begun something that cannot be taken back: its `state` stays
 * `running`, for the recovery to end. With `onlyIfLapsed` also as long as its lease is kept.
 */
export async function release(db: Database, run: Released): Promise<Resolved> {
  const remaining = await inTransaction(db, async (tx) => {
    await lockRun(tx, run.id);
    return releaseNow(tx, run);
  });
  return remaining === undefined
    ? readResolved(db, run.id)
    : { endedHere: true, state: run.state, creditsRemaining: credits(remaining) };
}

/**
 * To be called before a run is ended for having begun nothing. An effect is written down by a transaction that has locked the run:
 * once that has ended, the next statement sees it.
 */
export async function lockRun(tx: Transaction, id: RunId): Promise<void> {
  await tx.query({ name: "lock run", text: "select from runs where id = $1 for no key update", values: [id] });
}

/** What the buyer has then; undefined where nothing was released. */
async function releaseNow(db: Queryable, run: Released): Promise<bigint | undefined> {
  const { rows } = await db.query<{ credits_remaining: bigint }>({
    name: "release",
    text: `
      with buyer as (
        select b.spendable from runs r join balances b using (account_id)
        where r.id = $1 and r.rail = 'credits' and r.state = 'running' and ${canBeReleased("r")}
        for update of b
      ), done as (
        update runs set state = $2, error = $3, finished_at = now(), lease_until = null,
          credits_remaining = buyer.spendable + price_credits,
          idempotency_key = case when $6 then null else idempotency_key end,
          request_digest = case when $6 then null else request_digest end
        from buyer
        where id = $1 and rail = 'credits' and state = 'running' and ${canBeReleased("runs")}
        returning id, account_id, key_id, price_credits, credits_remaining, created_at
      ), refunded as (
        update balances set spendable = spendable + price_credits from done
        where balances.account_id = done.account_id and price_credits > 0
        returning done.key_id, (done.created_at at time zone 'utc')::date as day, price_credits
      ), uncounted as (
        -- Never below zero: a run that began while its key had no cap was not counted.
        update key_days set spent = greatest(0, spent - price_credits) from refunded
        where key_days.key_id = refunded.key_id and key_days.day = refunded.day
      ), borne as (
        update model_claims set borne = true from done where run_id = done.id and $5
      ), unused as (
        delete from model_claims using done where run_id = done.id and not $5
      ), posted as (
        insert into postings (kind, from_purse, to_purse, amount, run_id)
        select 'release', 'held:' || id, 'spendable:' || account_id, price_credits, id
        from done where price_credits > 0
      )
      select credits_remaining from done`,
    values: [run.id, run.state, run.error, run.onlyIfLapsed ?? false, run.modelBorne ?? null, run.mayRepeat ?? false],
  });
  return rows[0]?.credits_remaining;
}

const canBeReleased = (run: string) => `${hasBegunNothing(run)} and (not $4 or ${run}.lease_until < now())`;

/** SQL: whether a row of runs that `lockRun` has locked is abandoned. */
export function isAbandoned(run: string): string {
  return `${run}.lease_until < now() and ${hasBegunNothing(run)}`;
}

function hasBegunNothing(run: string): string {
  return `not exists (select from effects e where e.run_id = ${run}.id and e.state <> 'void')`;
}

async function readResolved(db: Queryable, id: RunId): Promise<Resolved> {
  const { rows } = await db.query(
    `select state, coalesce(credits_remaining, spendable) as credits_remaining
     from runs join balances using (account_id) where id = $1 and rail = 'credits'`,
    [id],
  );
  if (!rows[0]) throw new Error(`${id} is not a run paid with credits`);
  return { endedHere: false, state: rows[0].state, creditsRemaining: credits(rows[0].credits_remaining) };
}

export interface NewRun {
  readonly id: RunId;
  readonly accountId: AccountId;
  /** The key it is asked with, if any; a cap is on all that the key spends in a day or a month (UTC). */
  readonly key?: KeyWithCaps | undefined;
  readonly agentId: AgentId;
  readonly agentVersion: number;
  readonly priceCredits: Credits;
  readonly leaseMs: number;
  /** The caller's name for the request, and the digest of the request. */
  readonly request?: { readonly idempotencyKey: string; readonly digest: Buffer } | undefined;
  /** JSON, for the buyer to see again. */
  readonly input?: string | undefined;
}

interface KeyWithCaps {
  readonly id: KeyId;
  readonly maxCreditsPerDay?: Credits | undefined;
  readonly maxCreditsPerMonth?: Credits | undefined;
}

export type Hold =
  | { readonly outcome: "held"; readonly creditsRemaining: Credits }
  /**
   * The balance is too small, the account runs nothing more for now, or it or the agent was closed; the key has spent its day's or month's part; a request
   * of this name has begun a run before.
   */
  | { readonly outcome: "insufficient" | "over_cap" | "repeated" };

export interface Captured {
  readonly id: RunId;
  readonly creatorId: AccountId;
  /** The platform's part of the price, below the price. */
  readonly fee: Credits;
  readonly outputJson: string;
  readonly receipt?: object | undefined;
  /** The run called a model that costs its creator something. */
  readonly modelClaimed?: boolean;
}

export interface Released {
  readonly id: RunId;
  readonly state: "failed" | "lost";
  /** For the buyer to read. */
  readonly error: string;
  readonly onlyIfLapsed?: boolean;
  /** False when the model it claimed was certainly not called, or refused; undefined where only the process that ran it knows. */
  readonly modelBorne?: boolean;
  /** The request's name is free again: the same may be asked anew. */
  readonly mayRepeat?: boolean;
}

/** The state of a run after a capture or release, also when another call ended it, and what the buyer has now. */
export interface Resolved {
  /** This call ended the run, not an earlier one. */
  readonly endedHere: boolean;
  readonly state: "running" | "succeeded" | "failed" | "lost";
  readonly creditsRemaining: Credits;
}
