import type { Claim } from "../scheme.ts";
import type { EvmFeePayer, Sending } from "./fee-payer.ts";
import type { Hex } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";

/** One after the other, for as long as they turn out to have no money for gas. */
export async function sendByAny(
  feePayers: readonly EvmFeePayer[],
  claim: Claim,
  payment: EvmPayment,
  data: Hex,
): Promise<Sending> {
  for (const _ of feePayers) {
    const sending = await leastBusy(feePayers).send(claim, payment, data);
    if (!("empty" in sending)) return sending;
  }
  return { empty: true };
}

export function leastBusy(feePayers: readonly EvmFeePayer[]): EvmFeePayer {
  const able = feePayers.filter(({ balance }) => !balance.empty);
  return (able.length > 0 ? able : feePayers).toSorted((a, b) => a.waiting - b.waiting)[0] as EvmFeePayer;
}
