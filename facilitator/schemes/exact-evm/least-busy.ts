import type { Claim } from "../scheme.ts";
import type { EvmFeePayer, Sending } from "./fee-payer.ts";
import type { Hex } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";

/** One after the other, for as long as they turn out to have no money for gas or no key that signs. */
export async function sendByAny(
  feePayers: readonly EvmFeePayer[],
  claim: Claim,
  payment: EvmPayment,
  data: Hex,
): Promise<Sending> {
  const untried = new Set(feePayers);
  let sending: Sending = { empty: true };
  while (untried.size > 0) {
    const feePayer = leastBusy([...untried]);
    untried.delete(feePayer);
    const last = await feePayer.send(claim, payment, data);
    if (!("empty" in last || "unsigned" in last)) return last;
    if ("unsigned" in last) sending = last;
  }
  return sending;
}

/** One that this copy looks after, if it can: so copies seldom wait for each other's nonces. */
export function leastBusy(feePayers: readonly EvmFeePayer[]): EvmFeePayer {
  const able = feePayers.filter(({ balance }) => !balance.empty && balance.signs);
  const own = able.filter(({ isLeased }) => isLeased);
  const choice = [own, able, feePayers].find((some) => some.length > 0) ?? feePayers;
  return choice.toSorted((a, b) => a.waiting - b.waiting)[0] as EvmFeePayer;
}
