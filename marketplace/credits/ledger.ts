import type { Queryable, Transaction } from "../../shared/postgres.ts";
import type { AccountId, RunId } from "../ids.ts";
import { type Credits, credits } from "./amount.ts";

/*
 * With holds.ts the only writer of balances: what moves between balances at once. Every movement is one statement that appends a
 * posting and changes the balances.
 */

/** Adds credits to an account, given or bought, once per `reference`. Returns whether this call did it. */
export async function grant(db: Queryable, grant: Grant): Promise<boolean> {
  const { rowCount } = await db.query(
    `with posted as (
       insert into postings (kind, from_purse, to_purse, amount, reference, note)
       select $5, 'platform:issued', 'spendable:' || account_id, $2, $3, $4 from balances where account_id = $1
       on conflict (reference) do nothing
       returning amount
     )
     update balances set spendable = spendable + posted.amount from posted where account_id = $1`,
    [grant.accountId, grant.credits, grant.reference ?? null, grant.note ?? null, grant.kind ?? "grant"],
  );
  return rowCount === 1;
}

/** What `grant` did for a reference before; undefined where it was for none, or for something else. */
export async function grantedFor(db: Queryable, reference: string): Promise<Granted | undefined> {
  const { rows } = await db.query<{ amount: bigint; handle: string; accountId: AccountId }>(
    `select p.amount, a.handle, a.id as "accountId"
     from postings p join accounts a on a.id = substr(p.to_purse, length('spendable:') + 1) where p.reference = $1 and p.kind = 'grant'`,
    [reference],
  );
  const [found] = rows;
  return found && { accountId: found.accountId, handle: found.handle, credits: credits(found.amount) };
}

/**
 * Moves earned credits to the same account's spendable ones and answers what is spendable then. The caller
 * holds the lock on the account's balance row and has checked that so much was earned, and for no equal `reference` before.
 */
export async function transfer(
  tx: Transaction,
  accountId: AccountId,
  amount: Credits,
  reference?: string,
): Promise<Credits> {
  const { rows } = await tx.query(
    `with posted as (
       insert into postings (kind, from_purse, to_purse, amount, reference)
       values ('transfer', 'earned:' || $1, 'spendable:' || $1, $2, $3)
     )
     update balances set spendable = spendable + $2 where account_id = $1 returning spendable`,
    [accountId, amount, reference ?? null],
  );
  return credits(rows[0].spendable);
}

/**
 * Moves credits from a creator's balance to a buyer's, as the reward of a run; within the transaction that writes down
 * what for. False when the creator has too few; nothing has happened then.
 */
export async function reward(tx: Transaction, run: Rewarded): Promise<boolean> {
  const { creatorId, buyerId, credits: amount } = run;
  // In the order of their ids, so that two who reward each other do not wait for each other.
  await tx.query("select from balances where account_id in ($1, $2) order by account_id for update", [
    creatorId,
    buyerId,
  ]);
  const { rowCount } = await tx.query(
    `with paid as (
       update balances set spendable = spendable - $3::bigint where account_id = $1 and spendable >= $3 returning 1
     ), received as (
       update balances set spendable = spendable + $3::bigint from paid where account_id = $2
     ), posted as (
       insert into postings (kind, from_purse, to_purse, amount, run_id)
       select 'reward', 'spendable:' || $1, 'spendable:' || $2, $3, $4 from paid
     )
     select 1 from paid`,
    [creatorId, buyerId, amount, run.id],
  );
  return rowCount === 1;
}

export interface Grant {
  /** A purchase is credited for a payment, which its reference names. */
  readonly kind?: "grant" | "purchase" | undefined;
  readonly accountId: AccountId;
  readonly credits: Credits;
  readonly reference?: string | undefined;
  readonly note?: string | undefined;
}

export interface Granted {
  readonly accountId: AccountId;
  readonly handle: string;
  readonly credits: Credits;
}

export interface Rewarded {
  readonly id: RunId;
  readonly creatorId: AccountId;
  readonly buyerId: AccountId;
  readonly credits: Credits;
}
