import { type Payment, type Refusal, refuse } from "../schemes/scheme.ts";
import type { CallCounts } from "./call-counts.ts";
import type { Caller } from "./clients.ts";
import type { LimitsConfig } from "./config.ts";

/** How often a payer and a payee may settle. These guard money, so they are always counted in PostgreSQL. */
export class PaymentLimits {
  readonly #counts: CallCounts;
  readonly #config: LimitsConfig;

  constructor(counts: CallCounts, config: LimitsConfig) {
    this.#counts = counts;
    this.#config = config;
  }

  /** Refuses a payer who settles too often. */
  async ofPayer(network: string, { payer }: Payment): Promise<Refusal | undefined> {
    return this.#refusalOver("payer", `${network} ${payer}`, this.#config.settlePerPayer);
  }

  /**
   * Refuses a payee for whom too much is settled. Where the operator knows some callers, what strangers settle counts by itself: for
   * a few base units a payment they could keep a payee from settling at its own resource server.
   */
  async ofPayTo(network: string, { payTo }: Payment, { isStranger }: Caller): Promise<Refusal | undefined> {
    const account = `${network} ${payTo}`;
    return this.#refusalOver("payTo", isStranger ? `of strangers ${account}` : account, this.#config.settlePerPayTo);
  }

  /** A limit of 0 is none and costs no query. */
  async #refusalOver(who: "payer" | "payTo", account: string, limit: number): Promise<Refusal | undefined> {
    if (limit === 0) return undefined;
    const { totalHits } = await this.#counts.increment(`${who} ${account}`);
    if (totalHits <= limit) return undefined;
    return refuse("rate_limited", `This ${who} settles too often: ${limit} a minute is the limit.`);
  }
}
