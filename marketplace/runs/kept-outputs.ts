import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import type { Config } from "../config.ts";
import type { AccountId } from "../ids.ts";

/** Whatever its account's outputs take, one is kept for so long after its run, for a buyer whose answer was lost. */
export const outputsKeptHours = 24;
/** An account runs nothing more while its outputs take so many times what is kept of them for longer. */
const fullAt = 4;
export const outputLetGoText = "The run succeeded; its output is no longer kept.";
const accountsPerPass = 100;
const rowsPerStep = 100;
const stepsPerPass = 200;

export interface OutputsNeeds {
  readonly db: Database;
  readonly config: Pick<Config, "outputBytesPerAccount">;
}

/**
 * Lets the oldest outputs go of accounts whose outputs take more than `outputBytesPerAccount`; the runs and their postings stay. What
 * they take is counted in countDays. Any number of copies may do this at once.
 */
export async function letOutputsGo({ db, config: { outputBytesPerAccount: most } }: OutputsNeeds): Promise<void> {
  await db.query(noteFull, [BigInt(most) * BigInt(fullAt)]);
  const { rows } = await db.query<{ id: AccountId }>(
    `select account_id as id from output_days group by account_id having sum(bytes) > $1 order by sum(bytes) desc limit $2`,
    [most, accountsPerPass],
  );
  for (const { id } of rows) {
    for (let steps = 0; steps < stepsPerPass; steps += 1) {
      if (!(await inTransaction(db, (tx) => letOldestGo(tx, id, most)))) break;
    }
  }
}

/** Throws ApiError 429 for an account that runs nothing more for now. */
export async function requireRoomForOutputs(db: Queryable, accountId: AccountId): Promise<void> {
  const { rowCount } = await db.query("select from full_accounts where account_id = $1", [accountId]);
  if (rowCount === 0) return;
  throw new ApiError(
    "rate_limited",
    `The outputs of this account's runs of the last ${outputsKeptHours} hours take all the room that they may.`,
    { headers: { "retry-after": "3600" } },
  );
}

/** False once the account's outputs take no more than they may, or the oldest are too new. */
async function letOldestGo(tx: Transaction, accountId: AccountId, most: number): Promise<boolean> {
  const { rows } = await tx.query<{ day: string; bytes: bigint }>(
    "select day::text as day, bytes from output_days where account_id = $1 order by day for update",
    [accountId],
  );
  const taken = rows.reduce((sum, { bytes }) => sum + bytes, 0n);
  const oldest = rows.find(({ bytes }) => bytes > 0n);
  if (taken <= BigInt(most) || !oldest) return false;
  const over = taken - BigInt(most);
  const { rows: went } = await tx.query<{ runs: number; bytes: bigint }>(emptyRuns, [accountId, oldest.day, over]);
  const { runs, bytes } = went[0]!;
  if (runs > 0) {
    await tx.query("update output_days set bytes = greatest(0, bytes - $3) where account_id = $1 and day = $2", [
      accountId,
      oldest.day,
      bytes,
    ]);
    return true;
  }
  // Nothing of it is left to be let go: all is gone, or what is there is too new.
  const { rowCount } = await tx.query(
    `update output_days set bytes = 0 where account_id = $1 and day = $2 and ${isOver}`,
    [accountId, oldest.day],
  );
  return rowCount === 1;
}

/** SQL: all runs that began on the day ended long enough ago, however long they took. */
const isOver = `day < ((now() - interval '${outputsKeptHours} hours') at time zone 'utc')::date - 1`;

/** As few runs of the day as are over, the oldest first, from where the last step ended. */
const emptyRuns = `
  with next as (
    select r.id, r.created_at, pg_column_size(r.output) as bytes
    from output_days d join runs r on r.account_id = d.account_id
      and r.created_at >= coalesce(d.let_go_until, d.day::timestamp at time zone 'utc')
      and r.created_at < (d.day + 1)::timestamp at time zone 'utc'
    where d.account_id = $1 and d.day = $2 and r.output is not null and r.state <> 'running'
      and r.finished_at < now() - interval '${outputsKeptHours} hours'
    order by r.created_at, r.id limit ${rowsPerStep}
  ), oldest as (
    select * from (select *, sum(bytes) over (order by created_at, id) as through from next) added where through - bytes < $3
  ), emptied as (
    update runs set output = null from oldest where runs.id = oldest.id
  ), moved as (
    update output_days set let_go_until = newest.at from (select max(created_at) as at from oldest) newest
    where account_id = $1 and day = $2 and newest.at is not null
  )
  select count(*)::integer as runs, coalesce(sum(bytes), 0)::bigint as bytes from oldest`;

const noteFull = `
  with full_now as (select account_id from output_days group by account_id having sum(bytes) > $1),
  no_longer as (delete from full_accounts where account_id not in (select account_id from full_now))
  insert into full_accounts select account_id from full_now on conflict do nothing`;
