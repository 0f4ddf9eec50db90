import type { Log } from "../shared/log.ts";
import type { Metrics } from "./metrics.ts";
import type { Outcome, Payment, PaymentRequest, Refusal, SentSettlement } from "./schemes/scheme.ts";
import type { RefusalRecord } from "./settlements/refusals.ts";

/** One function per business event: its log line, its metric and its row in the record together, so that they cannot drift. */
export function createEvents(log: Log, metrics: Metrics, { recordRefusal, recordReconciled }: Recorders): Events {
  const count = (verb: "verify" | "settle", network: string, outcome: string, reason: string, totalMs: number) => {
    metrics.answers.add({ verb, network, outcome, reason });
    metrics.durations.observe({ verb, network }, totalMs / 1_000);
  };
  return {
    verified(network, payment, totalMs) {
      count("verify", network, "valid", "", totalMs);
      log.debug({ event: "verified", network, payer: payment.payer, totalMs: Math.round(totalMs) });
    },
    refused({ kind, request, payer, refusal, totalMs }) {
      // A network that is not served has a name of the caller's choice.
      const network = refusal.refused === "invalid_network" ? "" : (request?.network ?? "");
      count(kind, network, "refused", refusal.refused, totalMs);
      const named = request?.network.slice(0, networkLengthMax);
      log.info({ event: "refused", kind, network: named, payer, reason: refusal.refused });
      if (request) recordRefusal({ kind, request, payer, reason: refusal.refused, totalMs: Math.round(totalMs) });
    },
    settlementEnded(network, payment, outcome, totalMs) {
      const { key: paymentKey, payer, payTo } = payment;
      count("settle", network, outcome.outcome, outcome.outcome === "failed" ? outcome.reason : "", totalMs);
      const facts = {
        network,
        paymentKey,
        payer,
        payTo,
        transaction: outcome.transaction,
        totalMs: Math.round(totalMs),
      };
      if (outcome.outcome === "settled") log.info({ event: "settled", ...facts });
      else if (outcome.outcome === "unknown") log.warn({ event: "settlement-unknown", ...facts });
      else log.warn({ event: "settlement-failed", ...facts, reason: outcome.reason, detail: outcome.message });
    },
    jobFailed(job, error) {
      metrics.jobFailures.add({ task: job });
      log.warn({ event: "job-failed", job, err: error }, "background job failed; it will be tried again");
    },
    foundAgain(network, { key, payer, payTo, asset, amount, transaction, landedAt }) {
      const facts = { network, paymentKey: key, payer, payTo, asset, amount: String(amount), transaction, landedAt };
      log.warn(
        { event: "settlement-found-again", ...facts },
        "a settlement that the database had lost is on record again",
      );
    },
    reconciled(network, key, outcome) {
      metrics.reconciled.add({ network, outcome: outcome.outcome });
      recordReconciled(network, outcome.outcome);
      log.info({
        event: "reconciled",
        network,
        paymentKey: key,
        outcome: outcome.outcome,
        transaction: outcome.transaction,
      });
    },
  };
}

/** More than any network's name has. */
const networkLengthMax = 100;

interface Recorders {
  readonly recordRefusal: (refusal: RefusalRecord) => void;
  readonly recordReconciled: (network: string, outcome: string) => void;
}

export interface Events {
  verified(network: string, payment: Payment, totalMs: number): void;
  refused(refused: {
    kind: "verify" | "settle";
    request: PaymentRequest | undefined;
    payer: string;
    refusal: Refusal;
    totalMs: number;
  }): void;
  settlementEnded(network: string, payment: Payment, outcome: Outcome, totalMs: number): void;
  reconciled(network: string, key: string, outcome: Outcome): void;
  /** The chain has it and the database had not. */
  foundAgain(network: string, settlement: SentSettlement): void;
  /** `job`: its name in jobs.ts. */
  jobFailed(job: string, error: unknown): void;
}
