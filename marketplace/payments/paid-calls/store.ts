import { randomUUID } from "node:crypto";
import { batched } from "../../../shared/batch.ts";
import { ApiError } from "../../../shared/errors.ts";
import { type Database, inTransaction, type Queryable } from "../../../shared/postgres.ts";
import { forgetUnsettled } from "../../agents/count-days.ts";
import { outputJson } from "../../connectors/output-json.ts";
import type { Result } from "../../connectors/result.ts";
import { historyDays } from "../../history-days.ts";
import type { AccountId, AgentId, RunId } from "../../ids.ts";
import { closeRun } from "../../runs/record.ts";
import { WaitingPosts } from "../../waiting-posts.ts";
import { endDebt } from "../debts.ts";
import type { PaidCallId } from "../payment-payload.ts";
import { beginCalls, concludeCalls, type EndedCall, type KeptResult, keepResults } from "./batched-writes.ts";
import { LeavingResults } from "./leaving-results.ts";
import {
  type AbandonedCall,
  effectKeyOf,
  type LeasedCall,
  type NewPaidCall,
  type PaidCall,
  type UnsettledCalls,
} from "./paid-call.ts";
import { type Actor, inStates, isFree, isLaterPost, legalFor, requireLegal } from "./states.ts";

/**
 * The record of paid calls, one row a payment; states.ts says what may become of one. Where a row lacks output or
 * transaction, the post that holds its lease still has to run or settle. So a crash leaves a row that the next post of
 * the same payment resumes.
 */
export class PaidCalls {
  readonly #db: Database;
  readonly #leaseMs: number;
  /** The payments this copy of the service was lately asked for, oldest first. */
  readonly #seen = new Set<string>();
  readonly leaving = new LeavingResults();
  readonly waitingPosts = new WaitingPosts(
    ({ network, key }: PaidCallId) => `${network} ${key}`,
    (id) => this.find(id),
  );
  /**
   * Begins a payment's call; undefined when the payment was used before, by any caller, on any copy of the service. A call
   * that runs before it is settled is there for all to see at once, and durable with its result: a database that
   * crashes in between forgets a run, but no money.
   */
  readonly begin: (call: NewPaidCall) => Promise<LeasedCall | undefined>;
  readonly #keep: (kept: KeptResult) => Promise<boolean>;
  readonly #conclude: (ended: EndedCall) => Promise<true>;

  constructor(db: Database, leaseMs: number) {
    this.#db = db;
    this.#leaseMs = leaseMs;
    this.begin = batched((calls) => beginCalls(db, leaseMs, calls), atOnce);
    this.#keep = batched((kept) => keepResults(db, kept), atOnce);
    this.#conclude = batched((ended) => concludeCalls(db, ended), { ...atOnce, windowMs: 20 });
  }

  /**
   * Begins a purchase of credits for `buyer`, whose account must not be closed: closing it waits for this, and is refused once a
   * purchase was begun. 401 for an account that was closed meanwhile, as for any later call.
   */
  async beginPurchase(call: NewPaidCall, buyer: AccountId): Promise<LeasedCall | undefined> {
    return inTransaction(this.#db, async (tx) => {
      const open = await tx.query("select from accounts where id = $1 and state <> 'closed' for share", [buyer]);
      if (open.rowCount === 0) throw new ApiError("unauthenticated", "The account is closed.");
      const [begun] = await beginCalls(tx, this.#leaseMs, [call]);
      return begun;
    });
  }

  /** Notes the payment and says whether this copy of the service noted it before; it knows nothing of other copies. */
  markSeenHere({ network, key }: PaidCallId): boolean {
    const id = `${network} ${key}`;
    const known = this.#seen.has(id);
    this.#seen.delete(id);
    this.#seen.add(id);
    if (this.#seen.size > seenMax) this.#seen.delete(this.#seen.values().next().value as string);
    return known;
  }

  /** Whether this copy noted the payment; does not note it. */
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

  /**
   * Calls that go on without their buyer and whose lease has lapsed, on all but these networks; first what was tried longest ago. One that
   * could not be ended for long is tried more seldom.
   */
  async findAbandoned(limit: number, but: readonly string[]): Promise<readonly AbandonedCall[]> {
    const { rows } = await this.#db.query(
      `select network, payment_key as key, product, call_digest as digest, requirements, proof from paid_calls
        where proof is not null and ${inStates(["begun", "settled", "ran"])}
          and ${isFree} and updated_at < now() - least(interval '1 hour', greatest(interval '2 seconds', (updated_at - created_at) / 20))
          and network <> all($2)
        order by updated_at limit $1`,
      [limit, but],
    );
    // Read here: of texts that JSON may hold PostgreSQL refuses some, and with them every row that is asked for.
    return rows.map(({ network, key, proof: { paymentPayload }, ...call }) => ({
      ...call,
      paymentPayload,
      id: { network, key },
    }));
  }

  /**
   * Calls that are not known to be settled, begun after a place in their order, at most a day ago, and at least a quarter of an hour: by
   * then a settlement that was asked for has an end. And the place to go on from. Purchases of credits go on by themselves (findAbandoned).
   */
  async findUnsettled(limit: number, after = beginning): Promise<UnsettledCalls> {
    const { rows: times } = await this.#db.query<{ end: string }>(
      "select (now() - interval '15 minutes')::text as end",
    );
    const { end } = times[0]!;
    const { rows } = await this.#db.query(
      `select network, payment_key as key, product, requirements, created_at as "begunAt", created_at::text as at from paid_calls
        where created_at >= greatest(now() - interval '1 day', $2::timestamptz) and created_at < $5::timestamptz
          and (created_at, network, payment_key) > ($2::timestamptz, $3, $4)
          and proof is null and ${inStates(["begun", "ran"])}
        order by created_at, network, payment_key limit $1`,
      [limit, after.at, after.network, after.key, end],
    );
    const calls = rows.map(({ network, key, at: _, ...call }) => ({ ...call, id: { network, key } }));
    return { calls, next: rows.length < limit ? { ...beginning, at: end } : rows.at(-1) };
  }

  /**
   * The lease of a call whose result was not delivered; undefined while another post holds it. It goes on as the run that began its
   * effect, which the recovery may be ending: as another, one payment would count as two runs that succeeded. `seen` is the input
   * that the call was seen with: undefined, too, when it was bound to another since.
   */
  async acquireLease(id: PaidCallId, runId: RunId, by: Actor, seen?: Buffer): Promise<LeasedCall | undefined> {
    const holder = randomUUID();
    const { rows } = await this.#db.query({
      name: "lease paid call",
      text: `
        update paid_calls
           set holder = $3, lease_until = now() + $4::integer * interval '1 ms', updated_at = now(),
               run_id = case when output is not null then run_id
                 else coalesce((select e.run_id from effects e where e.key = $6 and e.state <> 'void'), $5) end
         where network = $1 and payment_key = $2 and ${legalFor("acquireLease")}
           and ${isFree} and ($7::bytea is null or call_digest = $7)
        returning run_id as "runId", payer, transaction_id as transaction, output, receipt, may_have_paid as "mayHavePaid"`,
      values: [id.network, id.key, holder, this.#leaseMs, runId, effectKeyOf(id), seen ?? null],
    });
    return rows[0] && { id, holder, by, isResumed: true, ...rows[0] };
  }

  /** Extends the lease while the work goes on; false when it was lost. */
  async extend(held: LeasedCall): Promise<boolean> {
    return this.#update(held, `lease_until = now() + $4::integer * interval '1 ms'`, [this.#leaseMs]);
  }

  /**
   * Keeps the result, before anything else is done with it; the call is then its run's record as well. Where the run was
   * opened with a row of its own, that ends with it.
   */
  async keepResult(call: LeasedCall, result: Result, opened?: RunId): Promise<boolean> {
    requireLegal("keepResult", call);
    const { id, holder } = call;
    const output = outputJson(result.output);
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
  async keepTransaction(held: LeasedCall, { transaction, payer, debtor, requirements }: Charged): Promise<void> {
    requireLegal("keepTransaction", held);
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
      values: [id.network, id.key, holder, transaction, payer, debtor ?? null, requirements.asset, requirements.amount],
    });
  }

  /**
   * The last step of a call whose result is kept: its result left at `handedOutAt`, or else (null) the buyer has still to
   * fetch it. No caller waits for it, so it is written together with what else ends within moments, and tried again when the
   * database is away. A process or a database that crashes before it is on disk gives the result once more to the same
   * payment, for nothing.
   */
  async conclude(call: LeasedCall, handedOutAt: Date | null): Promise<void> {
    if (handedOutAt !== null) this.leaving.note(call.id, { transaction: call.transaction, deliveredAt: handedOutAt });
    await this.#concludeAtLast(call, handedOutAt).finally(() => this.leaving.end(call.id));
  }

  async #concludeAtLast(call: LeasedCall, handedOutAt: Date | null): Promise<void> {
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

  /** Leaves the call as it is, for the next post of the same payment to resume; `mayHavePaid` is kept from then on. */
  async releaseLease({ id, holder }: LeasedCall, mayHavePaid = false): Promise<void> {
    await this.#db.query({
      name: "release paid call",
      text: `update paid_calls set holder = null, lease_until = null, may_have_paid = may_have_paid or $4, updated_at = now()
              where network = $1 and payment_key = $2 and holder = $3`,
      values: [id.network, id.key, holder, mayHavePaid],
    });
  }

  /**
   * Forgets a call that cost nothing and delivered nothing: the payment is as good as new. A call that an earlier post
   * began stays, with its lease released: what this post heard about the payment may not hold for what the earlier post
   * did with it.
   */
  async forget(call: LeasedCall): Promise<void> {
    if (isLaterPost(call)) return this.releaseLease(call);
    const { id, holder } = call;
    await this.#db.query({
      name: "forget paid call",
      text: `delete from paid_calls
              where network = $1 and payment_key = $2 and holder = $3 and ${legalFor("forget")}`,
      values: [id.network, id.key, holder],
    });
  }

  /**
   * Forgets a call, with its result if it has one, that was never settled for the caller who presented the payment. A call that
   * an earlier post began stays: of that one's payment a later post shows nothing.
   */
  async discard(call: LeasedCall): Promise<void> {
    if (isLaterPost(call)) return this.releaseLease(call);
    const { id, holder } = call;
    await this.#db.query({
      name: "discard paid call",
      text: `delete from paid_calls
              where network = $1 and payment_key = $2 and holder = $3 and ${legalFor("discard")}`,
      values: [id.network, id.key, holder],
    });
  }

  /** Lets the result go of a call that is not settled and that no post works on, where the run that made it made files; that run. */
  async dropFiles({ network, key }: PaidCallId): Promise<RunId | undefined> {
    const { rows } = await this.#db.query<{ runId: RunId }>({
      name: "drop files of paid call",
      text: `
        with dropped as (
          update paid_calls p set output = null, receipt = null, result_at = null
           where network = $1 and payment_key = $2 and ${legalFor("dropResult")} and ${isFree}
             and exists (select from files where files.run_id = p.run_id)
          returning network, payment_key, run_id
        ), forgotten as (
          ${forgetUnsettled("dropped")}
        )
        select run_id as "runId" from dropped`,
      values: [network, key],
    });
    return rows[0]?.runId;
  }

  /** A call that is not known to be settled goes on with its buyer alone, once that has been asked for `goesOnFor`. */
  async leaveToBuyer({ network, key }: PaidCallId): Promise<void> {
    await this.#db.query({
      name: "leave paid call to its buyer",
      text: `update paid_calls set proof = null
              where network = $1 and payment_key = $2 and ${inStates(["begun"])} and ${isFree}
                and created_at < now() - interval '${goesOnFor}'`,
      values: [network, key],
    });
  }

  /** From now on the call is for another input. */
  async rebind(held: LeasedCall, digest: Buffer, agentVersion: number | undefined): Promise<boolean> {
    requireLegal("rebind", held);
    return this.#update(held, "call_digest = $4, agent_version = $5", [digest, agentVersion ?? null]);
  }

  async #update({ id, holder }: LeasedCall, assignments: string, values: readonly unknown[]): Promise<boolean> {
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
/** What no facilitator tells in so long, it will not tell. */
const goesOnFor = "1 day";

const beginning = { at: "-infinity", network: "", key: "" };

const atOnce = { sizeMax: 50, windowMs: 0 };
/** Characters. A longer one is written by itself, so that no call waits for another call's. */
const sharedOutputMax = 65_536;
const concludeAgainMs = [250, 1_000, 4_000];

async function keepAlone(db: Queryable, kept: KeptResult): Promise<boolean> {
  const [stillHeld = false] = await keepResults(db, [kept]);
  return stillHeld;
}

interface Charged {
  readonly transaction: string;
  readonly payer: string | null;
  readonly debtor: AgentId | undefined;
  readonly requirements: { readonly asset: string; readonly amount: string };
}

/** For so long any presenter who knows the input may have a copy of a result that its buyer has still to fetch. */
const copiesForHours = 24;

const select = `
  select product, run_id as "runId", call_digest as digest, payload_digest as "payloadDigest", requirements, payer, output, receipt, transaction_id as transaction,
    delivered_at as "deliveredAt", coalesce(lease_until > now(), false) as leased,
    updated_at > now() - interval '${copiesForHours} hours' as "isRecent",
    coalesce(result_at >= now() - interval '${historyDays} days', false) as "isKept", agent_version as "agentVersion"
  from paid_calls`;
