import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { admitOrRefuse } from "../admit-or-refuse.ts";
import type { AccountId } from "../ids.ts";
import { readBalances } from "./balance.ts";
import { effectOf, readStatement, type Statement } from "./statement.ts";
import { effects, setMarks, setMarksAnew, totalsBefore } from "./statement-marks.ts";
import { filterValues, inPeriod, type kinds, type StatementFilter, selected } from "./statement-rows.ts";
import { inReadingTurn } from "./statement-turns.ts";

const readsPerMinute = 30;
/** Postings that are looked through for those of an agent or a key, which no index finds. */
const lookedThroughMax = 100_000;
export const tooManyToLookThrough = `"from" and "to" must name days with at most ${lookedThroughMax.toLocaleString("en")} postings to look through.`;

/**
 * A page of the statement, the balances before and after the period, and the sums of the postings that the filter selects, all
 * of one moment. Without a filter but the days, opening and totals are the closing balance to the credit. 429 past the limit.
 */
export async function readAccountStatement(
  db: Database,
  accountId: AccountId,
  asked: Parameters<typeof readStatement>[2],
): Promise<AccountStatement> {
  await admitOrRefuse(db, `statement:${accountId}`, readsPerMinute);
  return inReadingTurn(accountId, async () => {
    await setMarks(db, accountId);
    const { addsUp, ...read } = await readAtOnce(db, accountId, asked);
    if (addsUp || !(await setMarksAnew(db, accountId))) return read;
    const { addsUp: _, ...anew } = await readAtOnce(db, accountId, asked);
    return anew;
  });
}

/** `addsUp`: up to now it comes to the account's balance. */
function readAtOnce(
  db: Database,
  accountId: AccountId,
  asked: Parameters<typeof readStatement>[2],
): Promise<AccountStatement & { readonly addsUp: boolean }> {
  return inTransaction(db, async (tx) => {
    await tx.query("set transaction isolation level repeatable read, read only");
    const [before, through] = await readPeriod(tx, accountId, asked);
    requireFew(asked, before, through);
    const statement = await readStatement(tx, accountId, asked);
    const totals = await readTotals(tx, accountId, asked, { before, through });
    const balances = await balancesAfter(tx, accountId, statement, asked);
    const postings = statement.postings.map((entry, at) => ({ ...entry, balance: balances?.[at] ?? null }));
    const { cursor } = statement;
    const [opening, closing] = [standing(before), standing(through)];
    const [now] = asked.to ? [] : await readBalances(tx, [accountId]);
    const addsUp = !now || (Number(now.credits) === closing.credits && Number(now.earned) === closing.earned_credits);
    return { postings, cursor, opening, closing, totals, addsUp };
  });
}

/**
 * A page of the statement alone. Where its filters have much looked through, as readAccountStatement: in a turn, and for an agent or
 * a key as rarely.
 */
export async function listPostings(
  db: Database,
  accountId: AccountId,
  asked: Parameters<typeof readStatement>[2],
): Promise<Statement> {
  const { kind, agent, key_id } = asked;
  if (!kind && !agent && !key_id) return readStatement(db, accountId, asked);
  if (agent || key_id) await admitOrRefuse(db, `statement:${accountId}`, readsPerMinute);
  return inReadingTurn(accountId, async () => {
    await requireLookedThrough(db, accountId, asked);
    return readStatement(db, accountId, asked);
  });
}

/** Sets the account's marks; throws ApiError 422 where too many postings would have to be looked through. Within a reading turn. */
export async function requireLookedThrough(db: Database, accountId: AccountId, filter: StatementFilter): Promise<void> {
  await setMarks(db, accountId);
  if (filter.agent || filter.key_id) requireFew(filter, ...(await readPeriod(db, accountId, filter)));
}

function requireFew({ agent, key_id, run_id }: StatementFilter, before: readonly Sum[], through: readonly Sum[]): void {
  if (run_id || !(agent || key_id)) return;
  const count = (sums: readonly Sum[]) => sums.reduce((sum, { postings }) => sum + postings, 0n);
  if (count(through) - count(before) <= BigInt(lookedThroughMax)) return;
  throw new ApiError("invalid_value", tooManyToLookThrough, { body: { field: "from" } });
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

/** What all postings of one kind come to. */
interface Sum {
  readonly kind: Total["kind"];
  readonly postings: bigint;
  readonly spendable: bigint;
  readonly earned: bigint;
}

/** What the account's postings come to before the period, and through its end. */
async function readPeriod(
  db: Queryable,
  accountId: AccountId,
  { from, to }: StatementFilter,
): Promise<[before: readonly Sum[], through: readonly Sum[]]> {
  const [, begin, end] = filterValues(accountId, { from, to });
  const sumsBefore = async (moment: unknown) =>
    (await db.query<Sum>(totalsBefore("$2::timestamptz"), [accountId, moment])).rows;
  return [begin === null ? [] : await sumsBefore(begin), await sumsBefore(end ?? "infinity")];
}

/** Those of an agent, a key or a run are added up one by one. */
async function readTotals(
  tx: Queryable,
  accountId: AccountId,
  filter: StatementFilter,
  { before, through }: { readonly before: readonly Sum[]; readonly through: readonly Sum[] },
): Promise<Total[]> {
  const { kind, agent, run_id, key_id } = filter;
  if (!agent && !run_id && !key_id) {
    return through
      .filter((sum) => !kind || kind.includes(sum.kind))
      .map((sum) => less(sum, before))
      .filter(({ postings }) => postings > 0n)
      .map(asTotal)
      .toSorted((a, b) => (a.kind < b.kind ? -1 : 1));
  }
  const { rows } = await tx.query<Sum>(
    `select kind, sum(postings)::bigint as postings, sum(spendable)::bigint as spendable, sum(earned)::bigint as earned
     from (${effects(`${inPeriod} and ${selected(filter)}`)}) e group by kind order by kind`,
    filterValues(accountId, filter),
  );
  return rows.map(asTotal);
}

function less(sum: Sum, before: readonly Sum[]): Sum {
  const one = before.find(({ kind }) => kind === sum.kind) ?? { postings: 0n, spendable: 0n, earned: 0n };
  return {
    kind: sum.kind,
    postings: sum.postings - one.postings,
    spendable: sum.spendable - one.spendable,
    earned: sum.earned - one.earned,
  };
}

const asTotal = ({ kind, postings, spendable, earned }: Sum): Total => ({
  kind,
  postings: Number(postings),
  credits: toSafeNumber(spendable),
  earned_credits: toSafeNumber(earned),
});

const standing = (sums: readonly Sum[]): Standing => ({
  credits: toSafeNumber(sums.reduce((sum, { spendable }) => sum + spendable, 0n)),
  earned_credits: toSafeNumber(sums.reduce((sum, { earned }) => sum + earned, 0n)),
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
    `select sum(spendable)::bigint as balance from (
       select spendable from (${totalsBefore(firstAt)}) before
       union all
       select spendable from (${effects(`created_at = ${firstAt} and id >= $2`)}) at_once
     ) through`,
    [accountId, BigInt(first.id.slice(4))],
  );
  let balance = toSafeNumber(rows[0].balance);
  return postings.map((entry) => {
    const after = balance;
    balance -= effectOf(entry).spendable;
    return after;
  });
}

/** SQL: when the posting `$2` was made, which a Date has not to the microsecond. */
const firstAt = "(select created_at from postings where id = $2)";
