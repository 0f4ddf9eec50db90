import { transactionUrl } from "../shared/networks.ts";

/** Where people can look a transaction up; null on a network without a public explorer, or not served any more. */
export function explorerUrl({ evm, hedera }: Explorers, network: string, transaction: string | null): string | null {
  const base = [...evm, ...hedera].find((served) => served.network === network)?.explorer;
  return (transaction && transactionUrl(network, base, transaction)) || null;
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
