import { stablecoinOn } from "../../stablecoins.ts";
import type { FacilitatorClient } from "./client.ts";

/**
 * CAIP-2 of the networks that calls can be paid on here, as the facilitator says; none where it does not answer within a second:
 * pages do not wait for it.
 */
export async function payableHere(facilitator: Pick<FacilitatorClient, "supported">): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, waitMs, undefined);
  });
  const answer = facilitator.supported().catch(() => undefined);
  const supported = await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  const networks = (supported?.kinds ?? []).flatMap(({ x402Version, scheme, network }) => {
    return x402Version === 2 && scheme === "exact" && stablecoinOn(network) ? [network] : [];
  });
  return [...new Set(networks)];
}

const waitMs = 1_000;
