import { createPublicClient, http, type PublicClient } from "viem";

/** The EVM chains the operator configured, read only. */
export class EvmChains {
  readonly networks: readonly string[];
  readonly #clients: ReadonlyMap<string, PublicClient>;

  /** RPC endpoint by CAIP-2 id. */
  constructor(rpcUrls: Readonly<Record<string, string>>) {
    this.networks = Object.keys(rpcUrls);
    this.#clients = new Map(
      Object.entries(rpcUrls).map(([network, url]) => [
        network,
        createPublicClient({ cacheTime: 0, transport: http(url, { timeout: 10_000, retryCount: 1, batch: true }) }),
      ]),
    );
  }

  client(network: string): PublicClient | undefined {
    return this.#clients.get(network);
  }
}
