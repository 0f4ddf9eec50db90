import type { Log } from "../../shared/log.ts";
import type { Database } from "../../shared/postgres.ts";
import type { LimitsConfig } from "../config.ts";
import { type Payment, type Refusal, refuse } from "../schemes/scheme.ts";

const readEveryMs = 2_000;
const sweepEveryMs = 3_600_000;
const payersMax = 10_000;

/** The answer to a payer whose settlements fail after they were found good: each of them costs a network fee. */
export const coolingDown = refuse(
  "rate_limited",
  "Settlements of this payer failed lately at our cost: it has to wait ten minutes, after many of them a day.",
);

/**
 * Which payers are let cool down, as read a moment ago, so that /verify does not promise what /settle would refuse. The
 * claim itself counts again (settlements/store.ts).
 */
export class PayerRecord {
  readonly #db: Database;
  readonly #log: Log;
  readonly #limits: LimitsConfig;
  readonly #timers: readonly NodeJS.Timeout[];
  #cooling: ReadonlySet<string> = new Set();

  constructor(db: Database, log: Log, limits: LimitsConfig) {
    this.#db = db;
    this.#log = log;
    this.#limits = limits;
    this.#timers = [
      setInterval(() => void this.#read(), readEveryMs),
      setInterval(() => void this.#sweep(), sweepEveryMs),
    ];
    for (const timer of this.#timers) timer.unref();
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  refusalOf(network: string, { payer }: Payment): Refusal | undefined {
    return this.#cooling.has(`${network} ${payer}`) ? coolingDown : undefined;
  }

  async #read(): Promise<void> {
    try {
      const { rows } = await this.#db.query({
        name: "cooling-payers",
        text: `
          select network, payer from payer_failures
           where failed_at > now() - interval '1 day'
           group by network, payer
          having ($1 > 0 and count(*) filter (where failed_at > now() - interval '10 minutes') >= $1)
              or ($2 > 0 and count(*) >= $2)
           limit $3`,
        values: [this.#limits.failuresPerPayer, this.#limits.failuresPerPayerDay, payersMax],
      });
      this.#cooling = new Set(rows.map(({ network, payer }) => `${network} ${payer}`));
    } catch (error) {
      this.#log.warn({ err: error }, "the record of payers' failures could not be read; claims still count it");
    }
  }

  async #sweep(): Promise<void> {
    await this.#db.query("delete from payer_failures where failed_at < now() - interval '2 days'").catch(() => {});
  }
}
