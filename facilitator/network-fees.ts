import { formatUnits } from "../shared/amounts.ts";
import type { Database } from "../shared/postgres.ts";
import type { SchemeRegistry } from "./schemes/registry.ts";

const waitMs = 150;
/** Questions of this copy. Low, because payments need the chains more. */
const asksPerSecondMax = 5;

/** What a payment's fee is asked by. */
export interface Charged {
  readonly id: bigint;
  readonly network: string;
  /** The transaction of ours that ended it. */
  readonly transaction: string;
  /** Base units of the network's own token, where it was read before. */
  readonly networkFee: bigint | undefined;
}

export interface NetworkFee {
  /** Whole units in decimal. */
  readonly amount: string;
  readonly unit: string;
}

/**
 * What fee payers paid for settlements. /settle does not wait for it: the chain is asked when a reader looks at the payment for
 * the first time, and what it says is kept.
 */
export class NetworkFees {
  readonly #db: Database;
  readonly #schemes: Pick<SchemeRegistry, "openOn">;
  #second = 0;
  #asked = 0;

  constructor(db: Database, schemes: Pick<SchemeRegistry, "openOn">) {
    this.#db = db;
    this.#schemes = schemes;
  }

  /** Undefined while it is not known: what comes too late for this answer is there for the next. */
  async of(charged: Charged): Promise<NetworkFee | undefined> {
    const { network, networkFee } = charged;
    const unit = this.#schemes.openOn(network)?.balances()[0];
    if (!unit) return undefined;
    const fee = networkFee ?? (await this.#ask(charged));
    return fee === undefined ? undefined : { amount: formatUnits(fee, unit.decimals), unit: unit.unit };
  }

  async #ask(charged: Charged): Promise<bigint | undefined> {
    if (!this.#mayAsk()) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, waitMs, undefined);
    });
    try {
      return await Promise.race([this.#read(charged).catch(() => undefined), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #read({ id, network, transaction }: Charged): Promise<bigint | undefined> {
    const fee = await this.#schemes.openOn(network)?.networkFee(transaction);
    if (fee !== undefined) {
      await this.#db.query({
        name: "keep-network-fee",
        text: "update payments set network_fee = $2 where id = $1 and transaction_id = $3 and network_fee is null",
        values: [id, fee, transaction],
      });
    }
    return fee;
  }

  #mayAsk(): boolean {
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.#second) [this.#second, this.#asked] = [second, 0];
    this.#asked += 1;
    return this.#asked <= asksPerSecondMax;
  }
}
