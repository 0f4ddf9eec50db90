/** @jsxRuntime automatic @jsxImportSource preact */
import { networkOf } from "../../../shared/networks.ts";

/** `Base`; its id where the table of chains has no name for it. */
export function networkName(network: string): string {
  return networkOf(network)?.name ?? network;
}

/** Where a person looks a transaction up; undefined where there is no public explorer. */
export function explorerOf(network: string, transaction: string): string | undefined {
  const explorer = networkOf(network)?.explorer;
  return explorer && `${explorer}/${network.startsWith("hedera:") ? "transaction" : "tx"}/${transaction}`;
}

/** The chains, each as its mark with its name for who hears the page. */
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
