import { randomUUID } from "node:crypto";
import { batched } from "../../shared/batch.ts";
import { type Database, queryAgain } from "../../shared/postgres.ts";
import type { Payment, Refusal } from "../schemes/scheme.ts";
import { anotherPayment, type PaymentRecord, readPaymentRecord, recordColumns } from "../settlements/payment-record.ts";

/** What the database's functions hold for (migration 0013): as long as a Hedera payment can be valid. */
export const holdSeconds = 180;

const sweptPayersMax = 1_000;
const balancesMax = 10_000;

/**
 * What payers have in flight, over all copies of the daemon: a hold a payment, from the moment it was verified until its
 * settlement has ended and shows in the payer's balance, it is given up, or `holdSeconds` have passed.
 */
export class HoldStore {
  readonly #db: Database;
  readonly #place: (wanted: Wanted) => Promise<HoldResult>;
  readonly #release: (held: Holder) => Promise<boolean>;
  /** Balances as last read, by network, payer and asset; the one read longest ago first. */
  readonly #balances = new Map<string, bigint>();

  constructor(db: Database) {
    this.#db = db;
    this.#place = batched((wanted) => this.#placeAll(wanted), { sizeMax: 100, windowMs: 0 });
    this.#release = batched((held) => this.#releaseAll(held), { sizeMax: 100, windowMs: 0 });
  }

  /**
   * Holds the payment's amount, if `balance` covers it beside all else that its payer has in flight; of any number of
   * payments that one balance covers together no more are held, however many copies are asked at once, and of the messages that
   * were signed with one id only one. A payment that was ever claimed and is not to be had again is answered with instead.
   */
  placeHold(network: string, payment: Payment, balance: bigint, shownUntil?: string): Promise<HoldResult> {
    return this.#place({ network, payment, balance, shownUntil, holder: randomUUID() });
  }

  /** Places a hold before the payer's balance is known, by the one last read: the caller still checks that it is covered. */
  placeHoldAhead(network: string, payment: Payment): Promise<HoldResult> {
    return this.placeHold(network, payment, this.#balances.get(holdingOf(network, payment)) ?? payment.amount);
  }

  rememberBalance(network: string, payment: Payment, balance: bigint): void {
    const holding = holdingOf(network, payment);
    this.#balances.delete(holding);
    this.#balances.set(holding, balance);
    if (this.#balances.size > balancesMax) this.#balances.delete(this.#balances.keys().next().value as string);
  }

  /** Gives up one verification; true when it held something until now. The hold ends when all its verifications are given up. */
  async release(holdId: string): Promise<boolean> {
    const [, id, holder] = holdIdForm.exec(holdId) ?? [];
    return id !== undefined && holder !== undefined && this.#release({ id: BigInt(id), holder });
  }

  /** Deletes holds that are over, of some payers at a time. */
  async sweep(): Promise<void> {
    await queryAgain(this.#db, { text: "select sweep_holds($1)", values: [sweptPayersMax] });
  }

  /** One statement and one round trip; no caller waits for the disk (the tables are unlogged). */
  async #placeAll(asked: readonly Wanted[]): Promise<readonly HoldResult[]> {
    // Like releases, in one order over all copies; a sweep can still come in between.
    const wanted = asked.toSorted((one, other) => (one.payment.key < other.payment.key ? -1 : 1));
    const { rows } = await queryAgain(this.#db, {
      name: "place-holds",
      text: `
        select h.item, h.hold_id, h.payment_id, h.in_flight, h.settled_until::text, h.transactions, h.is_another
          from set_config('synchronous_commit', 'off', true), place_holds($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) h`,
      values: [
        wanted.map(({ network }) => network),
        wanted.map(({ payment }) => payment.key),
        wanted.map(({ payment }) => payment.payer),
        wanted.map(({ payment }) => payment.asset),
        wanted.map(({ payment }) => payment.amount),
        wanted.map(({ balance }) => balance),
        wanted.map(({ payment }) => payment.expiresAt),
        wanted.map(({ holder }) => holder),
        wanted.map(({ shownUntil }) => shownUntil ?? null),
        wanted.map(({ payment }) => payment.messageDigest),
      ],
    });
    const records = await this.#recordsOf(rows.map(({ payment_id }) => payment_id).filter((id) => id !== null));
    const byItem = new Map(rows.map((row) => [Number(row.item), row]));
    const itemOf = new Map(wanted.map((one, index) => [one, index + 1]));
    return asked.map((one) => {
      const { holder } = one;
      const row = byItem.get(itemOf.get(one) as number);
      // No row of `payments` is ever deleted.
      if (row.payment_id !== null) return { record: records.get(row.payment_id) as PaymentRecord };
      if (row.is_another) return anotherPayment;
      if (row.hold_id !== null) return { holdId: `hold_${row.hold_id}_${holder}`, inFlight: row.in_flight };
      return {
        inFlight: row.in_flight,
        settledUntil: row.settled_until ?? undefined,
        settledLately: row.transactions ?? [],
      };
    });
  }

  /** Payments that were claimed before, as they are now. */
  async #recordsOf(ids: readonly bigint[]): Promise<ReadonlyMap<bigint, PaymentRecord>> {
    if (ids.length === 0) return new Map();
    const { rows } = await queryAgain(this.#db, {
      name: "payments-that-were-claimed",
      text: `select p.id, ${recordColumns} from payments p where p.id = any($1)`,
      values: [ids],
    });
    return new Map(rows.map((row) => [row.id, readPaymentRecord(row)]));
  }

  async #releaseAll(held: readonly Holder[]): Promise<readonly boolean[]> {
    const { rows } = await queryAgain(this.#db, {
      name: "release-holds",
      text: `
        with given as (
          select id, array_agg(holder) as holders from unnest($1::bigint[], $2::uuid[]) as g (id, holder) group by id
        ), locked as (
          select h.id, h.holders as had, given.holders as given, array(select unnest(h.holders) except select unnest(given.holders)) as left_over
            from payment_holds h join given using (id) where h.holders && given.holders order by h.network, h.payer, h.asset, h.payment_key collate "C" for update of h
        ), released as (
          update payment_holds h
             set holders = left_over,
                 until = case when releasable and cardinality(left_over) = 0 then least(until, now()) else until end
            from locked where h.id = locked.id
          returning h.id
        )
        select locked.id, locked.had from locked join released using (id)`,
      values: [held.map(({ id }) => id), held.map(({ holder }) => holder)],
    });
    const had = new Map<bigint, readonly string[]>(rows.map((row) => [row.id, row.had]));
    return held.map(({ id, holder }) => had.get(id)?.includes(holder) ?? false);
  }
}

const holdIdForm = /^hold_(\d{1,18})_([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;

export function isHoldId(text: string): boolean {
  return holdIdForm.test(text);
}

const holdingOf = (network: string, { payer, asset }: Payment) => `${network} ${payer} ${asset}`;

export type HoldResult =
  /** `inFlight`: base units of the payer's other payments, at most. */
  | { readonly holdId: string; readonly inFlight: bigint }
  /** Claimed before, and not to be had again. */
  | { readonly record: PaymentRecord }
  /** Another message that the payer signed with this id is held. */
  | Refusal
  | NotCovered;

/** The balance does not cover it all. */
export interface NotCovered {
  /** Base units of the payer's other payments. */
  readonly inFlight: bigint;
  /** What of them has settled, up to when (a timestamp in full) and in which transactions (the newest): the balance may have it. */
  readonly settledUntil: string | undefined;
  readonly settledLately: readonly string[];
}

interface Wanted {
  readonly network: string;
  readonly payment: Payment;
  readonly balance: bigint;
  readonly shownUntil: string | undefined;
  readonly holder: string;
}

interface Holder {
  readonly id: bigint;
  readonly holder: string;
}
