import type { Queryable } from "../../shared/postgres.ts";

/** Ends the leases of all payments under way, as waiting would: a payment whose holder has died may now be finished by any copy. */
export async function lapseAll(db: Queryable): Promise<void> {
  await db.query(
    "update payments set lease_until = now() - interval '1 second' where state in ('claimed', 'broadcast', 'unknown')",
  );
}
