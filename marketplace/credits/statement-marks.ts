import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { AccountId } from "../ids.ts";

/** Postings between two marks, save for those of the same moment. */
const postingsPerMark = 1_000;
/** Marks set before one read: of an account that was not read for long, several reads set all of them. */
const marksPerRead = 1_000;

/**
 * Sets the account's marks up to the present, each by a statement of its own. Throws ApiError 503 where many are still missing: whoever
 * asks again goes on from there.
 */
export async function setMarks(db: Queryable, accountId: AccountId): Promise<void> {
  await db.query(dropEarly, [accountId]);
  const { rows } = await db.query<{ line: string }>(lastClosed);
  for (let marks = 0; marks < marksPerRead; marks += 1) {
    const { rowCount } = await db.query(setMark, [accountId, rows[0]!.line]);
    if (rowCount === 0) return;
  }
  throw new ApiError("unavailable", "The account's postings are being added up; ask again.", {
    headers: { "retry-after": "1" },
  });
}

/**
 * Sets all of the account's marks anew, and has its earnings added up anew, at most once an hour: where these do not come to each other,
 * postings were dated before a mark, or a folded total's line, after it was set, while the clock was behind. False where that was done
 * already. Throws as setMarks.
 */
export async function setMarksAnew(db: Queryable, accountId: AccountId): Promise<boolean> {
  const before = setAnewAt.get(accountId);
  if (before !== undefined && before > Date.now() - setAnewEveryMs) return false;
  if (setAnewAt.size >= setAnewMax) setAnewAt.clear();
  setAnewAt.set(accountId, Date.now());
  await db.query("delete from purse_totals where purse = 'earned:' || $1", [accountId]);
  await db.query("delete from statement_marks where account_id = $1", [accountId]);
  await setMarks(db, accountId);
  return true;
}

const setAnewAt = new Map<AccountId, number>();
const setAnewEveryMs = 3_600_000;
const setAnewMax = 10_000;

/** SQL: what every posting of the account (`$1`) does to its spendable and its earned credits; `where` narrows each branch. */
export const effects = (where: string) =>
  branches
    .map(
      ([end, name, spendable, earned, counted]) => `
        select kind, ${counted} as postings, ${spendable} as spendable, ${earned} as earned from postings
        where ${end} = '${name}:' || $1 and ${end} like '${name}:%' and ${where}`,
    )
    .join(" union all ");

const branches = [
  ["from_purse", "spendable", "-amount", "0", 1],
  ["to_purse", "spendable", "amount", "0", 1],
  ["to_purse", "earned", "0", "amount", 1],
  // A transfer, which the second branch counts.
  ["from_purse", "earned", "0", "-amount", 0],
] as const;

/**
 * SQL: by kind, what all postings of the account (`$1`) before a moment come to. At most `postingsPerMark` and those that no mark can
 * count yet are read.
 */
export const totalsBefore = (moment: string) => `
  select kind, sum(postings)::bigint as postings, sum(spendable)::bigint as spendable, sum(earned)::bigint as earned from (
    select kind, postings, spendable, earned from statement_marks where account_id = $1 and through = ${lastMark(moment)}
    union all ${effects(`created_at >= coalesce(${lastMark(moment)}, '-infinity') and created_at < ${moment}`)}
  ) added group by kind`;

const lastMark = (moment: string) =>
  `(select max(through) from statement_marks where account_id = $1 and through <= ${moment})`;

/**
 * A posting is dated by the beginning of the transaction that writes it, so what was posted before the oldest transaction began is
 * all there. Five seconds: one that begins now is not seen at once. An hour: no transaction lives as long.
 */
const lastClosed = `
  select greatest(least(now() - interval '5 seconds', min(xact_start)), now() - interval '1 hour')::text as line
  from pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`;

/** Of a clock that was set back since: what is posted now is dated before them. */
const dropEarly = "delete from statement_marks where account_id = $1 and through > now() - interval '5 seconds'";

const last = "coalesce((select max(through) from statement_marks where account_id = $1), '-infinity')";

/** One mark, after the next postings before `$2`, if there are as many. Who sets it at the same time counts the same. */
const setMark = `
  with mark as materialized (
    select created_at + interval '1 microsecond' as through from (${branches
      .map(
        ([end, name]) => `(
        select created_at from postings where ${end} = '${name}:' || $1 and ${end} like '${name}:%'
          and created_at >= ${last} and created_at < $2::timestamptz order by created_at limit ${postingsPerMark})`,
      )
      .join(" union all ")}) next
    order by created_at offset ${postingsPerMark - 1} limit 1
  ), counted as (
    select kind, postings, spendable, earned from statement_marks where account_id = $1 and through = ${last}
    union all ${effects(`created_at >= ${last} and created_at < (select through from mark)`)}
  ), added as (
    insert into statement_marks (account_id, through, kind, postings, spendable, earned)
    select $1, mark.through, kind, sum(postings), sum(spendable), sum(earned)
    from mark, counted group by mark.through, kind on conflict do nothing
  )
  select from mark`;
