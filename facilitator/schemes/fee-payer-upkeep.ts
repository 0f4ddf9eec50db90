import type { Upkeep } from "./scheme.ts";
import { renewEveryMs } from "./signer-leases.ts";

/** What every chain family does for its fee payers in the background. */
export function feePayerUpkeep(feePayers: LookedAfter): readonly Upkeep[] {
  return [
    { name: "renew leases of fee payers", everyMs: renewEveryMs, run: () => feePayers.renewLeases() },
    { name: "read balances of fee payers", everyMs: 2_500, run: () => feePayers.readBalances() },
    { name: "look for keys that were away", everyMs: 3_000, run: () => feePayers.lookForKeys() },
  ];
}

interface LookedAfter {
  renewLeases(): Promise<unknown>;
  readBalances(): Promise<unknown>;
  lookForKeys(): Promise<unknown>;
}
