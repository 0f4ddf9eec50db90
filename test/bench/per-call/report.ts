import type { Figures } from "../load.ts";

/** What each way took in one round. */
export interface Round {
  readonly ours: Figures;
  readonly peer: Figures;
  /** The parts as one chain. */
  readonly bare: Figures;
  /** Each part by itself, summed. */
  readonly sum: Figures;
}

/**
 * The middle of the rounds' overheads, each round against its own neighbour: what a turn costs by coming later weighs as
 * much on either side of it.
 */
export function printRounds(title: string, figures: readonly Round[]): void {
  const middle = (values: number[]) => {
    const sorted = values.toSorted((a, b) => a - b);
    return ((sorted[sorted.length / 2 - 1] as number) + (sorted[sorted.length / 2] as number)) / 2;
  };
  const percent = (ratio: number) => `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(0)} %`;
  const over = (seller: "ours" | "peer", side: "bare" | "sum") => {
    const byLatency = middle(figures.map((one) => one[seller].p50Ms / one[side].p50Ms));
    const byTime = middle(figures.map((one) => one[side].perSecond / one[seller].perSecond));
    return `p50 ${percent(byLatency)}, time ${percent(byTime)}`;
  };
  const overheads = (seller: "ours" | "peer") =>
    `overhead over the sum: ${over(seller, "sum")}; over the chain: ${over(seller, "bare")}`;
  const told = (side: keyof Round) => {
    const of = figures.map((one) => one[side]);
    const sum = (what: "succeeded" | "calls") => of.reduce((all, one) => all + one[what], 0);
    const rate = middle(of.map(({ perSecond }) => perSecond)).toFixed(0);
    const p50 = middle(of.map(({ p50Ms }) => p50Ms)).toFixed(1);
    return `${rate}/s p50 ${p50} ms ${sum("succeeded")}/${sum("calls")}`;
  };
  process.stdout.write(
    `${title} (wanted ≤ +25 %)\n` +
      `  sum of the parts            ${told("sum")}\n` +
      `  the parts as one chain      ${told("bare")}\n` +
      `  per-call route              ${told("ours")}   ${overheads("ours")}\n` +
      `  @x402/express, no records   ${told("peer")}   ${overheads("peer")}\n`,
  );
}
