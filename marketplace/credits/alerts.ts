import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { ApiError } from "../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import { emailOf } from "../account-email.ts";
import type { AccountId } from "../ids.ts";

export const alertsRequest = z.strictObject({
  balance_below: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .nullable()
    .describe("Told each time the spendable credits fall below it; null for never."),
  cap_percent: z
    .int()
    .min(1)
    .max(100)
    .nullable()
    .describe(
      "Told of each key that has spent so much of its cap, once a day or once a month, as the cap is; null for never.",
    ),
});

export const alertChanges = alertsRequest.partial();
export type AlertChanges = z.infer<typeof alertChanges>;

/** What the account's holder is told by e-mail, and where. */
export interface Alerts {
  readonly balance_below: number | null;
  readonly cap_percent: number | null;
  /** Null where there is none, or this service sends no e-mail: nothing is told then. */
  readonly email: string | null;
}

export async function readAlerts({ db, sendsMail }: AlertNeeds, accountId: AccountId): Promise<Alerts> {
  const { rows } = await db.query<{ balance_below: bigint | null; cap_percent: number | null }>(
    "select balance_below, cap_percent from credit_alerts where account_id = $1",
    [accountId],
  );
  const { balance_below: below = null, cap_percent = null } = rows[0] ?? {};
  const email = sendsMail ? await emailOf(db, accountId) : undefined;
  return { balance_below: below === null ? null : toSafeNumber(below), cap_percent, email: email ?? null };
}

/**
 * Changes what is told; what is left out stays. A balance that is below already has not fallen: it is told when it falls the next time.
 * 409 for an account that cannot be written to.
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
    const below = changes.balance_below === undefined ? before.balance_below : changes.balance_below;
    const percent = changes.cap_percent === undefined ? before.cap_percent : changes.cap_percent;
    const asksNothing = below === null && percent === null;
    if (!email && !asksNothing) throw new ApiError("conflict", "This account has no e-mail that could be written to.");
    if (asksNothing) await tx.query("delete from credit_alerts where account_id = $1", [accountId]);
    else await tx.query(keepAlerts, [accountId, below, percent]);
    return { balance_below: below, cap_percent: percent, email };
  });
}

const keepAlerts = `
  insert into credit_alerts as old (account_id, balance_below, cap_percent, is_below)
  select account_id, $2, $3, coalesce(spendable < $2, false) from balances where account_id = $1
  on conflict (account_id) do update set balance_below = excluded.balance_below, cap_percent = excluded.cap_percent,
    is_below = case when old.balance_below is distinct from excluded.balance_below then excluded.is_below
      else old.is_below end`;

export interface AlertNeeds {
  readonly db: Queryable;
  /** Whether the service has a mail server. */
  readonly sendsMail: boolean;
}
