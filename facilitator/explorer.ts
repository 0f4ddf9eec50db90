import { addressUrl, type Environment, networkOf, transactionUrl } from "../shared/networks.ts";

/** Where people can look a transaction up; null on a network without a public explorer, or not served any more. */
export function explorerUrl({ evm, hedera }: Explorers, network: string, transaction: string | null): string | null {
  const base = [...evm, ...hedera].find((served) => served.network === network)?.explorer;
  return (transaction && transactionUrl(network, base, transaction)) || null;
}

/** Where people can look an account up on each of the served networks of an environment on which there can be such an account. */
export function explorersOf(
  { evm, hedera, environmentOf }: Explorers & { readonly environmentOf: (network: string) => Environment },
  env: Environment,
  account: string,
): ReadonlyArray<{ readonly name: string; readonly href: string }> {
  const served: readonly Explored[] = /^0x[0-9a-fA-F]{40}$/.test(account) ? evm : hedera;
  return served.flatMap(({ network, explorer }) => {
    const href = addressUrl(network, explorer, { account });
    if (href === undefined || environmentOf(network) !== env) return [];
    return [{ name: networkOf(network)?.name ?? network, href }];
  });
}

/** Where people can look a token up; undefined on a network without a public explorer, or not served any more. */
export function tokenUrl({ evm, hedera }: Explorers, network: string, token: string): string | undefined {
  const served = [...evm, ...hedera].find((one) => one.network === network);
  return addressUrl(network, served?.explorer, { token });
}

/** The networks that are served, with where each begins its links (config.ts). */
export interface Explorers {
  readonly evm: readonly Explored[];
  readonly hedera: readonly Explored[];
}

interface Explored {
  /** CAIP-2. */
  readonly network: string;
  readonly explorer: string | undefined;
}
