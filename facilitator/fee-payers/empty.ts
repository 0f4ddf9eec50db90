import { ApiError } from "../../shared/errors.ts";
import type { Scheme } from "../schemes/scheme.ts";

/** 503: nobody can pay the network fee. Ours to mend, so nothing is claimed and nothing held against the payer. */
export class FeePayersEmpty extends ApiError {
  constructor(network: string) {
    super("unavailable", `Nothing is settled on ${network} now: the fee payers have no money left for network fees.`, {
      headers: { "retry-after": "30" },
      body: { network },
    });
  }
}

/** Throws FeePayersEmpty when no fee payer that may pay for `payment` has money. */
export function requireFeePayer(scheme: Scheme, payment: Parameters<Scheme["check"]>[0]): void {
  if (scheme.balances(payment).every(({ empty }) => empty)) throw new FeePayersEmpty(scheme.network);
}
