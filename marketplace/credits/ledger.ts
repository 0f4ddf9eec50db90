import type { Queryable } from "../../shared/postgres.ts";
import { type Credits, credits } from "../../shared/units.ts";
import type { AccountId, AgentId, KeyId, RunId } from "../ids.ts";

/**
 * The only writer of balances. Every function is one statement, so one transaction and one round trip; only the
 * buyer's balance is locked, the creator's and the platform's legs are appended.
 */

/** Adds credits to an account, once per `reference`. Returns whether this call did it. */
export async function grant(db: Queryable, grant: Grant): Promise<boolean> {
  const { rowCount } = await db.query(
    `with posted as (
       insert into postings (kind, from_purse, to_purse, amount, reference, note)
       select 'grant', 'platform:issued', 'spendable:' || account_id, $2, $3, $4 from balances where account_id = $1
       on conflict (reference) do nothing
       returning amount
     )
     update balances set spendable = spendable + posted.amount from posted where account_id = $1`,
    [grant.accountId, grant.credits, grant.reference ?? null, grant.note ?? null],
  );
  return rowCount === 1;
}

/** Starts a run and sets its price aside. Null when the account cannot pay; nothing has happened then. */
export async function hold(db: Queryable, run: NewRun): Promise<{ creditsRemaining: Credits } | null> {
  const { rows } = await db.query({
    name: "hold",
    text: `
      with paid as (
        update balances set spendable = spendable - $1::bigint
        where account_id = $2 and spendable >= $1 and $1 > 0
        returning spendable
      ), buyer as (
        select spendable from paid
        union all
        select spendable from balances where account_id = $2 and $1 = 0
      ), started as (
        insert into runs (id, rail, account_id, key_id, agent_id, agent_version, price_credits, state, lease_until)
        select $3, 'credits', $2, $4, $5, $6, $1, 'running', now() + $7::integer * interval '1 ms' from buyer
      ), posted as (
        insert into postings (kind, from_purse, to_purse, amount, run_id)
        select 'hold', 'spendable:' || $2, 'held:' || $3, $1, $3 from paid
      )
      select spendable from buyer`,
    values: [run.priceCredits, run.accountId, run.id, run.keyId, run.agentId, run.agentVersion, run.leaseMs],
  });
  return rows[0] ? { creditsRemaining: credits(rows[0].spendable) } : null;
}

/**
 * Ends a run that worked: what was held goes to the creator, less the platform's fee. A run that has already ended
 * is left as it is; `state` says how it ended.
 */
export async function capture(db: Queryable, run: Captured): Promise<Resolved> {
  const { rows } = await db.query({
    name: "capture",
    text: `
      with done as (
        update runs set state = 'succeeded', output = $2, receipt = $3, finished_at = now(), lease_until = null
        where id = $1 and rail = 'credits' and state = 'running'
        returning id, account_id, price_credits
      ), posted as (
        insert into postings (kind, from_purse, to_purse, amount, run_id)
        select leg.kind, 'held:' || done.id, leg.to_purse, leg.amount, done.id
        from done, lateral (values
          ('capture', 'earned:' || $4::text, done.price_credits - $5::bigint),
          ('fee', 'platform:fees', $5::bigint)
        ) leg (kind, to_purse, amount)
        where leg.amount > 0
      )
      select 'succeeded' as state, spendable from done join balances using (account_id)`,
    values: [
      run.id,
      JSON.stringify(run.output),
      run.receipt === undefined ? null : JSON.stringify(run.receipt),
      run.creatorId,
      run.fee,
    ],
  });
  return rows[0]
    ? { endedHere: true, state: "succeeded", creditsRemaining: credits(rows[0].spendable) }
    : readResolved(db, run.id);
}

/**
 * Ends a run that did not work and gives the buyer everything back. With `onlyIfLapsed` the run is left alone as long
 * as somebody keeps its lease.
 */
export async function release(db: Queryable, run: Released): Promise<Resolved> {
  const { rows } = await db.query({
    name: "release",
    text: `
      with done as (
        update runs set state = $2, error = $3, finished_at = now(), lease_until = null
        where id = $1 and rail = 'credits' and state = 'running' and (not $4 or lease_until < now())
        returning id, account_id, price_credits
      ), refunded as (
        update balances set spendable = spendable + price_credits from done
        where balances.account_id = done.account_id and price_credits > 0
        returning spendable
      ), posted as (
        insert into postings (kind, from_purse, to_purse, amount, run_id)
        select 'release', 'held:' || id, 'spendable:' || account_id, price_credits, id
        from done where price_credits > 0
      )
      select coalesce(refunded.spendable, balances.spendable) as spendable
      from done join balances using (account_id) left join refunded on true`,
    values: [run.id, run.state, run.error, run.onlyIfLapsed ?? false],
  });
  return rows[0]
    ? { endedHere: true, state: run.state, creditsRemaining: credits(rows[0].spendable) }
    : readResolved(db, run.id);
}

async function readResolved(db: Queryable, id: RunId): Promise<Resolved> {
  const { rows } = await db.query(
    "select state, spendable from runs join balances using (account_id) where id = $1 and rail = 'credits'",
    [id],
  );
  if (!rows[0]) throw new Error(`${id} is not a run paid with credits`);
  return { endedHere: false, state: rows[0].state, creditsRemaining: credits(rows[0].spendable) };
}

export interface Grant {
  readonly accountId: AccountId;
  readonly credits: Credits;
  readonly reference?: string | undefined;
  readonly note?: string | undefined;
}

export interface NewRun {
  readonly id: RunId;
  readonly accountId: AccountId;
  readonly keyId: KeyId;
  readonly agentId: AgentId;
  readonly agentVersion: number;
  readonly priceCredits: Credits;
  readonly leaseMs: number;
}

export interface Captured {
  readonly id: RunId;
  readonly creatorId: AccountId;
  /** The platform's part of the price, below the price. */
  readonly fee: Credits;
  readonly output: object;
  readonly receipt?: object | undefined;
}

export interface Released {
  readonly id: RunId;
  readonly state: "failed" | "lost";
  /** For the buyer to read. */
  readonly error: string;
  readonly onlyIfLapsed?: boolean;
}

/** How a run stands after a capture or release, whoever ended it, and what the buyer has now. */
export interface Resolved {
  /** This call ended the run, not an earlier one. */
  readonly endedHere: boolean;
  readonly state: "running" | "succeeded" | "failed" | "lost";
  readonly creditsRemaining: Credits;
}
