import type { Queryable } from "../../../shared/postgres.ts";
import { forgetUnsettled } from "../../agents/count-days.ts";
import { historyDays } from "../../history-days.ts";
import { isFree, legalFor } from "./states.ts";

/**
 * Deletes results that were delivered as long ago as runs are kept; until then the wallet that paid is given copies. The rows stay for
 * good: that a payment was used is never forgotten, and no state changes. A result that its buyer has still to fetch is kept.
 */
export async function deleteDeliveredResults(db: Queryable): Promise<void> {
  const isDelivered = `delivered_at is not null and pg_column_size(output) > ${deletedBytes}`;
  await db.query(`with ${oldCalls(isDelivered)} ${updateOld("output = '{}'")}`);
}

/**
 * Deletes results that were withheld for as long, since their payments were not seen to be settled: any payer could have such kept for
 * good, for nothing. Should one turn out to be settled all the same, its agent runs again.
 */
export async function deleteUnpaidResults(db: Queryable): Promise<void> {
  await db.query(`
    with ${oldCalls(`${legalFor("dropResult")} and ${isFree}`)}, forgotten as (${forgetUnsettled("old")})
    ${updateOld("output = null, receipt = null, result_at = null")}`);
}

/** SQL: those of the calls whose results were kept as long ago. */
const oldCalls = (condition: string) => `
  old as (
    select network, payment_key from paid_calls
     where result_at >= now() - interval '${historyDays + missedDaysMax} days' and result_at < now() - interval '${historyDays} days'
       and ${condition}
     limit ${rowsPerPass} for update skip locked
  )`;

const updateOld = (assignments: string) => `
  update paid_calls p set ${assignments} from old where p.network = old.network and p.payment_key = old.payment_key`;

/** Days for which no copy may have run: what is older was deleted before, and is not looked at again. */
const missedDaysMax = 10;
/** More than what an empty object takes in a row. */
const deletedBytes = 8;
const rowsPerPass = 5_000;
