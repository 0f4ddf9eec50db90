import { mainNetworks, type NetworkRow, testNetworks } from "./network-table.ts";

export type Environment = "mainnet" | "testnet";

/** A chain of network-table.ts. */
export interface Network extends NetworkRow {
  readonly environment: Environment;
}

const networks: ReadonlyMap<string, Network> = new Map(
  [...mainNetworks.map(on("mainnet")), ...testNetworks.map(on("testnet"))].map((network) => [network.id, network]),
);
const idsByV1Name: ReadonlyMap<string, string> = new Map(
  [...networks.values()].flatMap(({ id, v1Names }) => v1Names.map((name) => [name, id])),
);

/** CAIP-2 of every chain of the table. */
export const knownNetworks: readonly string[] = [...networks.keys()];

export function networkOf(id: string): Network | undefined {
  return networks.get(id);
}

/** What a chain's fees are paid in; undefined of a chain that is not in the table. */
export function gasTokenOf(id: string): string | undefined {
  const network = networks.get(id);
  return network && (network.gasToken ?? "ETH");
}

/** CAIP-2 of every chain of the table whose ids begin with this namespace, such as `hedera`. */
export function networksOf(namespace: string): readonly string[] {
  return knownNetworks.filter((id) => id.startsWith(`${namespace}:`));
}

/** A chain that neither the table nor the operator describes is a main network. */
export function environmentOf(id: string): Environment {
  return networks.get(id)?.environment ?? "mainnet";
}

/** Whether a text has the form of a CAIP-2 id, such as `eip155:8453`; of any chain. */
export function isCaip2(text: string): boolean {
  return /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(text);
}

/** CAIP-2 for a v1 name; anything else is returned as it is. */
export function toCaip2(network: string): string {
  return idsByV1Name.get(network) ?? network;
}

/** The v1 name of a CAIP-2 network, if it has one. */
export function v1NameOf(id: string): string | undefined {
  return networks.get(id)?.v1Names[0];
}

/** The one spelling of an account, by which it is compared and signed over: the case of an EVM address says nothing. */
export function canonicalAccount(network: string, account: string): string {
  return network.startsWith("eip155:") ? account.toLowerCase() : account;
}

/** Where people look a transaction up; undefined without a public explorer. `explorer`: what begins the network's links. */
export function transactionUrl(network: string, explorer: string | undefined, transaction: string): string | undefined {
  return explorer && `${explorer}/${network.startsWith("hedera:") ? "transaction" : "tx"}/${transaction}`;
}

/** Where people look an account or a token up: on EVM chains both are addresses. */
export function addressUrl(
  network: string,
  explorer: string | undefined,
  { account, token }: Address,
): string | undefined {
  if (!explorer) return undefined;
  if (!network.startsWith("hedera:")) return `${explorer}/address/${account ?? token}`;
  return account === undefined ? `${explorer}/token/${token}` : `${explorer}/account/${account}`;
}

type Address =
  | { readonly account: string; readonly token?: never }
  | { readonly token: string; readonly account?: never };

/** Whether the chains of a list are main networks or test networks. */
function on(environment: Environment): (row: NetworkRow) => Network {
  return (row) => ({ ...row, environment });
}
