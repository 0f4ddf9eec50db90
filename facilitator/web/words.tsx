/** @jsxRuntime automatic @jsxImportSource preact */
import { formatUnits } from "../../shared/amounts.ts";
import { networkOf, toCaip2 } from "../../shared/networks.ts";
import { Badge, type Tone } from "../../shared/page/badge.tsx";
import { classes } from "../../shared/page/classes.ts";
import { figures, noFigure } from "../../shared/page/figures.ts";

/** How the record's and the payments' states look: word, shape and colour. */
const tones: Readonly<Record<string, Tone>> = {
  settled: "ok",
  failed: "bad",
  rejected: "warn",
  unknown: "maybe",
  claimed: "info",
  broadcast: "info",
};

export function StateBadge({ state }: { state: string }) {
  return (
    <Badge tone={tones[state]} dot>
      {state}
    </Badge>
  );
}

export function networkName(network: string): string {
  return networkOf(network)?.name ?? network;
}

/** What a filter by network offers, and the network that is asked for though it is served no more, by any of its names. */
export function networkChoices(served: readonly string[], asked: string): NetworkChoices {
  const network = asked === "" ? "" : toCaip2(asked);
  const offered = network === "" || served.includes(network) ? served : [...served, network];
  const choices = offered.map((one) => ({ value: one, label: networkName(one) }));
  return { value: network, choices: [{ value: "", label: "All networks" }, ...choices] };
}

interface NetworkChoices {
  readonly value: string;
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>;
}

/** Hedera's mark is a square; EVM chains' are round, the rollups' of another colour. */
export function NetworkMark({ network }: { network: string }) {
  const name = networkName(network);
  return (
    <span class="net">
      <span
        class={classes("pip", network.startsWith("eip155:") && (isSecond(network) ? "pip-2" : "pip-evm"))}
        aria-hidden="true"
      >
        {name.slice(0, 1).toUpperCase()}
      </span>
      {name}
    </span>
  );
}

function isSecond(network: string): boolean {
  return /Arbitrum|Polygon|OP /.test(networkName(network));
}

const decimals = 6;

/** `1,284.05`: cut to cents from a dollar on, exact below. Volumes are in USDC alone, which has six decimals on every network. */
export function usdc(atomic: bigint): string {
  const [whole = "0", fraction = ""] = formatUnits(atomic, decimals).split(".");
  if (atomic === 0n) return "0";
  const shown = atomic >= 10n ** BigInt(decimals) ? fraction.slice(0, 2).padEnd(2, "0") : fraction.padEnd(2, "0");
  return `${figures(BigInt(whole))}.${shown}`;
}

/** `0.120000 USDC`: never cut. */
export function exactAmount(network: string, asset: string | null, atomic: string): string {
  const coin = networkOf(network)?.stablecoins.find((one) => isSame(one.asset, asset ?? undefined));
  const [whole = "0", fraction = ""] = formatUnits(BigInt(atomic), coin?.decimals ?? decimals).split(".");
  return coin ? `${figures(BigInt(whole))}.${fraction.padEnd(coin.decimals, "0")} USDC` : `${atomic} units`;
}

/** In a column whose head says USDC: of another token, which refused payments may be in, its base units. */
export function recordedAmount({ network, asset, amount_atomic: atomic }: Recorded): string {
  const coins = networkOf(network)?.stablecoins ?? [];
  const isOther = asset !== null && coins.length > 0 && !coins.some((coin) => isSame(coin.asset, asset));
  return isOther && atomic !== null && atomic.length <= shownMax
    ? `${atomic} units`
    : amountIn(isOther ? null : atomic);
}

interface Recorded {
  readonly network: string;
  readonly asset: string | null;
  readonly amount_atomic: string | null;
}

const isSame = (one: string, other: string | undefined) => one.toLowerCase() === other?.toLowerCase();
/** Digits. */
const shownMax = 30;

/** In a column whose head says USDC. */
export function amountIn(atomic: string | null): string {
  return atomic === null || atomic.length > shownMax ? noFigure : usdc(BigInt(atomic));
}

export function count(one: string, many: string, value: number): string {
  return `${figures(value)} ${value === 1 ? one : many}`;
}
