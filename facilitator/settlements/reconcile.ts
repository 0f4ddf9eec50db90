import type { Log } from "../../shared/log.ts";
import { startRounds } from "../../shared/rounds.ts";
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
export function startReconciling(needs: Needs): { stop(): Promise<void> } {
  return startRounds(
    async () => {
      const abandoned = await needs.store.takeUnfinished(batchMax);
      await Promise.all(abandoned.map((payment) => finish(needs, payment)));
    },
    everyMs,
    (error) => needs.log.error({ err: error }, "reconciliation was interrupted; it goes on in the next round"),
  );
}

async function finish({ store, schemes, events, log }: Needs, payment: Abandoned): Promise<void> {
  const scheme = schemes.openOn(payment.network);
  if (!scheme) return;
  try {
    const outcome = await scheme.find(payment);
    // A bare claim was sent all the same if the database has lost its last moments since.
    if (outcome.outcome === "unknown" && payment.state === "claimed") return await store.openClaim(payment);
    await store.finish(payment, outcome, Date.now() - payment.createdAt.getTime(), false);
    if (outcome.outcome !== "unknown") events.reconciled(payment.network, payment.key, outcome);
  } catch (error) {
    log.warn({ err: error, paymentKey: payment.key }, "the chain could not be asked; it will be asked again");
  }
}

interface Needs {
  readonly store: SettlementStore;
  readonly schemes: SchemeRegistry;
  readonly events: Events;
  readonly log: Log;
}
