import type { Transaction } from "../shared/postgres.ts";

/** The name is of a former version, and stays, so that daemons of different versions exclude each other. */
const lock = "hashtext('settlement tally')";

/** One daemon rolls up at a time: false while another does. */
export async function takeRollUp(tx: Transaction): Promise<boolean> {
  const { rows } = await tx.query(`select pg_try_advisory_xact_lock(${lock}) as mine`);
  return rows[0].mine;
}

/** Waits for the roll-up under way; none begins until the transaction has ended. */
export async function keepRollUpsOut(tx: Transaction): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(${lock})`);
}
