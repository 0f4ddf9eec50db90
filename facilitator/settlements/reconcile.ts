import type { Log } from "../../shared/log.ts";
import type { Events } from "../events.ts";
import type { SchemeRegistry } from "../schemes/registry.ts";
import type { Abandoned } from "./known.ts";
import type { SettlementStore } from "./store.ts";

const everyMs = 1_000;
const batchMax = 50;

/**
 * Finishes what a crash or a timeout left behind: asks the chain about every payment whose holder fell silent, at start
 * and on a timer, until it is settled or can no longer land.
 */
export class Reconciler {
  readonly #needs: { store: SettlementStore; schemes: SchemeRegistry; events: Events; log: Log };
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(needs: { store: SettlementStore; schemes: SchemeRegistry; events: Events; log: Log }) {
    this.#needs = needs;
  }

  start(): void {
    this.#running = this.#round().finally(() => {
      if (!this.#stopped) this.#timer = setTimeout(() => this.start(), everyMs);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #round(): Promise<void> {
    const { store, log } = this.#needs;
    try {
      const abandoned = await store.takeUnfinished(batchMax);
      await Promise.all(abandoned.map((payment) => this.#finish(payment)));
    } catch (error) {
      log.error({ err: error }, "reconciliation was interrupted; it goes on in the next round");
    }
  }

  async #finish(payment: Abandoned): Promise<void> {
    const { store, schemes, events, log } = this.#needs;
    // Bytes are stored before they are sent, so a bare claim was never sent.
    if (payment.state === "claimed") return store.releaseClaim(payment);
    const scheme = schemes.openOn(payment.network);
    if (!scheme) return;
    try {
      const outcome = await scheme.find(payment);
      await store.finish(payment, outcome, Date.now() - payment.createdAt.getTime(), false);
      if (outcome.outcome !== "unknown") events.reconciled(payment.network, payment.key, outcome);
    } catch (error) {
      log.warn({ err: error, paymentKey: payment.key }, "the chain could not be asked; it will be asked again");
    }
  }
}
