import { randomUUID } from "node:crypto";
import { batched } from "../../shared/batch.ts";
import { type Database, inTransaction, type Queryable } from "../../shared/postgres.ts";
import type { JsonObject } from "../../shared/x402.ts";
import type { Output, Result } from "../connectors/connector.ts";
import type { AgentId, RunId } from "../ids.ts";
import { closeRun } from "../runs/record.ts";
import { endDebt } from "./debts.ts";
import { beginCalls, concludeCalls, type EndedCall, type KeptResult, keepResults } from "./paid-call-steps.ts";
import type { Proof, SettleTerms } from "./proof.ts";

/**
 * The payments of the per-call rail. A row says what is done; what is missing of its output and its transaction is
 * what remains, for whoever holds its lease. So a crash leaves a row that the same payment, posted again, takes up.
 */
export class PaidCalls {
  readonly #db: Database;
  readonly #leaseMs: number;
  /** The payments this copy of the service was lately asked for, oldest first. */
  readonly #seen = new Set<string>();
  /**
   * Begins a payment's call; undefined when the payment was used before, by anybody, on any copy of the service. A call
   * that runs before it is settled is there for all to see at once, and durable with its result: a database that
   * crashes in between forgets a run, but no money.
   */
  readonly begin: (call: NewPaidCall) => Promise<Held | undefined>;
  readonly #keep: (kept: KeptResult) => Promise<boolean>;
  readonly #conclude: (ended: EndedCall) => Promise<true>;

  constructor(db: Database, leaseMs: number) {
    this.#db = db;
    this.#leaseMs = leaseMs;
    this.begin = batched((calls) => beginCalls(db, leaseMs, calls), atOnce);
    this.#keep = batched((kept) => keepResults(db, kept), atOnce);
    this.#conclude = batched((ended) => concludeCalls(db, ended), { ...atOnce, windowMs: 20 });
  }

  /** Notes the payment and says whether this copy of the service noted it before; it knows nothing of other copies. */
  isKnownHere({ network, key }: PaidCallId): boolean {
    const id = `${network} ${key}`;
    const known = this.#seen.has(id);
    this.#seen.delete(id);
    this.#seen.add(id);
    if (this.#seen.size > seenMax) this.#seen.delete(this.#seen.values().next().value as string);
    return known;
  }

  /** The same without noting it. */
  wasSeenHere({ network, key }: PaidCallId): boolean {
    return this.#seen.has(`${network} ${key}`);
  }

  async find(id: PaidCallId): Promise<PaidCall | undefined> {
    const { rows } = await this.#db.query({
      name: "find paid call",
      text: `${select} where network = $1 and payment_key = $2`,
      values: [id.network, id.key],
    });
    return rows[0];
  }

  /** Calls that go on without their buyer and that nobody works on now, oldest first. */
  async toGoOn(limit: number): Promise<readonly AbandonedCall[]> {
    const { rows } = await this.#db.query(
      `select network, payment_key as key, product, call_digest as digest, requirements,
              proof->'paymentPayload' as "paymentPayload" from paid_calls
        where proof is not null and (output is null or transaction_id is null)
          and (lease_until is null or lease_until < now()) and updated_at < now() - interval '2 seconds'
        order by created_at limit $1`,
      [limit],
    );
    return rows.map(({ network, key, ...call }) => ({ ...call, id: { network, key } }));
  }

  /** Takes up a call whose result was not handed out and that nobody works on any more. */
  async takeUp(id: PaidCallId, runId: RunId): Promise<Held | undefined> {
    const holder = randomUUID();
    const { rows } = await this.#db.query({
      name: "take up paid call",
      text: `
        update paid_calls
           set holder = $3, lease_until = now() + $4::integer * interval '1 ms', updated_at = now(),
               run_id = case when output is null then $5 else run_id end
         where network = $1 and payment_key = $2 and delivered_at is null
           and (lease_until is null or lease_until < now())
        returning run_id as "runId", payer, transaction_id as transaction, output, receipt`,
      values: [id.network, id.key, holder, this.#leaseMs, runId],
    });
    return rows[0] && { id, holder, ...rows[0] };
  }

  /** As long as the work goes on the lease is extended; false when it was lost. */
  async extend(held: Held): Promise<boolean> {
    return this.#update(held, `lease_until = now() + $4::integer * interval '1 ms'`, [this.#leaseMs]);
  }

  /**
   * Keeps the result, before anything else is done with it; the call is then its run's record as well. Where the run was
   * opened with a row of its own, that ends with it.
   */
  async keepResult({ id, holder }: Held, result: Result, opened?: RunId): Promise<boolean> {
    const output = JSON.stringify(result.output);
    const kept = { id, holder, output, receipt: result.receipt ? JSON.stringify(result.receipt) : null };
    if (opened !== undefined) {
      return inTransaction(this.#db, async (tx) => {
        await closeRun(tx, opened, { success: true, ...result });
        const stillHeld = await keepAlone(tx, kept);
        if (stillHeld) await endDebt(tx, id);
        return stillHeld;
      });
    }
    return output.length > sharedOutputMax ? keepAlone(this.#db, kept) : this.#keep(kept);
  }

  /** From now on `debtor`, where an agent is what was paid, owes the result. */
  async keepTransaction(held: Held, { transaction, payer, debtor, terms }: Charged): Promise<void> {
    const { id, holder } = held;
    await this.#db.query({
      name: "keep transaction",
      text: `with kept as (
               update paid_calls set transaction_id = $4, payer = $5, updated_at = now()
                where network = $1 and payment_key = $2 and holder = $3 returning 1
             )
             insert into debts (network, payment_key, agent_id, payer, transaction_id, asset, amount)
             select $1, $2, $6, $5, $4, $7, $8 from kept where $6::text is not null
             on conflict do nothing`,
      values: [id.network, id.key, holder, transaction, payer, debtor ?? null, terms.asset, terms.amount],
    });
  }

  /**
   * The last step of a call whose result is kept: its result left at `handedOutAt`, or else (null) the buyer has still to
   * fetch it. Nobody waits for it, so it is written together with what else ends within moments, and tried again when the
   * database is away. A process or a database that crashes before it is on disk gives the result once more to the same
   * payment, for nothing.
   */
  async conclude(call: Held, handedOutAt: Date | null): Promise<void> {
    for (const pauseMs of concludeAgainMs) {
      try {
        await this.#conclude({ ...call, handedOutAt });
        return;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
    await this.#conclude({ ...call, handedOutAt });
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

  /** Forgets a call, with its result if it has one, that was never settled for who presented the payment. */
  async discard({ id, holder }: Held): Promise<void> {
    await this.#db.query({
      name: "discard paid call",
      text: `delete from paid_calls
              where network = $1 and payment_key = $2 and holder = $3 and transaction_id is null`,
      values: [id.network, id.key, holder],
    });
  }

  /** From now on the call is for another input. */
  async rebind(held: Held, digest: Buffer, agentVersion: number | undefined): Promise<boolean> {
    return this.#update(held, "call_digest = $4, agent_version = $5", [digest, agentVersion ?? null]);
  }

  async #update({ id, holder }: Held, assignments: string, values: readonly unknown[]): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: `paid call: ${assignments}`,
      text: `update paid_calls set ${assignments}, updated_at = now()
              where network = $1 and payment_key = $2 and holder = $3`,
      values: [id.network, id.key, holder, ...values],
    });
    return rowCount === 1;
  }
}

const seenMax = 10_000;

const atOnce = { sizeMax: 50, windowMs: 0 };
/** Characters. A longer one is written by itself, so that nobody waits for somebody else's. */
const sharedOutputMax = 65_536;
const concludeAgainMs = [250, 1_000, 4_000];

async function keepAlone(db: Queryable, kept: KeptResult): Promise<boolean> {
  const [stillHeld = false] = await keepResults(db, [kept]);
  return stillHeld;
}

export interface PaidCallId {
  readonly network: string;
  readonly key: string;
}

interface Charged {
  readonly transaction: string;
  readonly payer: string | null;
  readonly debtor: AgentId | undefined;
  readonly terms: { readonly asset: string; readonly amount: string };
}

/** The right to work on a call, and how far it was when it was taken. */
export interface Held extends Progress {
  readonly id: PaidCallId;
  readonly holder: string;
}

export interface Progress {
  readonly runId: RunId;
  readonly payer: string | null;
  readonly output: Output | null;
  readonly receipt: object | null;
  readonly transaction: string | null;
}

export interface PaidCall extends Progress {
  readonly product: string;
  readonly digest: Buffer;
  readonly requirements: SettleTerms;
  readonly deliveredAt: Date | null;
  /** Of the agent it was first used for, where it was one. */
  readonly agentVersion: number | null;
  /** Somebody is working on it. */
  readonly leased: boolean;
  /** It was last written to within a day. */
  readonly isRecent: boolean;
}

export interface AbandonedCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly digest: Buffer;
  readonly requirements: SettleTerms;
  readonly paymentPayload: JsonObject;
}

export interface NewPaidCall {
  readonly id: PaidCallId;
  readonly product: string;
  readonly agentVersion: number | undefined;
  readonly digest: Buffer;
  readonly requirements: SettleTerms;
  readonly payer: string | undefined;
  readonly runId: RunId;
  /** Set when the payment was settled before it came here. */
  readonly transaction: string | undefined;
  /** Kept only where the call goes on without the buyer. */
  readonly proof: Proof | undefined;
  /** It runs next, before it is settled. */
  readonly runsUnpaid: boolean;
}

const select = `
  select product, run_id as "runId", call_digest as digest, requirements, payer, output, receipt, transaction_id as transaction,
    delivered_at as "deliveredAt", coalesce(lease_until > now(), false) as leased,
    updated_at > now() - interval '1 day' as "isRecent", agent_version as "agentVersion"
  from paid_calls`;
