import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { batched } from "../../shared/batch.ts";
import type { Database, Queryable } from "../../shared/postgres.ts";
import type { StoredOffer } from "../discovery/offers.ts";
import type { Claim, Outcome, Payment } from "../schemes/scheme.ts";
import { type Abandoned, type Known, readAbandoned, readKnown } from "./known.ts";

/**
 * How long a holder may be silent before the reconciler looks after its payment. A claim that is released too early
 * costs its holder the payment; asking the chain about a sent one too early costs a question.
 */
const claimLeaseSeconds = 20;
const broadcastLeaseSeconds = 6;
/** A payment is signed for again only when what was signed before is void: older ones than these cannot land. */
const signedMax = 100;
/** Beyond so many, what else is paid for waits for its next payment to be listed. */
const offersWaitingMax = 10_000;

/**
 * The payments table: who may settle what, and what became of it. Every statement is one round trip and atomic, so
 * any number of daemons can share it.
 */
export class SettlementStore {
  readonly #db: Database;
  readonly #known: (key: { network: string; key: string }) => Promise<Known | undefined>;

  constructor(db: Database) {
    this.#db = db;
    this.#known = batched((keys) => this.#lookupAll(keys), { sizeMax: 200, windowMs: 0 });
  }

  /** The payment's row, if it was ever claimed. Look-ups made together share one query. */
  lookup(network: string, key: string): Promise<Known | undefined> {
    return this.#known({ network, key });
  }

  /**
   * Claims the payment for one caller: a Claim for exactly one of any number of simultaneous callers on any number of
   * daemons. A payment that failed in a way that leaves it valid, or whose claim was opened, can be claimed again. Nobody gets one for a payer of
   * whom `failuresMax` settlements failed on the chain, at our cost, in ten minutes or `failuresPerDayMax` in a day
   * (0 = any number).
   */
  async claim(
    network: string,
    scheme: string,
    payment: Payment,
    { resourceUrl, termsDigest, failuresMax, failuresPerDayMax, offer }: ClaimTerms,
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
                                   where network = $1 and payer = $5 and failed_at > now() - interval '10 minutes'))
           and ($15 = 0 or $15 > (select count(*) from payer_failures
                                   where network = $1 and payer = $5 and failed_at > now() - interval '1 day'))
        on conflict (network, payment_key) do update
          set state = 'claimed', claim_token = excluded.claim_token, payer = excluded.payer, pay_to = excluded.pay_to,
              asset = excluded.asset, amount_atomic = excluded.amount_atomic, resource_url = excluded.resource_url,
              expires_at = excluded.expires_at, lease_until = excluded.lease_until, fee_payer = null, nonce = null,
              transaction_id = null, raw_transactions = null, error_reason = null, error_message = null,
              finished_at = null, retryable = false, offer = excluded.offer, offer_digest = excluded.offer_digest,
              message_digest = excluded.message_digest, terms_digest = excluded.terms_digest
          where payments.state in ('failed', 'claimed') and payments.retryable
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
        offer?.text ?? null,
        offer?.digest ?? null,
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
  async recordBroadcast(db: Queryable, claim: Claim, sent: Sent): Promise<boolean> {
    const { rowCount } = await db.query({
      name: "record-broadcast",
      text: `
        update payments
           set state = 'broadcast', transaction_id = $3, raw_transactions = $4, fee_payer = $5, nonce = $6,
               lease_until = now() + make_interval(secs => $7), retryable = false,
               signed_transactions = (signed_transactions || $3::text)[greatest(1, cardinality(signed_transactions) + 2 - $8):]
         where id = $1 and claim_token = $2 and state = 'claimed'`,
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
  async recordBroadcasts(tx: Queryable, sent: ReadonlyArray<SentOne>): Promise<void> {
    if (sent.length === 0) return;
    const { rowCount } = await tx.query({
      name: "record-broadcasts",
      text: `
        update payments p
           set state = 'broadcast', transaction_id = sent.transaction_id, raw_transactions = array[sent.raw],
               fee_payer = sent.fee_payer, nonce = sent.nonce, lease_until = now() + make_interval(secs => $6),
               retryable = false, signed_transactions = (p.signed_transactions || sent.transaction_id)
                                    [greatest(1, cardinality(p.signed_transactions) + 2 - $7):]
          from unnest($1::bigint[], $2::text[], $3::bytea[], $4::text[], $5::bigint[])
            as sent (id, transaction_id, raw, fee_payer, nonce)
         where p.id = sent.id and p.state = 'claimed'`,
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
              lease_until = now() + make_interval(secs => $4)
        where id = $1 and claim_token = $2 and transaction_id = $3 and state = 'broadcast'`,
      [id, token, transaction, claimLeaseSeconds],
    );
    return rowCount === 1;
  }

  /**
   * Stores the chain's word, with what is to be listed for a success or what a failure cost; `delivered` says that this caller is told of
   * the success. False when another daemon has finished the payment meanwhile: then its word counts.
   */
  async finish({ id, token }: Claim, outcome: Outcome, totalMs: number, delivered: boolean): Promise<boolean> {
    if (outcome.outcome === "unknown") {
      const { rowCount } = await this.#db.query({
        name: "finish-unknown",
        text: `update payments set state = 'unknown', lease_until = now() + make_interval(secs => $3)
                where id = $1 and claim_token = $2 and state in ('broadcast', 'unknown')`,
        values: [id, token, broadcastLeaseSeconds],
      });
      return rowCount === 1;
    }
    const failed = outcome.outcome === "failed" ? outcome : undefined;
    const { rowCount } = await this.#db.query({
      name: "finish-payment",
      text: `
        with held as (
          select offer, offer_digest from payments where id = $1 and claim_token = $2 and offer is not null
        ), ended as (
          update payments
             set state = $3, transaction_id = coalesce(nullif($4, ''), transaction_id), error_reason = $5,
                 error_message = $6, retryable = $7, finished_at = now(), offer = null, offer_digest = null,
                 landed_by_another = $12,
                 delivered_at = case when $9 then now() end
           where id = $1 and claim_token = $2 and state in ('claimed', 'broadcast', 'unknown')
          returning *
        ), offered as (
          insert into discovery_offers (digest, offer)
          select offer_digest, held.offer from held cross join (select from ended where state = 'settled') as settled
           where $10 > (select count(*) from (select from discovery_offers limit $10) as waiting)
              on conflict do nothing
        ), charged as (
          insert into payer_failures (network, payer) select network, payer from ended where $11
        )
        insert into transactions (network, status, kind, payer, pay_to, asset, amount_atomic, resource_url, tx_id,
                                  error_reason, total_ms)
        select network, $3, 'settle', payer, pay_to, asset, amount_atomic, resource_url, transaction_id, $5, $8
          from ended`,
      values: [
        id,
        token,
        outcome.outcome,
        outcome.transaction,
        failed?.reason ?? null,
        failed?.message ?? null,
        failed?.retryable ?? false,
        totalMs,
        delivered && outcome.outcome === "settled",
        offersWaitingMax,
        failed?.charged ?? false,
        outcome.outcome === "settled" && outcome.byAnother === true,
      ],
    });
    return rowCount === 1;
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

  /** Leases to this daemon some payments whose holder fell silent. Skips what another daemon is looking at. */
  async takeUnfinished(limit: number): Promise<readonly Abandoned[]> {
    const { rows } = await this.#db.query(
      `update payments set lease_until = now() + interval '10 seconds'
        where id in (select id from payments
                      where state in ('claimed', 'broadcast', 'unknown') and lease_until < now()
                      order by lease_until limit $1 for update skip locked)
       returning *`,
      [limit],
    );
    return rows.map(readAbandoned);
  }

  /** The holder cannot go on: whoever reconciles looks after the claim at once. */
  async giveUp({ id, token }: Claim): Promise<void> {
    await this.#db.query(
      "update payments set lease_until = now() where id = $1 and claim_token = $2 and state = 'claimed'",
      [id, token],
    );
  }

  /** Ends a claim of which certainly nothing was sent, for no fault of the payment: it can be claimed again at once. */
  async withdraw({ id, token }: Claim): Promise<void> {
    await this.#db.query(
      `update payments
          set state = 'failed', retryable = true, error_reason = 'unexpected_settle_error', finished_at = now(),
              error_message = 'Nobody could pay the network fee.', offer = null, offer_digest = null
        where id = $1 and claim_token = $2 and state = 'claimed'`,
      [id, token],
    );
  }

  /**
   * The holder of a claim fell silent and the chain knows nothing of the payment: whoever presents it may send it. It has
   * failed when it can no longer land; until then it is looked after now and then.
   */
  async openClaim({ id, token }: Claim): Promise<void> {
    await this.#db.query(
      `update payments
          set retryable = true,
              lease_until = now() + greatest(interval '10 seconds', least(now() - created_at, interval '10 minutes'))
        where id = $1 and claim_token = $2 and state = 'claimed'`,
      [id, token],
    );
  }

  /** The chain says that a payment which could be claimed again is settled: whoever reconciles records how. */
  async reopen(network: string, key: string): Promise<void> {
    await this.#db.query(
      `update payments set state = 'claimed', retryable = false, claim_token = gen_random_uuid(), lease_until = now()
        where network = $1 and payment_key = $2 and state in ('failed', 'claimed') and retryable`,
      [network, key],
    );
  }

  async #lookupAll(keys: ReadonlyArray<{ network: string; key: string }>): Promise<ReadonlyArray<Known | undefined>> {
    const { rows } = await this.#db.query({
      name: "lookup-payments",
      text: `select p.network, p.payment_key, p.state, p.payer, p.pay_to, p.asset, p.amount_atomic, p.transaction_id,
                    p.error_reason, p.error_message, p.retryable, p.expires_at, p.message_digest, p.terms_digest,
                    p.resource_url, p.landed_by_another
               from payments p
               join unnest($1::text[], $2::text[]) as asked (network, payment_key)
                 on p.network = asked.network and p.payment_key = asked.payment_key`,
      values: [keys.map(({ network }) => network), keys.map(({ key }) => key)],
    });
    const found = new Map<string, Known>(rows.map((row) => [`${row.network} ${row.payment_key}`, readKnown(row)]));
    return keys.map(({ network, key }) => found.get(`${network} ${key}`));
  }
}

/** What a claim is made on, beside the payment itself. */
interface ClaimTerms {
  readonly resourceUrl: string | undefined;
  readonly termsDigest?: string | undefined;
  readonly failuresMax: number;
  readonly failuresPerDayMax: number;
  /** To be listed once the payment has settled. */
  readonly offer?: StoredOffer | undefined;
}

/** What was signed for a payment, and with whose money for the fee. */
export interface Sent {
  readonly transaction: string;
  readonly raw: readonly Buffer[];
  readonly feePayer: string;
  readonly nonce?: bigint;
}

interface SentOne {
  readonly claim: Claim;
  readonly transaction: string;
  readonly raw: Buffer;
  readonly feePayer: string;
  readonly nonce: bigint;
}
