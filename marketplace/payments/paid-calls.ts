import { randomUUID } from "node:crypto";
import type { Database } from "../../shared/postgres.ts";
import type { PaymentRequirements } from "../../shared/x402.ts";
import type { Output } from "../connectors/connector.ts";
import type { RunId } from "../ids.ts";
import type { Proof } from "./proof.ts";

/**
 * The payments of the per-call rail. A row says what is done; what is missing of its output and its transaction is
 * what remains, for whoever holds its lease. So a crash leaves a row that the same payment, posted again, takes up.
 */
export class PaidCalls {
  readonly #db: Database;
  readonly #leaseMs: number;

  constructor(db: Database, leaseMs: number) {
    this.#db = db;
    this.#leaseMs = leaseMs;
  }

  async find(id: PaidCallId): Promise<PaidCall | undefined> {
    const { rows } = await this.#db.query({
      name: "find paid call",
      text: `${select} where network = $1 and payment_key = $2`,
      values: [id.network, id.key],
    });
    return rows[0];
  }

  /** Begins a payment's call; undefined when the payment was used before, by anybody, on any copy of the service. */
  async begin(call: NewPaidCall): Promise<Held | undefined> {
    const holder = randomUUID();
    const { rowCount } = await this.#db.query({
      name: "begin paid call",
      text: `
        insert into paid_calls (network, payment_key, product, call_digest, requirements, payer, run_id, transaction_id,
                                holder, lease_until, proof)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + $10::integer * interval '1 ms', $11)
        on conflict do nothing`,
      values: [
        call.id.network,
        call.id.key,
        call.product,
        call.digest,
        JSON.stringify(call.requirements),
        call.payer ?? null,
        call.runId,
        call.transaction ?? null,
        holder,
        this.#leaseMs,
        call.proof === undefined ? null : JSON.stringify(call.proof),
      ],
    });
    return rowCount === 1 ? { id: call.id, holder } : undefined;
  }

  /** Calls that go on without their buyer and that nobody works on now, oldest first. */
  async toGoOn(limit: number): Promise<readonly AbandonedCall[]> {
    const { rows } = await this.#db.query(
      `select network, payment_key as key, product, call_digest as digest, requirements, proof from paid_calls
        where proof is not null and (output is null or transaction_id is null)
          and (lease_until is null or lease_until < now()) and updated_at < now() - interval '2 seconds'
        order by updated_at limit $1`,
      [limit],
    );
    return rows.map(({ network, key, ...call }) => ({ ...call, id: { network, key } }));
  }

  /** Takes up a call that is not finished and that nobody works on any more. */
  async takeUp(id: PaidCallId, runId: RunId): Promise<Held | undefined> {
    const holder = randomUUID();
    const { rowCount } = await this.#db.query({
      name: "take up paid call",
      text: `
        update paid_calls
           set holder = $3, lease_until = now() + $4::integer * interval '1 ms', updated_at = now(),
               run_id = case when output is null then $5 else run_id end
         where network = $1 and payment_key = $2 and (output is null or transaction_id is null)
           and (lease_until is null or lease_until < now())`,
      values: [id.network, id.key, holder, this.#leaseMs, runId],
    });
    return rowCount === 1 ? { id, holder } : undefined;
  }

  /** As long as the work goes on the lease is extended; false when it was lost. */
  async extend(held: Held): Promise<boolean> {
    return this.#update(held, `lease_until = now() + $4::integer * interval '1 ms'`, [this.#leaseMs]);
  }

  /** Keeps the result, before anything else is done with it. */
  async keepResult(held: Held, output: Output, receipt: object | undefined): Promise<boolean> {
    return this.#update(held, "output = $4, receipt = $5", [
      JSON.stringify(output),
      receipt && JSON.stringify(receipt),
    ]);
  }

  async keepTransaction(held: Held, transaction: string, payer: string | undefined): Promise<boolean> {
    return this.#update(held, "transaction_id = $4, payer = coalesce($5, payer)", [transaction, payer ?? null]);
  }

  /** Puts the call down as it is, for the same payment to take up. */
  async putDown(held: Held): Promise<void> {
    await this.#update(held, "holder = null, lease_until = null", []);
  }

  /** Forgets a call that cost nothing and delivered nothing: the payment is as good as new. */
  async forget({ id, holder }: Held): Promise<void> {
    await this.#db.query({
      name: "forget paid call",
      text: `delete from paid_calls
              where network = $1 and payment_key = $2 and holder = $3 and output is null and transaction_id is null`,
      values: [id.network, id.key, holder],
    });
  }

  /** Hands a finished call's result out: true for the first who asks. */
  async deliver(id: PaidCallId): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: "deliver paid call",
      text: `update paid_calls set delivered_at = now(), holder = null, lease_until = null, updated_at = now()
              where network = $1 and payment_key = $2 and output is not null and transaction_id is not null
                and delivered_at is null`,
      values: [id.network, id.key],
    });
    return rowCount === 1;
  }

  /** The answer certainly did not reach the buyer; the same payment may fetch it again. */
  async undeliver(id: PaidCallId): Promise<void> {
    await this.#db.query("update paid_calls set delivered_at = null where network = $1 and payment_key = $2", [
      id.network,
      id.key,
    ]);
  }

  async #update({ id, holder }: Held, assignments: string, values: unknown[]): Promise<boolean> {
    const { rowCount } = await this.#db.query(
      `update paid_calls set ${assignments}, updated_at = now()
        where network = $1 and payment_key = $2 and holder = $3`,
      [id.network, id.key, holder, ...values],
    );
    return rowCount === 1;
  }
}

export interface PaidCallId {
  readonly network: string;
  readonly key: string;
}

/** The right to work on a call. */
export interface Held {
  readonly id: PaidCallId;
  readonly holder: string;
}

export interface PaidCall {
  readonly runId: RunId;
  readonly digest: Buffer;
  readonly requirements: PaymentRequirements;
  readonly payer: string | null;
  readonly output: Output | null;
  readonly receipt: object | null;
  readonly transaction: string | null;
  readonly deliveredAt: Date | null;
  /** Somebody is working on it. */
  readonly leased: boolean;
}

export interface AbandonedCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly digest: Buffer;
  readonly requirements: PaymentRequirements;
  readonly proof: Proof;
}

interface NewPaidCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly digest: Buffer;
  readonly requirements: PaymentRequirements;
  readonly payer: string | undefined;
  readonly runId: RunId;
  /** Set when the payment was settled before it came here. */
  readonly transaction: string | undefined;
  /** Kept only where the call goes on without the buyer. */
  readonly proof: Proof | undefined;
}

const select = `
  select run_id as "runId", call_digest as digest, requirements, payer, output, receipt, transaction_id as transaction,
    delivered_at as "deliveredAt", coalesce(lease_until > now(), false) as leased
  from paid_calls`;
