import type { AmountRange, EnvReader } from "../../shared/env.ts";
import { type Environment, networkOf } from "../../shared/networks.ts";
import { hostProblem } from "../../shared/public-address.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Whether the money of a CAIP-2 network is real. */
export type EnvironmentOf = (network: string) => Environment;

/** What the configuration of every network says. */
export interface NetworkConfig {
  /** CAIP-2. */
  readonly network: string;
  /** What may be paid with. */
  readonly assets: readonly string[];
  /** The smallest payment that is worth its network fee, in base units. */
  readonly amountMin: bigint;
  /** A warning and /health 503 below the first, no settlement below the second; wei or tinybars. */
  readonly balanceLow: bigint;
  readonly balanceEmpty: bigint;
  /** What one fee payer may spend on fees in a day (UTC); 0 is no limit. */
  readonly dailyBudget: bigint;
  /** Begins the links under which people look transactions up; undefined where there is no public explorer. */
  readonly explorer: string | undefined;
}

/** The assets that payments may be in: those that the operator lists, else the chain's stablecoins. `isAsset` tests the form of an id there. */
export function readAssets(
  env: EnvReader,
  name: string,
  network: string,
  { isAsset, form }: { isAsset: (text: string) => boolean; form: string },
): readonly string[] {
  const known = networkOf(network)?.stablecoins ?? [];
  const assets = env.list(
    name,
    known.map(({ asset }) => asset),
  );
  if (assets.length === 0) env.problem(`${name} is missing (no USDC is known for ${network})`, 0);
  for (const asset of assets) if (!isAsset(asset)) env.problem(`${name} holds ${asset}, which is not ${form}`, 0);
  return assets;
}

/** The public explorer of the network, unless the operator names another or its endpoint is on a private network. */
export function readExplorer(env: EnvReader, name: string, network: string, endpoint: string): string | undefined {
  const given = env.optional(name);
  if (given !== undefined) return given === "off" ? undefined : env.url(name);
  if (!URL.canParse(endpoint) || hostProblem(new URL(endpoint).hostname) !== undefined) return undefined;
  return networkOf(network)?.explorer;
}

/** What a fee payer must hold and may spend; each variable's name ends in the unit. */
export function readFunds(
  env: EnvReader,
  name: (suffix: string) => string,
  range: AmountRange,
  usual: Pick<NetworkConfig, "balanceLow" | "balanceEmpty" | "dailyBudget">,
): typeof usual {
  const unit = range.unit.toUpperCase();
  const [low, empty] = [name(`BALANCE_LOW_${unit}`), name(`BALANCE_EMPTY_${unit}`)];
  const balanceEmpty = env.amount(empty, usual.balanceEmpty, range);
  const said = env.amount(low, usual.balanceLow, range);
  const isLate = said < balanceEmpty;
  if (isLate) env.doubts.push(`${low} is ${said}, less than ${empty} (${balanceEmpty}): nothing is told before`);
  return {
    balanceLow: isLate ? balanceEmpty : said,
    balanceEmpty,
    dailyBudget: env.amount(name(`DAILY_BUDGET_${unit}`), usual.dailyBudget, range),
  };
}

/** Up to more than any payment is, in tokens of up to 18 decimals. */
export const amountMinRange: AmountRange = { unit: "the asset's base units", min: 1n, max: 10n ** 24n };

/** A test network's fees are play money, so there the smallest payment is welcome. */
export function amountMinOn(environment: Environment): bigint {
  return environment === "mainnet" ? 1_000n : 1n;
}

export function budgetOn(environment: Environment, mainnet: bigint): bigint {
  return environment === "mainnet" ? mainnet : 0n;
}

export function hasAny(variables: Variables, prefix: string): boolean {
  return Object.keys(variables).some((name) => name.startsWith(prefix));
}
