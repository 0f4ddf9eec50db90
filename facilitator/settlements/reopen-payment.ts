import type { Queryable } from "../../shared/postgres.ts";
import { reopenable } from "../payment-states.ts";

/** The chain says that a payment which failed, or could be claimed again, is settled: the reconciler asks it, and records how. */
export async function reopenPayment(db: Queryable, network: string, key: string): Promise<void> {
  await db.query(
    `update payments set state = 'claimed', retryable = false, claim_token = gen_random_uuid(), lease_until = now()
      where network = $1 and payment_key = $2 and ${reopenable()}`,
    [network, key],
  );
}
