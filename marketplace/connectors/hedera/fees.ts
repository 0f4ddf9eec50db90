import type { Queryable } from "../../../shared/postgres.ts";
import type { Hedera } from "./hedera.ts";

/**
 * Replaces the highest possible fees of effects that are over by what the chain has charged the operator for them. Fees
 * that the mirror does not show yet stay booked in full. Copies may do this at once.
 */
export async function recordFees(db: Queryable, hedera: Hedera | undefined): Promise<void> {
  if (!hedera?.operator) return;
  const { rows } = await db.query<Charged>(
    `select key, transaction_ids as "transactionIds", valid_until as "validUntil" from effects
     where fee_open > 0 and state <> 'open' and network = $1 order by updated_at limit 100`,
    [hedera.network],
  );
  if (rows.length === 0) return;
  // First how far the mirror had come: a transaction that it does not show then is never charged.
  const reachedMs = await hedera.mirror.reachedMs();
  for (const { key, transactionIds, validUntil } of rows) {
    const records = (await Promise.all(transactionIds.map((id) => hedera.mirror.records(id)))).flat();
    const isOver = reachedMs > validUntil.getTime() + marginMs;
    if (records.length < transactionIds.length && !isOver) continue;
    const fee = records.reduce((sum, { charged_tx_fee: charged }) => sum + BigInt(charged), 0n);
    await db.query(
      `update effects set fee = fee - fee_open + $3, fee_open = 0
       where key = $1 and transaction_ids = $2 and state <> 'open' and fee_open > 0`,
      [key, transactionIds, fee],
    );
  }
}

interface Charged {
  readonly key: string;
  readonly transactionIds: readonly string[];
  readonly validUntil: Date;
}

/** Nodes' clocks may be late by this much. */
const marginMs = 5_000;
