import { knownNetworks, networkOf } from "../shared/networks.ts";

/** Networks whose stablecoins are known, and these, each behind its network. */
const known = knownNetworks.flatMap((network) => {
  const coins = networkOf(network)?.stablecoins ?? [];
  return coins.length === 0 ? [] : [{ network, coins: coins.map(({ asset }) => `${network} ${asset.toLowerCase()}`) }];
});

const listOf = (texts: readonly string[]) => `'{${texts.map((text) => `"${text}"`).join(",")}}'::text[]`;
const networks = listOf(known.map(({ network }) => network));
const coins = listOf(known.flatMap(({ coins }) => coins));

/**
 * SQL: whether a row with `network` and `asset` is of USDC, and not of another token, which an operator can allow, such as HBAR. Where no
 * USDC is known, what is paid with is taken for it.
 */
export function isUsdc(row: string): string {
  return `(${row}.network <> all (${networks}) or ${row}.asset is null or ${row}.network || ' ' || lower(${row}.asset) = any (${coins}))`;
}

/** SQL: the amount of a row with `network`, `asset` and `amount_atomic`, where that is base units of USDC; else null. */
export function usdcAmount(row: string): string {
  return `case when ${isUsdc(row)} then ${row}.amount_atomic end`;
}
