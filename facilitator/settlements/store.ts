import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { batched } from "../../shared/batch.ts";
import { type Database, type Queryable, wasRolledBack } from "../../shared/postgres.ts";
import type { StoredListingRequest } from "../discovery/listing-requests.ts";
import { failuresOfADayWithin, failuresWithin } from "../limits/failure-windows.ts";
import { amongUnfinished, claimableAgain, inStates, legalFor, unfinishedStates } from "../payment-states.ts";
import type {
  Broadcast,
  BroadcastLog,
  Claim,
  NumberedBroadcast,
  Outcome,
  Payment,
  Refusal,
} from "../schemes/scheme.ts";
import { type EndedPayment, finishPayments, finishUnknown } from "./finish-payment.ts";
import { lookupPayments } from "./lookup-payments.ts";
import { type Abandoned, type PaymentRecord, readAbandoned } from "./payment-record.ts";
import { reopenPayment } from "./reopen-payment.ts";

/**
 * How long a holder may take before the reconciler looks after its payment. A claim that is released too early
 * costs its holder the payment; asking the chain about a sent one too early costs a question.
 */
const claimLeaseSeconds = 20;
const broadcastLeaseSeconds = 6;
/** A payment is signed for again only when what was signed before is void: older ones than these cannot land. */
const signedMax = 100;

/**
 * The payments table: who may settle what, and what became of it; payment-states.ts says what may become of a payment. Every statement is
 * one round trip and atomic, so any number of daemons can share it.
 */
export class SettlementStore implements BroadcastLog {
  readonly #db: Database;
  readonly #lookup: (key: { network: string; key: string }) => Promise<PaymentRecord | undefined>;
  readonly #finish: (ended: EndedPayment) => Promise<PromiseSettledResult<boolean>>;

  constructor(db: Database) {
    this.#db = db;
    this.#lookup = batched((keys) => lookupPayments(db, keys), { sizeMax: 200, windowMs: 0 });
    this.#finish = batched((ended) => this.#finishAll(ended), { sizeMax: 100, windowMs: 0 });
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
  async claim(
    network: string,
    scheme: string,
    payment: Payment,
    { resourceUrl, termsDigest, failuresMax, failuresPerDayMax, listingRequest }: ClaimTerms,
  ): Promise<Claim | undefined> {
    const token = randomUUID();
    const { rows } = await this.#db.query({
      name: "claim-payment",
      text: `
        insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic,
                              resource_url, expires_at, lease_until, offer, offer_digest, message_digest, terms_digest)
        select $1, $2, 'claimed', $3::uuid, $4, $5, $6, $7, $8::numeric, $9, $10::timestamptz,
               now() + make_interval(secs => $11), $13, $14::bytea, $16::bytea, $17
         where ($12 = 0 or $12 > (select count(*) from payer_failures
                                   where network = $1 and payer = $5 and failed_at > now() - interval '${failuresWithin}'))
           and ($15 = 0 or $15 > (select count(*) from payer_failures
                                   where network = $1 and payer = $5 and failed_at > now() - interval '${failuresOfADayWithin}'))
        on conflict (network, payment_key) do update
          set state = 'claimed', claim_token = excluded.claim_token, payer = excluded.payer, pay_to = excluded.pay_to,
              asset = excluded.asset, amount_atomic = excluded.amount_atomic, resource_url = excluded.resource_url,
              expires_at = excluded.expires_at, lease_until = excluded.lease_until, fee_payer = null, nonce = null,
              transaction_id = null, raw_transactions = null, broadcast_at = null, error_reason = null, error_message = null,
              finished_at = null, retryable = false, offer = excluded.offer, offer_digest = excluded.offer_digest,
              message_digest = excluded.message_digest, terms_digest = excluded.terms_digest
          where ${claimableAgain("payments")}
        returning id`,
      values: [
        network,
        payment.key,
        token,
        scheme,
        payment.payer,
        payment.payTo,
        payment.asset,
        payment.amount,
        resourceUrl ?? null,
        payment.expiresAt,
        claimLeaseSeconds,
        failuresMax,
        listingRequest?.text ?? null,
        listingRequest?.digest ?? null,
        failuresPerDayMax,
        payment.messageDigest,
        termsDigest ?? null,
      ],
    });
    return rows[0] ? { id: rows[0].id, token } : undefined;
  }

  /**
   * Stores what was signed, before it is sent; from here on the payment may land at any time. False when the claim was
   * lost meanwhile (its lease ran out): then nothing may be sent.
   */
  async recordBroadcast(db: Queryable, claim: Claim, sent: Broadcast): Promise<boolean> {
    const { rowCount } = await db.query({
      name: "record-broadcast",
      text: `
        update payments
           set state = 'broadcast', transaction_id = $3, raw_transactions = $4, fee_payer = $5, nonce = $6, broadcast_at = now(),
               lease_until = now() + make_interval(secs => $7), retryable = false,
               signed_transactions = (signed_transactions || $3::text)[greatest(1, cardinality(signed_transactions) + 2 - $8):]
         where id = $1 and claim_token = $2 and ${legalFor("recordBroadcast")}`,
      values: [
        claim.id,
        claim.token,
        sent.transaction,
        sent.raw,
        sent.feePayer,
        sent.nonce ?? null,
        broadcastLeaseSeconds,
        signedMax,
      ],
    });
    return rowCount === 1;
  }

  /** The same for several claims that the open transaction `tx` has locked, in one statement. */
  async recordBroadcasts(tx: Queryable, sent: readonly NumberedBroadcast[]): Promise<void> {
    if (sent.length === 0) return;
    const { rowCount } = await tx.query({
      name: "record-broadcasts",
      text: `
        update payments p
           set state = 'broadcast', transaction_id = sent.transaction_id, raw_transactions = array[sent.raw], broadcast_at = now(),
               fee_payer = sent.fee_payer, nonce = sent.nonce, lease_until = now() + make_interval(secs => $6),
               retryable = false, signed_transactions = (p.signed_transactions || sent.transaction_id)
                                    [greatest(1, cardinality(p.signed_transactions) + 2 - $7):]
          from unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[], $5::bigint[])
            as sent (id, transaction_id, raw, fee_payer, nonce)
         where p.id = sent.id and ${legalFor("recordBroadcast", "p")}`,
      values: [
        sent.map(({ claim }) => claim.id),
        sent.map(({ transaction }) => transaction),
        sent.map(({ raw }) => raw),
        sent.map(({ feePayer }) => feePayer),
        sent.map(({ nonce }) => nonce),
        broadcastLeaseSeconds,
        signedMax,
      ],
    });
    assert(rowCount === sent.length, "every claim was locked by this transaction");
  }

  /** Takes back what was signed, because it can certainly never land: the claim stands as if nothing had been signed. */
  async takeBack({ id, token }: Claim, transaction: string, db: Queryable = this.#db): Promise<boolean> {
    const { rowCount } = await db.query(
      `update payments
          set state = 'claimed', transaction_id = null, raw_transactions = null, fee_payer = null, nonce = null,
              broadcast_at = null, lease_until = now() + make_interval(secs => $4)
        where id = $1 and claim_token = $2 and transaction_id = $3 and ${legalFor("takeBack")}`,
      [id, token, transaction, claimLeaseSeconds],
    );
    return rowCount === 1;
  }

  /**
   * Stores the chain's word; `delivered` says that this caller is told of the success. False when another daemon has finished
   * the payment meanwhile: then its word counts.
   */
  async finish(claim: Claim, outcome: Outcome, totalMs: number, delivered: boolean): Promise<boolean> {
    if (outcome.outcome === "unknown") return finishUnknown(this.#db, claim, broadcastLeaseSeconds);
    const finished = await this.#finish({ claim, outcome, totalMs, delivered });
    if (finished.status === "rejected") throw finished.reason;
    return finished.value;
  }

  /** Together; where the database certainly stored nothing, one by one: no payment's end keeps another's from being stored. */
  async #finishAll(ended: readonly EndedPayment[]): Promise<ReadonlyArray<PromiseSettledResult<boolean>>> {
    try {
      const finished = await finishPayments(this.#db, ended);
      return finished.map((value) => ({ status: "fulfilled", value }));
    } catch (reason) {
      if (ended.length === 1 || !wasRolledBack(reason)) return ended.map(() => ({ status: "rejected", reason }));
      return Promise.allSettled(ended.map(async (one) => (await finishPayments(this.#db, [one]))[0] === true));
    }
  }

  /** Hands the success of a settled payment to one caller: true for exactly one. */
  async deliver(network: string, key: string): Promise<boolean> {
    const { rowCount } = await this.#db.query({
      name: "deliver-payment",
      text: `update payments set delivered_at = now()
              where network = $1 and payment_key = $2 and state = 'settled' and delivered_at is null`,
      values: [network, key],
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

  /** Leases to this daemon some payments whose lease has run out. Skips what another daemon is looking at. */
  async takeUnfinished(limit: number): Promise<readonly Abandoned[]> {
    const { rows } = await this.#db.query(
      `update payments set lease_until = now() + interval '10 seconds'
        where id in (select id from payments
                      where ${amongUnfinished} and ${inStates(unfinishedStates)} and lease_until < now()
                      order by lease_until limit $1 for update skip locked)
       returning *`,
      [limit],
    );
    return rows.map(readAbandoned);
  }

  /** The holder cannot go on: the reconciler looks after the claim at once. */
  async giveUp({ id, token }: Claim): Promise<void> {
    await this.#db.query(
      `update payments set lease_until = now() where id = $1 and claim_token = $2 and ${legalFor("giveUp")}`,
      [id, token],
    );
  }

  /** Ends a claim of which certainly nothing was sent, for no fault of the payment: it can be claimed again at once. */
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

  /** The chain says that a payment which could be claimed again is settled: the reconciler records how. */
  reopen(network: string, key: string): Promise<void> {
    return reopenPayment(this.#db, network, key);
  }
}

/** What a claim is made on, beside the payment itself. */
interface ClaimTerms {
  readonly resourceUrl: string | undefined;
  readonly termsDigest?: string | undefined;
  readonly failuresMax: number;
  readonly failuresPerDayMax: number;
  /** To be listed once the payment has settled. */
  readonly listingRequest?: StoredListingRequest | undefined;
}
