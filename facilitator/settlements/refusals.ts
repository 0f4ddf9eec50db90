import type { Log } from "../../shared/log.ts";
import { type Database, isDataError } from "../../shared/postgres.ts";
import type { PaymentRequest } from "../schemes/scheme.ts";
import { recordedNetworks } from "./scope.ts";

const bufferMax = 5_000;
/** Refusals that this copy stores. A flood of them must not fill the disk: then no payment could be claimed. */
const perMinuteMax = 3_000;
export const refusalDays = 30;
/** Longer texts are cut, the resource's URL too. */
export const refusalTextMax = 512;
/** The newest of each network: 0.9 GB with their indexes. A flood of `perMinuteMax` brings as many in less than six hours. */
const keptMax = 1_000_000;
const deletedAtOnceMax = 10_000;
/** More than a copy stores from one time to the next. */
const trimmedAtOnceMax = 50_000;

/**
 * Writes refused payments into the public record in the background: a refusal is answered without waiting for it, and
 * a flood of them costs one statement per interval. What exceeds the buffer, or what a minute may add, is counted in the log, not
 * stored. Kept for a month, and of each network the newest `keptMax`; what is deleted stays counted in the figures of its day.
 */
export class RefusalRecorder {
  readonly #db: Database;
  readonly #log: Log;
  readonly #networks: ReadonlySet<string>;
  #buffer: RefusalRecord[] = [];
  #dropped = 0;
  #minute = 0;
  #recordedInMinute = 0;
  #flushing: Promise<void> = Promise.resolve();

  /** `networks`: those served here. What is asked of any other has a name of the caller's choice and is not recorded. */
  constructor(db: Database, log: Log, networks: readonly string[]) {
    this.#db = db;
    this.#log = log;
    this.#networks = new Set(networks);
  }

  record(refusal: RefusalRecord): void {
    if (!this.#networks.has(refusal.request.network)) return;
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) [this.#minute, this.#recordedInMinute] = [minute, 0];
    if (this.#buffer.length >= bufferMax || this.#recordedInMinute >= perMinuteMax) {
      this.#dropped += 1;
      return;
    }
    this.#recordedInMinute += 1;
    this.#buffer.push(refusal);
  }

  /** Deletes what is older than the record keeps refusals, some at a time. */
  async sweep(): Promise<void> {
    await this.#db.query(
      `delete from transactions where id in (
         select old.id from unnest($1::text[]) as served (network) cross join lateral (
           select id from transactions t
            where t.network = served.network and status = 'rejected' and created_at < now() - make_interval(days => $2)
            order by created_at limit $3) as old)`,
      [await recordedNetworks(this.#db), refusalDays, deletedAtOnceMax],
    );
  }

  /** Deletes what is more than the newest `kept` of a network, some at a time. */
  async trim(kept = keptMax): Promise<void> {
    await this.#db.query(
      `delete from transactions where id in (
         select surplus.id from unnest($1::text[]) as served (network) cross join lateral (
           select id from transactions t where t.network = served.network and status = 'rejected'
            order by created_at desc, id desc offset $2 limit $3) as surplus)`,
      [await recordedNetworks(this.#db), kept, trimmedAtOnceMax],
    );
  }

  /** Records what is left, and waits for it. */
  async stop(): Promise<void> {
    await this.#flushing;
    this.flush();
    await this.#flushing;
  }

  /** Begins to record what was refused since the last flush. */
  flush(): void {
    if (this.#dropped > 0) this.#log.warn({ dropped: this.#dropped }, "refusals beyond the record's buffer");
    this.#dropped = 0;
    if (this.#buffer.length === 0) return;
    const rows = this.#buffer;
    this.#buffer = [];
    this.#flushing = this.#insert(rows).catch((error) => this.#log.error({ err: error }, "refusals were not recorded"));
  }

  /** A row that the database will not have takes no other with it. */
  async #insert(rows: readonly RefusalRecord[]): Promise<void> {
    try {
      await this.#insertTogether(rows);
    } catch (error) {
      if (!isDataError(error)) throw error;
      if (rows.length === 1) return this.#log.error({ err: error }, "a refusal was not recorded");
      const middle = Math.ceil(rows.length / 2);
      await this.#insert(rows.slice(0, middle));
      await this.#insert(rows.slice(middle));
    }
  }

  async #insertTogether(rows: readonly RefusalRecord[]): Promise<void> {
    const column = (value: (row: RefusalRecord) => string | undefined) => rows.map((row) => storable(value(row)));
    await this.#db.query({
      name: "record-refusals",
      text: `
        with refused as (
          select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::int[])
            as r (network, kind, payer, pay_to, asset, amount, resource_url, reason, total_ms)
        ), counted as (
          insert into daily_reasons as d (network, day, status, reason, payments)
          select network, (now() at time zone 'utc')::date, 'rejected', reason, count(*) from refused
           group by network, reason order by network, reason
          on conflict (network, day, status, reason) do update set payments = d.payments + excluded.payments
        )
        insert into transactions (network, status, kind, payer, pay_to, asset, amount_atomic, resource_url, error_reason, total_ms)
        select network, 'rejected', kind, nullif(payer, ''), pay_to, asset,
               case when amount ~ '^[0-9]{1,78}$' then amount::numeric end, resource_url, reason, total_ms
          from refused`,
      values: [
        column(({ request }) => request.network),
        column(({ kind }) => kind),
        column(({ payer }) => accountIn(payer)),
        column(({ request }) => accountIn(request.requirements.payTo)),
        column(({ request }) => accountIn(request.requirements.asset)),
        column(({ request }) => request.requirements.amount),
        column(({ request }) => request.resourceUrl),
        column(({ reason }) => reason),
        rows.map(({ totalMs }) => totalMs),
      ],
    });
  }
}

/** Every text of a row goes through here: what callers send may be too long for anything, and no text to PostgreSQL. */
function storable(text: string | undefined): string | null {
  if (text === undefined) return null;
  // UTF-8 has no halves of surrogate pairs.
  return Buffer.from(text.slice(0, refusalTextMax).replaceAll("\0", "")).toString();
}

/** A text that could be an account or a token on some chain; undefined for any other text, which only readers of the public record see. */
function accountIn(text: unknown): string | undefined {
  return typeof text === "string" && /^[\w.:-]{1,100}$/.test(text) ? text : undefined;
}

export interface RefusalRecord {
  readonly kind: "verify" | "settle";
  readonly request: PaymentRequest;
  readonly payer: string;
  readonly reason: string;
  readonly totalMs: number;
}
