import { ApiError } from "../../shared/errors.ts";
import { NetworkAway, type Payment, type Refusal, type Scheme } from "../schemes/scheme.ts";
import type { Known } from "../settlements/known.ts";
import type { HoldStore, Placed } from "./store.ts";

/**
 * Holds a payment that `scheme.check` found good against its payer's balance, or refuses it because the payer's other
 * payments need the money. Before it refuses, the balance is read anew: what was settled a moment ago is counted only
 * until the chain shows it. Throws ApiError 503 when the chain does not answer then. `ahead`: what was placed meanwhile.
 */
export async function cover(
  holds: HoldStore,
  scheme: Scheme,
  payment: Payment,
  ahead: Placed | undefined,
): Promise<Cover> {
  const { network } = scheme;
  const held = scheme.balanceOf(payment);
  holds.noteBalance(network, payment, held);
  if (ahead && "known" in ahead) return ahead;
  if (ahead && "holdId" in ahead) {
    if (ahead.inFlight + payment.amount <= held) return ahead;
    await holds.release(ahead.holdId);
  }
  const first = await holds.place(network, payment, held);
  if ("holdId" in first || "known" in first) return first;
  const { balance, shows } = await scheme.readBalance(payment, first.settledLately).catch((error) => {
    if (!(error instanceof NetworkAway)) throw error;
    const headers = { "retry-after": "5" };
    throw new ApiError("unavailable", `${network} cannot be asked at the moment; try again.`, {
      headers,
      cause: error,
    });
  });
  const second = await holds.place(network, payment, balance, shows ? first.settledUntil : undefined);
  if ("holdId" in second || "known" in second) return second;
  return scheme.insufficient(
    `The payer holds ${balance} base units, and other payments over ${second.inFlight} are in flight; ` +
      `with them, ${payment.amount} more are not covered. Try again when they have ended.`,
  );
}

type Cover = { readonly holdId: string } | { readonly known: Known } | Refusal;
