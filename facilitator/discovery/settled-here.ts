import type { SupportedKind } from "../../shared/x402.ts";
import type { NetworkConfig } from "../schemes/network-config.ts";

/** What of a network an offer must agree with to be paid here. */
export interface SettledNetwork extends Pick<NetworkConfig, "network" | "assets" | "amountMin"> {
  readonly feePayers: readonly string[];
}

/** What is settled here, as a seller's offers are held against it. */
export interface SettledHere {
  readonly kinds: readonly SupportedKind[];
  readonly networks: readonly SettledNetwork[];
}

/** From configuration alone. */
export function settledHere({ schemes, config }: Needs): SettledHere {
  const feePayersOn = (network: string) =>
    schemes.all.filter((scheme) => scheme.network === network).flatMap(({ feePayers }) => feePayers);
  return {
    kinds: schemes.all.flatMap(({ kinds }) => kinds),
    networks: [...config.evm, ...config.hedera].map(({ network, assets, amountMin }) => {
      return { network, assets, amountMin, feePayers: feePayersOn(network) };
    }),
  };
}

interface Needs {
  readonly schemes: {
    readonly all: ReadonlyArray<{
      readonly network: string;
      readonly kinds: readonly SupportedKind[];
      readonly feePayers: readonly string[];
    }>;
  };
  readonly config: { readonly evm: readonly NetworkConfig[]; readonly hedera: readonly NetworkConfig[] };
}
