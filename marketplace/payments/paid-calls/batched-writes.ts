import { randomUUID } from "node:crypto";
import type { Queryable } from "../../../shared/postgres.ts";
import type { LeasedCall, NewPaidCall } from "./paid-call.ts";

/*
 * The three writes that every paid call makes, each for all calls that are ready for it at the same moment: they cost
 * one round trip, one commit and one wait for the disk together, and go on together. They are written in the order of
 * their keys, so that two copies of the service that write the same ones do not block each other for good.
 */

/** Inserts the rows, and of what is paid already what is owed; what it gives for a payment that was used before is undefined. */
export async function beginCalls(
  db: Queryable,
  leaseMs: number,
  calls: readonly NewPaidCall[],
): Promise<ReadonlyArray<LeasedCall | undefined>> {
  const begun = calls.map(({ id, runId, payer = null, transaction = null }): LeasedCall => {
    return {
      id,
      holder: randomUUID(),
      by: "buyer",
      isResumed: false,
      mayHavePaid: false,
      runId,
      payer,
      transaction,
      output: null,
      receipt: null,
    };
  });
  const rows = inOrder(calls.map((call, index) => ({ ...call, holder: begun[index]!.holder })));
  const { rows: inserted } = await db.query<{ holder: string }>({
    name: "begin paid calls",
    text: `
      with begun as (
      insert into paid_calls (network, payment_key, product, agent_version, call_digest, payload_digest, requirements,
                              payer, run_id, transaction_id, proof, holder, lease_until)
      select call.*, now() + $13::integer * interval '1 ms'
        from unnest($1::text[], $2::text[], $3::text[], $4::integer[], $5::bytea[], $6::bytea[], $7::json[], $8::text[],
                    $9::text[], $10::text[], $11::json[], $12::uuid[]) call,
             -- Whether the statement waits for the disk.
             set_config('synchronous_commit', case when $14 then current_setting('synchronous_commit') else 'off' end, true)
      on conflict do nothing
      returning *
      ), owed as (
        insert into debts (network, payment_key, agent_id, payer, transaction_id, asset, amount)
        select b.network, b.payment_key, a.id, b.payer, b.transaction_id, b.requirements->>'asset', b.requirements->>'amount'
          from begun b join agents a on a.id = b.product
         where b.transaction_id is not null
        on conflict do nothing
      )
      select holder from begun`,
    values: [
      rows.map(({ id }) => id.network),
      rows.map(({ id }) => id.key),
      rows.map(({ product }) => product),
      rows.map(({ agentVersion }) => agentVersion ?? null),
      rows.map(({ digest }) => digest),
      rows.map(({ payloadDigest }) => payloadDigest),
      rows.map(({ requirements }) => JSON.stringify(requirements)),
      rows.map(({ payer }) => payer ?? null),
      rows.map(({ runId }) => runId),
      rows.map(({ transaction }) => transaction ?? null),
      rows.map(({ payload }) => (payload ? `{"paymentPayload":${payload.jsonText}}` : null)),
      rows.map(({ holder }) => holder),
      leaseMs,
      rows.some(({ runsUnpaid }) => !runsUnpaid),
    ],
  });
  const taken = new Set(inserted.map(({ holder }) => holder));
  return begun.map((held) => (taken.has(held.holder) ? held : undefined));
}

/** Writes the results; false for a call that is not held any more. */
export async function keepResults(db: Queryable, kept: readonly KeptResult[]): Promise<readonly boolean[]> {
  const ordered = inOrder(kept);
  const { rows } = await db.query<{ holder: string }>({
    name: "keep paid results",
    text: "select holder from keep_paid_results($1, $2, $3, $4, $5) holder",
    values: [...heldIn(ordered), ordered.map(({ output }) => output), ordered.map(({ receipt }) => receipt)],
  });
  const held = new Set(rows.map(({ holder }) => holder));
  return kept.map(({ holder }) => held.has(holder));
}

/** Writes the ends of calls: no buyer waits for it, but a sale that is not on disk would be missing from its seller's figures. */
export async function concludeCalls(db: Queryable, ended: readonly EndedCall[]): Promise<readonly true[]> {
  const ordered = inOrder(ended);
  await db.query({
    name: "conclude paid calls",
    text: "select conclude_paid_calls($1, $2, $3, $4, $5, $6)",
    values: [
      ...heldIn(ordered),
      ordered.map(({ transaction }) => transaction),
      ordered.map(({ payer }) => payer),
      ordered.map(({ handedOutAt }) => handedOutAt),
    ],
  });
  return ended.map(() => true);
}

export interface KeptResult extends Pick<LeasedCall, "id" | "holder"> {
  /** JSON. */
  readonly output: string;
  readonly receipt: string | null;
}

export interface EndedCall extends Pick<LeasedCall, "id" | "holder" | "transaction" | "payer"> {
  readonly handedOutAt: Date | null;
}

function inOrder<Call extends Pick<LeasedCall, "id">>(calls: readonly Call[]): readonly Call[] {
  const place = ({ id }: Call) => `${id.network} ${id.key}`;
  return calls.length === 1 ? calls : calls.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

function heldIn(calls: ReadonlyArray<Pick<LeasedCall, "id" | "holder">>): ReadonlyArray<readonly string[]> {
  return [calls.map(({ id }) => id.network), calls.map(({ id }) => id.key), calls.map(({ holder }) => holder)];
}
