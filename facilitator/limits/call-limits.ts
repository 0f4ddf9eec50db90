import { clientOf } from "../../shared/client-address.ts";
import type { Database } from "../../shared/postgres.ts";
import type { LimitsConfig } from "../config.ts";
import { type Payment, type Refusal, refuse } from "../schemes/scheme.ts";
import type { Client } from "./clients.ts";

const windowSeconds = 60;

/** What is verified may be released as often. */
export type LimitedVerb = "verify" | "settle" | "release";

/**
 * How often somebody may call, counted in Postgres so that copies of the daemon count together. A limit of 0 is none
 * and costs no query.
 */
export class CallLimits {
  readonly #db: Database;
  readonly #config: LimitsConfig;
  readonly #sweep: NodeJS.Timeout;

  constructor(db: Database, config: LimitsConfig) {
    this.#db = db;
    this.#config = config;
    this.#sweep = setInterval(() => {
      void db.query("delete from call_counts where window_end < now()").catch(() => {});
    }, windowSeconds * 1_000);
    this.#sweep.unref();
  }

  stop(): void {
    clearInterval(this.#sweep);
  }

  /** Seconds to wait when this address has called too often. */
  async ofAddress(verb: LimitedVerb, address: string): Promise<number | undefined> {
    const limit = verb === "settle" ? this.#config.settlePerAddress : this.#config.verifyPerAddress;
    return this.#secondsOver(limit, () => `${verb} ${clientOf(address)}`);
  }

  /** The same for a known resource server, wherever it calls from. */
  async ofClient(verb: LimitedVerb, { name, callsPerMinute }: Client): Promise<number | undefined> {
    return this.#secondsOver(callsPerMinute, () => `client ${verb} ${name}`);
  }

  async #secondsOver(limit: number, bucket: () => string): Promise<number | undefined> {
    if (limit === 0) return undefined;
    const [count] = await this.#count([bucket()]);
    return count && count.calls > limit ? count.secondsLeft : undefined;
  }

  /** Refuses a payer or payee who settles too often. */
  async ofPayment(network: string, { payer, payTo }: Payment): Promise<Refusal | undefined> {
    const { settlePerPayer, settlePerPayTo } = this.#config;
    const limited = [
      { who: "payer", bucket: `payer ${network} ${payer}`, limit: settlePerPayer },
      { who: "payTo", bucket: `payTo ${network} ${payTo}`, limit: settlePerPayTo },
    ].filter(({ limit }) => limit > 0);
    if (limited.length === 0) return undefined;
    const counts = await this.#count(limited.map(({ bucket }) => bucket));
    const over = limited.find(({ limit }, index) => (counts[index]?.calls ?? 0) > limit);
    return over && refuse("rate_limited", `This ${over.who} settles too often: ${over.limit} a minute is the limit.`);
  }

  async #count(buckets: readonly string[]): Promise<ReadonlyArray<{ calls: number; secondsLeft: number } | undefined>> {
    const { rows } = await this.#db.query({
      name: "count-calls",
      text: `
        insert into call_counts as counted (bucket, window_end, calls)
        select bucket, now() + make_interval(secs => $2), 1 from unnest($1::text[]) bucket order by bucket
        on conflict (bucket) do update
          set calls = case when counted.window_end <= now() then 1 else counted.calls + 1 end,
              window_end = case when counted.window_end <= now() then excluded.window_end else counted.window_end end
        returning bucket, calls, ceil(extract(epoch from window_end - now()))::int as "secondsLeft"`,
      values: [buckets, windowSeconds],
    });
    const byBucket = new Map(rows.map((row) => [row.bucket, row]));
    return buckets.map((bucket) => byBucket.get(bucket));
  }
}
