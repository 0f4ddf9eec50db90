import type { Database } from "../../shared/postgres.ts";
import { type Payment, type Refusal, refuse } from "../schemes/scheme.ts";
import type { LimitsConfig } from "./config.ts";
import { failuresOfADayWithin, failuresWithin } from "./failure-windows.ts";

const payersMax = 10_000;

/** The answer to a payer whose settlements fail after they were found good: each of them costs a network fee. */
export const coolingDown = refuse(
  "rate_limited",
  `Settlements of this payer failed lately at our cost: it has to wait for ${failuresWithin}, after many of them for ${failuresOfADayWithin}.`,
);

/**
 * Which payers are let cool down, as read a moment ago, so that /verify does not promise what /settle would refuse. The
 * claim itself counts again (settlements/store.ts).
 */
export class PayerCooldowns {
  readonly #db: Database;
  readonly #limits: LimitsConfig;
  #cooling: ReadonlySet<string> = new Set();

  constructor(db: Database, limits: LimitsConfig) {
    this.#db = db;
    this.#limits = limits;
  }

  refusalOf(network: string, { payer }: Payment): Refusal | undefined {
    return this.#cooling.has(`${network} ${payer}`) ? coolingDown : undefined;
  }

  /** Reads who has to wait. Claims count the failures themselves, also while this cannot be read. */
  async read(): Promise<void> {
    const { rows } = await this.#db.query({
      name: "cooling-payers",
      text: `
        select network, payer from payer_failures
         where failed_at > now() - interval '${failuresOfADayWithin}'
         group by network, payer
        having ($1 > 0 and count(*) filter (where failed_at > now() - interval '${failuresWithin}') >= $1)
            or ($2 > 0 and count(*) >= $2)
         limit $3`,
      values: [this.#limits.failuresPerPayer, this.#limits.failuresPerPayerDay, payersMax],
    });
    this.#cooling = new Set(rows.map(({ network, payer }) => `${network} ${payer}`));
  }

  /** Deletes failures that no limit counts any more. */
  async sweep(): Promise<void> {
    await this.#db.query(
      `delete from payer_failures where failed_at < now() - 2 * greatest(interval '${failuresWithin}', interval '${failuresOfADayWithin}')`,
    );
  }
}
