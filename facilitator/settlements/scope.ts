import { type Environment, isCaip2, toCaip2 } from "../../shared/networks.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { PaymentState } from "../payment-states.ts";

export const environments = ["mainnet", "testnet"] as const;
export const statuses = ["settled", "failed", "rejected"] as const;
/** What payments that have not ended are asked for by, and the states that each means. */
export const unfinishedStatuses = {
  in_progress: ["claimed", "broadcast"],
  unknown: ["unknown"],
} as const satisfies Record<string, readonly PaymentState[]>;

/**
 * Which part of the record a question is about. An environment's networks are those this daemon serves and those the
 * record holds, so that history does not vanish with a network's configuration.
 */
export async function recordScope(
  db: Queryable,
  { schemes, config: { environmentOf } }: Needs,
  asked: { env: Environment | undefined; network: string | undefined },
): Promise<RecordScope> {
  const served = schemes.all.map(({ network }) => network);
  if (asked.network !== undefined) {
    const network = toCaip2(asked.network);
    const env = asked.env ?? environmentOf(network);
    // Figures of other kinds are kept in the same tables, under names that are no network's.
    return isCaip2(network) && environmentOf(network) === env
      ? { env, name: network, networks: [network] }
      : { env, name: "", networks: [] };
  }
  const env = asked.env ?? environmentOfAll(served.map(environmentOf));
  const networks = [...new Set([...served, ...(await recordedNetworks(db))])];
  return { env, name: env, networks: networks.filter((network) => environmentOf(network) === env).toSorted() };
}

interface Needs {
  readonly schemes: { readonly all: ReadonlyArray<{ readonly network: string }> };
  readonly config: { readonly environmentOf: (network: string) => Environment };
}

export interface RecordScope {
  readonly env: Environment;
  /** The network, or the environment with all its networks, as the payers' tables call it; empty when nothing is meant. */
  readonly name: string;
  readonly networks: readonly string[];
}

/** A daemon that serves any mainnet is a mainnet daemon. */
export function environmentOfAll(environments: readonly Environment[]): Environment {
  return environments.includes("mainnet") ? "mainnet" : "testnet";
}

/** One index descent a network and table, however many records there are, here or in the archive. */
export async function recordedNetworks(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query({
    name: "recorded-networks",
    text: `
      with recursive seen (network) as (
        (select network from transactions order by network limit 1)
        union all
        select (select network from transactions where network > seen.network order by network limit 1)
          from seen where seen.network is not null
      ), archived (network) as (
        (select network from archive_objects order by network limit 1)
        union all
        select (select network from archive_objects where network > archived.network order by network limit 1)
          from archived where archived.network is not null
      )
      select network from seen where network is not null
      union select network from archived where network is not null`,
  });
  return rows.map(({ network }) => network);
}
