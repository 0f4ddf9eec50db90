import type { Log } from "../shared/log.ts";
import type { Outcome, Payment, PaymentRequest, Refusal } from "./schemes/scheme.ts";
import type { RefusalRecord } from "./settlements/refusals.ts";

/** One function per business event: its log line and its row in the record together, so that they cannot drift. */
export function createEvents(log: Log, recordRefusal: (refusal: RefusalRecord) => void): Events {
  return {
    verified(network, payment, totalMs) {
      log.debug({ event: "verified", network, payer: payment.payer, totalMs: Math.round(totalMs) });
    },
    refused({ kind, request, payer, refusal, totalMs }) {
      log.info({ event: "refused", kind, network: request?.network, payer, reason: refusal.refused });
      if (request) recordRefusal({ kind, request, payer, reason: refusal.refused, totalMs: Math.round(totalMs) });
    },
    settlementEnded(network, payment, outcome, totalMs) {
      const { payer, payTo } = payment;
      const facts = { network, payer, payTo, transaction: outcome.transaction, totalMs: Math.round(totalMs) };
      if (outcome.outcome === "settled") log.info({ event: "settled", ...facts });
      else if (outcome.outcome === "unknown") log.warn({ event: "settlement-unknown", ...facts });
      else log.warn({ event: "settlement-failed", ...facts, reason: outcome.reason, detail: outcome.message });
    },
    reconciled(network, key, outcome) {
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
}
