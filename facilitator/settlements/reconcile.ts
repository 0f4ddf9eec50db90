import type { Log } from "../../shared/log.ts";
import type { SchemeRegistry } from "../schemes/registry.ts";
import type { Outcome, Scheme } from "../schemes/scheme.ts";
import type { Abandoned } from "./payment-record.ts";
import type { SettlementStore } from "./store.ts";

const batchMax = 50;

/**
 * Finishes what a crash or a timeout left behind on a network: asks the chain about some of the payments whose lease has run out,
 * each again and again until it is settled or can no longer land. Each network by itself: one that stands still holds up no other's.
 */
export async function reconcile(needs: Needs, network: string): Promise<void> {
  const scheme = needs.schemes.openOn(network);
  if (!scheme) return;
  const abandoned = await needs.store.takeUnfinished(network, batchMax);
  await Promise.all(abandoned.map((payment) => finish(needs, scheme, payment)));
}

/** Warns of payments that cannot be looked for: their network is not configured any more, or has not answered since the start. */
export async function tellOfWaiting({ store, schemes, log }: Pick<Needs, "store" | "schemes" | "log">): Promise<void> {
  const open = schemes.all.map(({ network }) => network).filter((network) => schemes.openOn(network));
  for (const waiting of await store.waitingOutside(open))
    log.warn(waiting, "payments wait for their network, which is not configured or has not answered since the start");
}

async function finish({ store, events, log }: Needs, scheme: Scheme, payment: Abandoned): Promise<void> {
  const facts = { network: payment.network, paymentKey: payment.key, transaction: payment.transaction };
  try {
    const outcome = await scheme.find(payment);
    if (outcome.outcome === "unknown") {
      log.info({ event: "still-unknown", ...facts, state: payment.state, because: outcome.because });
    }
    // A row without signed bytes may have been sent all the same: a database that failed over has lost its last moments.
    if (outcome.outcome === "unknown" && payment.state === "claimed") return await store.openClaim(payment);
    const mine = await store.finish(payment, outcome, Date.now() - payment.createdAt.getTime(), false);
    if (mine && outcome.outcome !== "unknown") events.reconciled(payment.network, payment.key, outcome);
  } catch (error) {
    log.warn({ err: error, ...facts }, "the chain could not be asked; it will be asked again");
  }
}

interface Needs {
  readonly store: SettlementStore;
  readonly schemes: SchemeRegistry;
  readonly events: { reconciled(network: string, key: string, outcome: Outcome): void };
  readonly log: Log;
}
