/** @jsxRuntime automatic @jsxImportSource preact */
import { networkOf, transactionUrl } from "../../../shared/networks.ts";

/** `Base`; its id where the table of chains has no name for it. */
export function networkName(network: string): string {
  return networkOf(network)?.name ?? network;
}

/** Where people look a transaction up; undefined where there is no public explorer. */
export function explorerOf(network: string, transaction: string): string | undefined {
  return transactionUrl(network, networkOf(network)?.explorer, transaction);
}

/** The chains, each as its mark, with its name for screen readers. */
export function Networks({ networks }: { networks: readonly string[] }) {
  return (
    <>
      {networks.map((network) => (
        <NetworkMark network={network} />
      ))}
    </>
  );
}

export function NetworkMark({ network }: { network: string }) {
  const name = networkName(network);
  return (
    <span class={network.startsWith("eip155:") ? "pip pip-evm" : "pip"} title={name}>
      <span aria-hidden="true">{name.slice(0, 1)}</span>
      <span class="vh">{name}</span>
    </span>
  );
}
