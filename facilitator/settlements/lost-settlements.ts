import type { Log } from "../../shared/log.ts";
import { type Database, inTransaction, type Queryable, type Transaction } from "../../shared/postgres.ts";
import { reopenable } from "../payment-states.ts";
import type { SchemeRegistry } from "../schemes/registry.ts";
import type { Found, SearchedRange, SearchLog, SearchMark, SentSettlement } from "../schemes/scheme.ts";
import { finishPayments } from "./finish-payment.ts";
import { reopenPayment } from "./reopen-payment.ts";

/**
 * Finds settlements again that the database lost, as by a failover to a standby that lagged. How far each fee payer was searched
 * stands in the same database and goes back together with what is lost: whatever is missing is after the mark.
 */
export class LostSettlements implements SearchLog {
  readonly #needs: Needs;
  #foundAgain: readonly FoundAgain[] | undefined;

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  /** Figures of all copies, by network, as last read; undefined before the first read. */
  get foundAgain(): readonly FoundAgain[] | undefined {
    return this.#foundAgain;
  }

  /** Searches a network a bounded way further. One that does not answer is searched later. */
  async search(network: string, stopping: AbortSignal): Promise<void> {
    const { schemes, db, log } = this.#needs;
    await schemes
      .openOn(network)
      ?.searchSent(this, stopping)
      .catch((err) => log.warn({ err, network }, "settlements that may be lost could not be searched for"));
    const { rows } = await db.query(
      `select network, sum(found_again)::int as payments, max(last_found_at) as last_at
         from searched_settlements group by network order by network`,
    );
    this.#foundAgain = rows.map(({ network, payments, last_at: lastAt }) => ({ network, payments, lastAt }));
  }

  async marks(network: string, feePayers: readonly string[]): Promise<readonly SearchMark[]> {
    const { rows } = await this.#needs.db.query({
      name: "read-search-marks",
      text: `select fee_payer, searched_until, next_nonce from searched_settlements
              where network = $1 and fee_payer = any ($2) order by searched_until`,
      values: [network, feePayers],
    });
    return rows.map(({ fee_payer: feePayer, searched_until: until, next_nonce: nextNonce }) => {
      return { feePayer, until, nextNonce: nextNonce ?? undefined };
    });
  }

  async begin(network: string, marks: readonly SearchMark[]): Promise<void> {
    await this.#needs.db.query(
      `insert into searched_settlements (network, fee_payer, searched_until, next_nonce)
       select $1, * from unnest($2::text[], $3::bigint[], $4::bigint[]) on conflict do nothing`,
      [network, ...columnsOf(marks)],
    );
  }

  /** One statement, so that it counts in the database in which it moves the marks. */
  async moveOn(network: string, ranges: readonly SearchedRange[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.#needs.db.query({
      name: "move-search-marks",
      text: `
        update searched_settlements m set searched_until = r.until, next_nonce = r.next_nonce
          from unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
                 as r (fee_payer, from_until, from_nonce, until, next_nonce)
         where m.network = $1 and m.fee_payer = r.fee_payer and m.searched_until = r.from_until
           and r.next_nonce - r.from_nonce = (
             select count(distinct p.nonce) from payments p
              where p.network = $1 and p.fee_payer = r.fee_payer and p.nonce >= r.from_nonce and p.nonce < r.next_nonce
                and p.state = 'settled' and not p.landed_by_another)
        returning m.fee_payer`,
      values: [
        network,
        ...columnsOf(ranges.map(({ from }) => from)),
        ...columnsOf(ranges.map(({ to }) => to)).slice(1),
      ],
    });
    return new Set(rows.map(({ fee_payer: feePayer }) => feePayer as string));
  }

  onRecord(network: string, transactions: readonly string[]): Promise<ReadonlySet<string>> {
    return transactionsOnRecord(this.#needs.db, network, transactions);
  }

  async conclude(network: string, { from, to }: SearchedRange, { settlements, known }: Found): Promise<boolean> {
    const { db, events } = this.#needs;
    const missing = await inTransaction(db, async (tx) => {
      const { rowCount } = await tx.query(
        "select from searched_settlements where network = $1 and fee_payer = $2 and searched_until = $3 for update",
        [network, from.feePayer, from.until],
      );
      if (rowCount === 0 || (await transactionsOnRecord(tx, network, known)).size < known.length) return undefined;
      const added = await addMissing(tx, network, settlements);
      await tx.query(
        `update searched_settlements
            set searched_until = $3, next_nonce = $4, found_again = found_again + $5,
                last_found_at = case when $5 > 0 then now() else last_found_at end
          where network = $1 and fee_payer = $2`,
        [network, from.feePayer, to.until, to.nextNonce, added.length],
      );
      return added;
    }).catch((error) => {
      if (error instanceof UnderWayError) return undefined;
      throw error;
    });
    for (const settlement of missing ?? []) events.foundAgain(network, settlement);
    return missing !== undefined;
  }

  /** Records a settlement that was found without a search. Adds nothing while another payment with its key is under way. */
  async add(network: string, settlement: SentSettlement): Promise<void> {
    const { db, events } = this.#needs;
    const added = await inTransaction(db, async (tx) => {
      // Locks as a search does, so that the two never wait for each other.
      await tx.query("select from searched_settlements where network = $1 and fee_payer = $2 for update", [
        network,
        settlement.feePayer,
      ]);
      const missing = await addMissing(tx, network, [settlement]);
      await tx.query(
        `update searched_settlements set found_again = found_again + $3, last_found_at = now()
          where network = $1 and fee_payer = $2 and $3 > 0`,
        [network, settlement.feePayer, missing.length],
      );
      return missing;
    }).catch((error) => {
      if (error instanceof UnderWayError) return [];
      throw error;
    });
    for (const one of added) events.foundAgain(network, one);
  }
}

/** Another payment with the key of one that landed has not ended. Once it has, it gives way: until then nothing is recorded. */
class UnderWayError extends Error {}

const columnsOf = (marks: readonly SearchMark[]) => [
  marks.map(({ feePayer }) => feePayer),
  marks.map(({ until }) => until),
  marks.map(({ nextNonce }) => nextNonce ?? null),
];

async function transactionsOnRecord(
  db: Queryable,
  network: string,
  transactions: readonly string[],
): Promise<ReadonlySet<string>> {
  if (transactions.length === 0) return new Set();
  const { rows } = await db.query(
    `select distinct transaction_id as id from payments
      where network = $1 and transaction_id = any ($2) and not retryable and state <> 'failed'`,
    [network, transactions],
  );
  return new Set(rows.map(({ id }) => id as string));
}

/**
 * Puts those on record that are not, also in place of another payment with the same key, which has moved nothing. What is there and has not
 * ended is the reconciler's, which asks the chain itself. Throws UnderWayError.
 */
async function addMissing(
  tx: Transaction,
  network: string,
  settlements: readonly SentSettlement[],
): Promise<readonly SentSettlement[]> {
  if (settlements.length === 0) return [];
  const { rows } = await tx.query(
    `select payment_key as key, state, retryable, payer, pay_to, asset, amount_atomic
       from payments where network = $1 and payment_key = any ($2)`,
    [network, settlements.map(({ key }) => key)],
  );
  const there = new Map(rows.map((row) => [row.key as string, row]));
  const added: SentSettlement[] = [];
  // In one order, so that two copies never wait for each other.
  for (const settlement of settlements.toSorted((one, other) => (one.key < other.key ? -1 : 1))) {
    const { key, payer, payTo, asset, amount } = settlement;
    const row = there.get(key);
    if (row?.state === "settled") continue;
    if (row && row.payer === payer && row.pay_to === payTo && row.asset === asset && row.amount_atomic === amount) {
      if (row.retryable || row.state === "failed") await reopenPayment(tx, network, key);
      continue;
    }
    await addSettled(tx, network, settlement);
    added.push(settlement);
  }
  return added;
}

/** Its success is told to no caller any more: which one was told of it before is not known. Throws UnderWayError when a caller has its claim. */
async function addSettled(tx: Transaction, network: string, settlement: SentSettlement): Promise<void> {
  const { key, payer, payTo, asset, amount, expiresAt, feePayer, nonce, transaction, landedAt } = settlement;
  const { rows } = await tx.query(
    `insert into payments (network, payment_key, state, claim_token, scheme, payer, pay_to, asset, amount_atomic, expires_at,
                           lease_until, fee_payer, nonce, transaction_id, broadcast_at)
     values ($1, $2, 'claimed', gen_random_uuid(), 'exact', $3, $4, $5, $6::numeric, $7, now(), $8, $9, $10, $11)
     on conflict (network, payment_key) do update
       set state = excluded.state, claim_token = excluded.claim_token, payer = excluded.payer, pay_to = excluded.pay_to,
           asset = excluded.asset, amount_atomic = excluded.amount_atomic, expires_at = excluded.expires_at,
           lease_until = excluded.lease_until, fee_payer = excluded.fee_payer, nonce = excluded.nonce,
           transaction_id = excluded.transaction_id, broadcast_at = excluded.broadcast_at, retryable = false, message_digest = null,
           resource_url = null, terms_digest = null, offer = null, offer_digest = null, raw_transactions = null,
           signed_transactions = '{}', error_reason = null, error_message = null, network_fee = null, taken_back_at = null, created_at = excluded.created_at
       where ${reopenable("payments")}
     returning id, claim_token as token`,
    [network, key, payer, payTo, asset, amount, expiresAt, feePayer, nonce ?? null, transaction, landedAt],
  );
  const [claim] = rows;
  if (!claim) throw new UnderWayError();
  const totalMs = Date.now() - landedAt.getTime();
  const outcome = { outcome: "settled", transaction } as const;
  await finishPayments(tx, [{ claim, outcome, totalMs, delivered: true }]);
}

export interface FoundAgain {
  readonly network: string;
  readonly payments: number;
  readonly lastAt: Date | null;
}

interface Needs {
  readonly db: Database;
  readonly schemes: SchemeRegistry;
  readonly events: { foundAgain(network: string, settlement: SentSettlement): void };
  readonly log: Log;
}
