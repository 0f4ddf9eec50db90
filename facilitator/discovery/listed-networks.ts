import { type Environment, knownNetworks } from "../../shared/networks.ts";

/** The networks of an environment on which resources may be listed: those of the table and those that are served. */
export function listedNetworks({ config, schemes }: Needs, env: Environment): readonly string[] {
  const all = [...knownNetworks, ...schemes.all.map(({ network }) => network)];
  return [...new Set(all)].filter((network) => config.environmentOf(network) === env);
}

interface Needs {
  readonly schemes: { readonly all: ReadonlyArray<{ readonly network: string }> };
  readonly config: { readonly environmentOf: (network: string) => Environment };
}
