import type { Queryable } from "../../shared/postgres.ts";
import type { BackgroundWork } from "../background-work.ts";
import type { AccountId } from "../ids.ts";
import { type Credits, credits } from "./amount.ts";

/** Reads what accounts have, in the order asked. An account always has a balance row. */
export async function readBalances(db: Queryable, accountIds: readonly AccountId[]): Promise<Balance[]> {
  const { rows } = await db.query({
    name: "read balances",
    text: `
      select b.account_id, b.spendable,
        (select coalesce(sum(price_credits), 0) from runs where account_id = b.account_id and state = 'running') as held,
        coalesce(t.total, 0) + coalesce(received.amount, 0) - coalesce(spent.amount, 0) as earned,
        received.postings >= 1000 as fold
      from balances b
      left join purse_totals t on t.purse = 'earned:' || b.account_id
      cross join lateral (
        select sum(amount) as amount, count(*) as postings from postings
        where to_purse = 'earned:' || b.account_id and to_purse like 'earned:%'
          and created_at >= coalesce(t.through, '-infinity')
      ) received
      cross join lateral (
        select sum(amount) as amount from postings
        where from_purse = 'earned:' || b.account_id and from_purse like 'earned:%'
          and created_at >= coalesce(t.through, '-infinity')
      ) spent
      where b.account_id = any($1)`,
    values: [[...new Set(accountIds)]],
  });
  const found = new Map<AccountId, Balance>(rows.map((row) => [row.account_id, asBalance(row)]));
  return accountIds.map((id) => {
    const balance = found.get(id);
    if (!balance) throw new Error(`${id} has no balance`);
    return balance;
  });
}

/** Reads balances, and has earnings folded where that saves time: once a minute and account, since a line moves by the minute. */
export function readAndFold(db: Queryable, backgroundWork: Pick<BackgroundWork, "detach">) {
  const folded = new Set<AccountId>();
  let minute = 0;
  return async (accountIds: readonly AccountId[]): Promise<Balance[]> => {
    const balances = await readBalances(db, accountIds);
    const now = Math.floor(Date.now() / 60_000);
    if (now !== minute) folded.clear();
    minute = now;
    for (const [at, id] of accountIds.entries()) {
      if (!balances[at]?.worthFolding || folded.has(id)) continue;
      folded.add(id);
      backgroundWork.detach(foldEarnings(db, id));
    }
    return balances;
  };
}

/**
 * Sums an account's earnings of more than an hour ago into one number. A posting carries the time its transaction
 * began and no transaction lives an hour, so none can still appear before the line that is drawn here.
 */
export async function foldEarnings(db: Queryable, accountId: AccountId): Promise<void> {
  await db.query(
    `insert into purse_totals as totals (purse, total, through)
     select $1, coalesce(old.total, 0) + coalesce(sum(case when to_purse = $1 then amount else -amount end), 0), line.at
     from (select date_trunc('minute', now()) - interval '1 hour' as at) line
     left join purse_totals old on old.purse = $1
     left join postings on ((to_purse = $1 and to_purse like 'earned:%') or (from_purse = $1 and from_purse like 'earned:%'))
       and created_at >= coalesce(old.through, '-infinity') and created_at < line.at
     group by old.total, line.at
     on conflict (purse) do update set total = excluded.total, through = excluded.through
       where totals.through < excluded.through`,
    [`earned:${accountId}`],
  );
}

export interface BalanceLookup {
  readonly balance: (accountId: AccountId) => Promise<Balance>;
}

export interface Balance {
  readonly credits: Credits;
  readonly held: Credits;
  readonly earned: Credits;
  /** The earnings consist of so many postings that folding them saves time. */
  readonly worthFolding: boolean;
}

function asBalance(row: { spendable: bigint; held: bigint; earned: bigint; fold: boolean }): Balance {
  return {
    credits: credits(row.spendable),
    held: credits(row.held),
    earned: credits(row.earned),
    worthFolding: row.fold,
  };
}
