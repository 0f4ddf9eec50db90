import {
  isRefusal,
  NetworkAwayError,
  networkUnavailable,
  type Payment,
  type Refusal,
  type Scheme,
} from "../schemes/scheme.ts";
import type { PaymentRecord } from "../settlements/payment-record.ts";
import type { HoldResult, HoldStore, NotCovered } from "./store.ts";

/**
 * Holds a payment that `scheme.check` found good against its payer's balance, or refuses it because the payer's other
 * payments need the money. Before it refuses, the balance is read anew: what was settled a moment ago is counted only
 * until the chain shows it. Throws ApiError 503 when the chain does not answer then. `ahead`: what was placed meanwhile.
 */
export async function holdPayment(
  holds: HoldStore,
  scheme: Scheme,
  payment: Payment,
  ahead: HoldResult | undefined,
): Promise<HeldPayment> {
  const { network } = scheme;
  const held = scheme.balanceOf(payment);
  holds.rememberBalance(network, payment, held);
  if (ahead && ("record" in ahead || isRefusal(ahead))) return ahead;
  if (ahead && "holdId" in ahead) {
    if (ahead.inFlight + payment.amount <= held) return ahead;
    await holds.release(ahead.holdId);
  }
  const first = await holds.placeHold(network, payment, held);
  if (isEnd(first)) return first;
  const { balance, shows } = await scheme.readBalance(payment, first.settledLately).catch((cause) => {
    if (!(cause instanceof NetworkAwayError)) throw cause;
    throw networkUnavailable(`${network} cannot be asked at the moment; try again.`, cause);
  });
  const second = await holds.placeHold(network, payment, balance, shows ? first.settledUntil : undefined);
  if (isEnd(second)) return second;
  return scheme.insufficient(
    `The payer holds ${balance} base units, and other payments over ${second.inFlight} are in flight; ` +
      `with them, ${payment.amount} more are not covered. Try again when they have ended.`,
  );
}

function isEnd(result: HoldResult): result is Exclude<HoldResult, NotCovered> {
  return "holdId" in result || "record" in result || isRefusal(result);
}

export type HeldPayment = { readonly holdId: string } | { readonly record: PaymentRecord } | Refusal;
