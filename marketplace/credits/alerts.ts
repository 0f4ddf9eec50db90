import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { AccountId } from "../ids.ts";
import { alertKinds, alertNames, type Marks, ofEachAlert } from "./alert-kinds.ts";

export const alertsRequest = z.strictObject(
  ofEachAlert((kind) => alertKinds[kind].mark.nullable().describe(alertKinds[kind].says)),
);

export const alertChanges = alertsRequest.partial();
export type AlertChanges = z.infer<typeof alertChanges>;

/** What the account's holder is told by e-mail, and where. */
export interface Alerts extends Marks {
  /** Null where there is none, or this service sends no e-mail: nothing is told then. */
  readonly email: string | null;
}

export async function readAlerts({ db, sendsMail }: AlertNeeds, accountId: AccountId): Promise<Alerts> {
  const { rows } = await db.query<Record<string, bigint | number | null>>(
    `select ${alertNames.join()} from credit_alerts where account_id = $1`,
    [accountId],
  );
  const email = sendsMail ? await emailOf(db, accountId) : undefined;
  const marks = ofEachAlert((kind) => {
    const mark = rows[0]?.[kind] ?? null;
    return mark === null ? null : toSafeNumber(BigInt(mark));
  });
  return { ...marks, email: email ?? null };
}

/** Whether the holder is told of nothing at all. */
export function asksNothing(marks: Marks): boolean {
  return alertNames.every((kind) => marks[kind] === null);
}

/**
 * Changes the alerts in `changes`; the others stay. A balance that is already below its mark has not fallen: its holder hears when it
 * next falls. 409 for an account without an e-mail address.
 */
export async function setAlerts(
  needs: AlertNeeds & { readonly db: Database },
  accountId: AccountId,
  changes: AlertChanges,
): Promise<Alerts> {
  return inTransaction(needs.db, async (tx) => {
    // The row of the alerts may not be there yet.
    await tx.query("select from accounts where id = $1 for no key update", [accountId]);
    const { email, ...before } = await readAlerts({ ...needs, db: tx }, accountId);
    const marks = ofEachAlert((kind) => (changes[kind] === undefined ? before[kind] : changes[kind]));
    if (!email && !asksNothing(marks)) {
      throw new ApiError("conflict", "This account has no e-mail that could be written to.");
    }
    if (asksNothing(marks)) await tx.query("delete from credit_alerts where account_id = $1", [accountId]);
    else await tx.query(keepAlerts, [accountId, ...alertNames.map((kind) => marks[kind])]);
    return { ...marks, email };
  });
}

/** `$2` and on are the marks. Whether a balance is below is known anew when its mark changes. */
const keepAlerts = `
  insert into credit_alerts as old (account_id, ${alertNames.join()}, is_below)
  select account_id, ${alertNames.map((_, index) => `$${index + 2}`).join()},
    coalesce(spendable < $${alertNames.indexOf("balance_below") + 2}, false) from balances where account_id = $1
  on conflict (account_id) do update set ${alertNames.map((kind) => `${kind} = excluded.${kind}`).join()},
    is_below = case when old.balance_below is distinct from excluded.balance_below then excluded.is_below
      else old.is_below end`;

export interface AlertNeeds {
  readonly db: Queryable;
  /** Whether the service has a mail server. */
  readonly sendsMail: boolean;
}
