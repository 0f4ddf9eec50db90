import type { EvmFeePayer, Sending } from "./fee-payer.ts";
import type { Hex } from "./hex.ts";
import type { EvmPayment } from "./payload.ts";
import type { RightToSend } from "./sign-batch.ts";

/**
 * Asks one fee payer after the other, for as long as they have no money for gas or no key that signs. Once several
 * remote keys have not signed, only those in this process are asked.
 */
export async function sendByAny(
  feePayers: readonly EvmFeePayer[],
  right: RightToSend,
  payment: EvmPayment,
  data: Hex,
): Promise<Sending> {
  const untried = new Set(feePayers);
  let unsigned = 0;
  for (;;) {
    const signing = [...untried].filter(({ signs, isHere }) => signs && (isHere || unsigned < unsignedMax));
    if (signing.length === 0) return untried.size > 0 || unsigned > 0 ? { unsigned: true } : { empty: true };
    const feePayer = leastBusy(signing);
    untried.delete(feePayer);
    const last = await feePayer.send(right, payment, data);
    if (!("empty" in last || "unsigned" in last)) return last;
    if ("unsigned" in last) unsigned += 1;
  }
}

const unsignedMax = 3;

/** Those whose money is not kept for the resource servers that the operator knows; all, where there is no other. */
export function openToStrangers(feePayers: readonly EvmFeePayer[]): readonly EvmFeePayer[] {
  const open = feePayers.filter(({ balance }) => !balance.keptForClients);
  return open.length > 0 ? open : feePayers;
}

/** Prefers a fee payer that this copy looks after, so that copies seldom wait for each other's nonces. */
export function leastBusy(feePayers: readonly EvmFeePayer[]): EvmFeePayer {
  const able = feePayers.filter(({ balance }) => !balance.empty && balance.signs);
  const own = able.filter(({ isLeased }) => isLeased);
  const choice = [own, able, feePayers].find((some) => some.length > 0) ?? feePayers;
  return choice.toSorted((a, b) => a.waiting - b.waiting)[0] as EvmFeePayer;
}
