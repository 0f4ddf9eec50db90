import { toSafeNumber } from "../../shared/amounts.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { AccountId } from "../ids.ts";
import { readBalances } from "./balance.ts";
import { effectOf, readStatement, type Statement } from "./statement.ts";
import { filterValues, inPeriod, type kinds, type StatementFilter, selected } from "./statement-rows.ts";

const readsPerMinute = 30;

/**
 * A page of the statement, the balances before and after the period, and the sums of the postings that the filter selects, all
 * of one moment. Without a filter but the days, opening and totals are the closing balance to the credit. 429 past the limit,
 * since each call adds up every posting since `from`.
 */
export async function readAccountStatement(
  db: Database,
  accountId: AccountId,
  asked: Parameters<typeof readStatement>[2],
): Promise<AccountStatement> {
  await admitOrRefuse(db, `statement:${accountId}`, readsPerMinute);
  return inTransaction(db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const statement = await readStatement(tx, accountId, asked);
    const [period, totals] = [await readPeriod(tx, accountId, asked), await readTotals(tx, accountId, asked)];
    const balances = await balancesAfter(tx, accountId, statement, asked);
    const postings = statement.postings.map((entry, at) => ({ ...entry, balance: balances?.[at] ?? null }));
    return { postings, cursor: statement.cursor, ...period, totals };
  });
}

export interface AccountStatement {
  readonly postings: ReadonlyArray<Statement["postings"][number] & { readonly balance: number | null }>;
  readonly cursor: string | null;
  readonly opening: Standing;
  readonly closing: Standing;
  readonly totals: readonly Total[];
}

interface Standing {
  readonly credits: number;
  readonly earned_credits: number;
}

/** The selected postings of one kind: how many, and their sum, below zero where they take credits away. */
interface Total extends Standing {
  readonly kind: (typeof kinds)[number];
  readonly postings: number;
}

/** SQL: what every posting of the account does to its spendable and its earned credits; `where` narrows each branch. */
const effects = (where: string) =>
  [
    ["from_purse", "spendable", "-amount", "0", 1],
    ["to_purse", "spendable", "amount", "0", 1],
    ["to_purse", "earned", "0", "amount", 1],
    // A transfer, which the second branch counts.
    ["from_purse", "earned", "0", "-amount", 0],
  ]
    .map(
      ([end, name, spendable, earned, counted]) => `
        select kind, ${spendable} as spendable, ${earned} as earned, ${counted} as counted, created_at, id from postings
        where ${end} = '${name}:' || $1 and ${end} like '${name}:%' and ${where}`,
    )
    .join(" union all ");

async function readTotals(tx: Queryable, accountId: AccountId, filter: StatementFilter): Promise<Total[]> {
  const { rows } = await tx.query(
    `select kind, sum(counted) as postings, sum(spendable) as spendable, sum(earned) as earned
     from (${effects(`${inPeriod} and ${selected}`)}) e group by kind order by kind`,
    filterValues(accountId, filter),
  );
  return rows.map(({ kind, postings, spendable, earned }) => ({
    kind,
    postings: Number(postings),
    credits: toSafeNumber(spendable),
    earned_credits: toSafeNumber(earned),
  }));
}

/** Counted back from what the account has now, whatever the filter selects. */
async function readPeriod(tx: Queryable, accountId: AccountId, { from, to }: StatementFilter) {
  const [now] = await readBalances(tx, [accountId]);
  const [, begin, end] = filterValues(accountId, { from, to });
  const { rows } = await tx.query(
    `select coalesce(sum(spendable), 0) as spendable, coalesce(sum(earned), 0) as earned,
       coalesce(sum(spendable) filter (where created_at >= $3::timestamptz), 0) as spendable_after,
       coalesce(sum(earned) filter (where created_at >= $3::timestamptz), 0) as earned_after
     from (${effects("created_at >= coalesce($2::timestamptz, '-infinity')")}) e`,
    [accountId, begin, end ?? "infinity"],
  );
  const since = rows[0];
  const { credits, earned } = now!;
  return {
    opening: standing(credits - since.spendable, earned - since.earned),
    closing: standing(credits - since.spendable_after, earned - since.earned_after),
  };
}

const standing = (credits: bigint, earned: bigint): Standing => ({
  credits: toSafeNumber(credits),
  earned_credits: toSafeNumber(earned),
});

/** The spendable credits after each posting of the page; undefined where postings between them are left out. */
async function balancesAfter(
  tx: Queryable,
  accountId: AccountId,
  { postings }: Statement,
  { kind, agent, run_id, key_id }: StatementFilter,
): Promise<number[] | undefined> {
  const [first] = postings;
  if (kind || agent || run_id || key_id || !first) return undefined;
  const { rows } = await tx.query(
    `select spendable - coalesce((
       select sum(e.spendable) from (${effects("created_at >= (select created_at from postings where id = $2)")}) e
       where (e.created_at, -e.id) > (select created_at, -id from postings where id = $2)), 0) as balance
     from balances where account_id = $1`,
    [accountId, BigInt(first.id.slice(4))],
  );
  let balance = toSafeNumber(rows[0].balance);
  return postings.map((entry) => {
    const after = balance;
    balance -= effectOf(entry).spendable;
    return after;
  });
}
