import assert from "node:assert/strict";
import { batched } from "../../shared/batch.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import { amongUnfinished, hasNotEnded, inStates, legalFor, unfinishedStates } from "../payment-states.ts";
import type {
  Broadcast,
  BroadcastLog,
  Claim,
  ClaimTerms,
  Outcome,
  Payment,
  Refusal,
  SignedClaim,
  WantedClaim,
} from "../schemes/scheme.ts";
import { batchedWrites } from "./batched-writes.ts";
import { claimPayments } from "./claim-payments.ts";
import { claimable, claimSigned, claimSignedIfFree } from "./claim-signed.ts";
import { type EndedPayment, finishPayments, finishUnknown, type JudgedClaim } from "./finish-payment.ts";
import { lookupPayments } from "./lookup-payments.ts";
import { type Abandoned, type PaymentRecord, readAbandoned } from "./payment-record.ts";
import { type ClaimedBroadcast, recordBroadcasts } from "./record-broadcasts.ts";
import { reopenPayment } from "./reopen-payment.ts";

/**
 * How long a holder may take before the reconciler looks after its payment. A claim that is released too early
 * costs its holder the payment; asking the chain about a sent one too early costs a question.
 */
const claimLeaseSeconds = 20;
const broadcastLeaseSeconds = 6;

/** SQL: of what was signed for the payment, $3 was last. */
const isNewest = "signed_transactions[cardinality(signed_transactions)] = $3";

/**
 * The payments table: who may settle what, and what became of it; payment-states.ts says what may become of a payment. Every statement is
 * one round trip and atomic, so any number of daemons can share it.
 */
export class SettlementStore implements BroadcastLog {
  readonly #db: Database;
  readonly #lookup: (key: { network: string; key: string }) => Promise<PaymentRecord | undefined>;
  readonly #claim: (wanted: WantedClaim) => Promise<Claim | undefined>;
  readonly #claimSigned: (signed: SignedClaim) => Promise<Claim | undefined>;
  readonly #recordBroadcast: (sent: ClaimedBroadcast) => Promise<boolean>;
  readonly #finish: (ended: EndedPayment) => Promise<boolean>;

  constructor(db: Database) {
    this.#db = db;
    this.#lookup = batched((keys) => lookupPayments(db, keys), { sizeMax: 200, windowMs: 0 });
    this.#claim = batchedWrites((wanted) => claimPayments(db, wanted, claimLeaseSeconds));
    this.#claimSigned = batchedWrites((signed) => claimSignedIfFree(db, signed, broadcastLeaseSeconds));
    this.#recordBroadcast = batchedWrites((sent) => recordBroadcasts(db, sent, broadcastLeaseSeconds));
    this.#finish = batchedWrites((ended) => finishPayments(db, ended));
  }

  /** The payment's row, if it was ever claimed. Look-ups made together share one query. */
  lookup(network: string, key: string): Promise<PaymentRecord | undefined> {
    return this.#lookup({ network, key });
  }

  /**
   * Claims the payment for one caller: a Claim for exactly one of any number of simultaneous callers on any number of
   * daemons. A payment that failed in a way that leaves it valid, or whose claim was opened, can be claimed again. No
   * caller gets one for a payer of whom `failuresMax` settlements failed on the chain, at our cost, in `failuresWithin` or
   * `failuresPerDayMax` in `failuresOfADayWithin` (0 = any number).
   */
  claim(network: string, scheme: string, payment: Payment, terms: ClaimTerms): Promise<Claim | undefined> {
    return this.#claim({ network, scheme, payment, terms });
  }

  async signedTransactions(network: string, key: string): Promise<readonly string[]> {
    const { rows } = await this.#db.query({
      name: "signed-transactions",
      text: "select signed_transactions from payments where network = $1 and payment_key = $2",
      values: [network, key],
    });
    return rows[0]?.signed_transactions ?? [];
  }

  claimable(tx: Queryable, wanted: readonly WantedClaim[]): Promise<readonly boolean[]> {
    return claimable(tx, wanted);
  }

  claimSigned(tx: Queryable, signed: readonly SignedClaim[]): Promise<readonly Claim[]> {
    return claimSigned(tx, signed, broadcastLeaseSeconds);
  }

  /** Undefined where another caller has claimed it, or its payer may not settle. */
  claimOneSigned(signed: SignedClaim): Promise<Claim | undefined> {
    return this.#claimSigned(signed);
  }

  /**
   * Stores what was signed, before it is sent; from here on the payment may land at any time. False when the claim was
   * lost meanwhile (its lease ran out): then nothing may be sent.
   */
  recordBroadcast(claim: Claim, broadcast: Broadcast): Promise<boolean> {
    return this.#recordBroadcast({ claim, broadcast });
  }

  /** Records the broadcasts of several claims that the open transaction `tx` has locked. */
  async recordBroadcasts(tx: Queryable, sent: readonly ClaimedBroadcast[]): Promise<void> {
    if (sent.length === 0) return;
    const recorded = await recordBroadcasts(tx, sent, broadcastLeaseSeconds);
    assert(!recorded.includes(false), "every claim was locked by this transaction");
  }

  /**
   * Takes back what was signed, because it can certainly never land: the claim stands as if nothing had been signed. With `unlessRaised`
   * not where a dearer transaction was signed in place of this one meanwhile, which may land.
   */
  takeBack(claim: Claim, transaction: string, { unlessRaised }: { unlessRaised: boolean }): Promise<boolean> {
    return this.#takeBack(this.#db, claim, transaction, unlessRaised ? isNewest : "true");
  }

  /**
   * Takes back what was signed, because it was not sent. False once a reconciler has leased the payment, which moves the lease on:
   * it may have sent it. Nor where a dearer transaction was signed in place of this one meanwhile: that was sent.
   */
  takeBackUnsent(claim: Claim, transaction: string, db: Queryable = this.#db): Promise<boolean> {
    const isAlone = `lease_until <= broadcast_at + interval '${broadcastLeaseSeconds} seconds'`;
    return this.#takeBack(db, claim, transaction, `${isAlone} and ${isNewest}`);
  }

  async #takeBack(db: Queryable, { id, token }: Claim, transaction: string, condition: string): Promise<boolean> {
    const { rowCount } = await db.query(
      `update payments
          set state = 'claimed', transaction_id = null, raw_transactions = null, fee_payer = null, nonce = null,
              broadcast_at = null, lease_until = now() + make_interval(secs => $4)
        where id = $1 and claim_token = $2 and transaction_id = $3 and ${legalFor("takeBack")} and ${condition}`,
      [id, token, transaction, claimLeaseSeconds],
    );
    return rowCount === 1;
  }

  /**
   * Stores the chain's word; `delivered` says that this caller is told of the success. False when another daemon has finished
   * the payment meanwhile, or signed anew for it: then its word counts.
   */
  async finish(claim: JudgedClaim, outcome: Outcome, totalMs: number, delivered: boolean): Promise<boolean> {
    if (outcome.outcome === "unknown") return finishUnknown(this.#db, claim, broadcastLeaseSeconds);
    return this.#finish({ claim, outcome, totalMs, delivered });
  }

  /**
   * Hands the success of a settled payment to one caller: true for exactly one, and for that one again, who may not have been told by
   * the database that it has it. `holder`: the token of the caller's claim, or one that nobody else has.
   */
  async deliver(network: string, key: string, holder: string): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: "deliver-payment-to",
      text: `update payments set delivered_at = coalesce(delivered_at, now()), claim_token = $3
              where network = $1 and payment_key = $2 and state = 'settled' and (delivered_at is null or claim_token = $3)`,
      values: [network, key, holder],
    });
    return rowCount === 1;
  }

  /** Takes a delivery back when the answer certainly never left: the one retry may have it. */
  async undeliver(network: string, key: string): Promise<void> {
    await this.#db.query("update payments set delivered_at = null where network = $1 and payment_key = $2", [
      network,
      key,
    ]);
  }

  /**
   * Takes a success back from a holder who was told nothing of it; nothing where another has it. True once the payment has ended: until
   * then a statement whose answer was lost may still be on its way.
   */
  async retract(network: string, key: string, holder: string): Promise<boolean> {
    const { rows } = await this.#db.query<{ ended: boolean }>({
      name: "retract-success",
      text: `with taken as (
               update payments set delivered_at = null
                where network = $1 and payment_key = $2 and claim_token = $3 and state = 'settled' and delivered_at is not null
             )
             select state in ('settled', 'failed') as ended from payments where network = $1 and payment_key = $2`,
      values: [network, key, holder],
    });
    return rows[0]?.ended ?? true;
  }

  /** Leases to this copy some payments of a network whose lease has run out. Skips what another copy is looking at. */
  async takeUnfinished(network: string, limit: number): Promise<readonly Abandoned[]> {
    const { rows } = await this.#db.query(
      `update payments set lease_until = now() + interval '10 seconds'
        where id in (select id from payments
                      where ${amongUnfinished} and network = $1 and ${inStates(unfinishedStates)} and lease_until < now()
                      order by lease_until limit $2 for update skip locked)
       returning *`,
      [network, limit],
    );
    return rows.map(readAbandoned);
  }

  /** How many payments wait on networks other than these, by network. */
  async waitingOutside(networks: readonly string[]): Promise<ReadonlyArray<{ network: string; payments: number }>> {
    const { rows } = await this.#db.query(
      `select network, count(*)::int as payments from payments
        where ${amongUnfinished} and ${hasNotEnded} and network <> all ($1) group by network order by network`,
      [networks],
    );
    return rows;
  }

  /** The holder cannot go on: the reconciler looks after the claim at once. */
  async giveUp({ id, token }: Claim): Promise<void> {
    await this.#db.query(
      `update payments set lease_until = now() where id = $1 and claim_token = $2 and ${legalFor("giveUp")}`,
      [id, token],
    );
  }

  /** Ends a claim for which certainly nothing was sent, for no fault of the payment: it can be claimed again at once. */
  async withdraw({ id, token }: Claim, { refused, message }: Refusal): Promise<void> {
    await this.#db.query(
      `update payments
          set state = 'failed', retryable = true, error_reason = $3, finished_at = now(), error_message = $4,
              offer = null, offer_digest = null
        where id = $1 and claim_token = $2 and ${legalFor("withdraw")}`,
      [id, token, refused, message],
    );
  }

  /**
   * A claim's lease has run out and the chain knows nothing of the payment: a caller who presents it may send it. It has
   * failed when it can no longer land; until then it is looked after now and then.
   */
  async openClaim({ id, token }: Claim): Promise<void> {
    await this.#db.query(
      `update payments
          set retryable = true,
              lease_until = now() + greatest(interval '10 seconds', least(now() - created_at, interval '10 minutes'))
        where id = $1 and claim_token = $2 and ${legalFor("openClaim")}`,
      [id, token],
    );
  }

  reopen(network: string, key: string): Promise<void> {
    return reopenPayment(this.#db, network, key);
  }
}
