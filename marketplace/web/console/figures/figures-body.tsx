/** @jsxRuntime automatic @jsxImportSource preact */

import { Bars } from "../../../../shared/page/chart.tsx";
import { duration, figures as format, percent } from "../../../../shared/page/figures.ts";
import { Stats } from "../../../../shared/page/stats.tsx";
import type { OwnAgent } from "../../../agents/creator-agents.ts";
import type { CreatorFigures } from "../../../agents/creator-figures.ts";
import { atomicPerCredit, creditsPerDollar, creditWorth } from "../../../answers/amounts.ts";
import type { ModelState } from "../../../models/model-funds.ts";
import { networkName } from "../../agent/networks.tsx";
import { creditsOf, dollarsOf } from "../../money.tsx";
import { shortDay } from "../activity/day-chart.tsx";
import { ShareCard } from "../activity/share-bars.tsx";
import type { Refusal } from "../refusal.ts";
import { Failures } from "./failures.tsx";
import { ModelCosts } from "./model-costs.tsx";

export function FiguresBody({ agent, figures, days, model, ownBudget, refusal }: BodyProps) {
  return (
    <>
      <Sums figures={figures} days={days} />
      <Revenue figures={figures} days={days} />
      <div class="cols cols-8-4">
        <Failures figures={figures} />
        <ShareCard
          id="payers"
          title="Who pays"
          unit={`runs, ${days} days`}
          quiet
          lines={figures.payers.map(({ payer, runs }) => ({ name: payerName(payer), value: runs }))}
        />
      </div>
      <ModelCosts agent={agent} model={model} ownBudget={ownBudget} refusal={refusal} />
    </>
  );
}

interface BodyProps {
  readonly agent: OwnAgent;
  readonly figures: CreatorFigures;
  readonly days: number;
  readonly model: ModelState | null;
  readonly ownBudget: number | null;
  readonly refusal: Refusal | undefined;
}

function Sums({ figures, days }: Pick<BodyProps, "figures" | "days">) {
  const { runs, runs_before: before, failed, credits, usdc } = figures;
  const change = before === 0 ? undefined : Math.round((100 * (runs - before)) / before);
  return (
    <Stats
      stats={[
        {
          name: "Runs",
          value: format(runs),
          note:
            change === undefined
              ? `none in the ${days} days before`
              : `${change < 0 ? "−" : "+"}${format(Math.abs(change))} % against the ${days} days before`,
        },
        {
          name: "Success rate",
          value: percent(figures.success_rate),
          note: failed === 0 ? "none failed" : `${format(failed)} failed`,
        },
        {
          name: "Median time",
          value: duration(figures.median_ms),
          note: figures.p95_ms === null ? undefined : `p95 ${duration(figures.p95_ms)}`,
        },
        {
          name: "Revenue",
          value: dollarsOf(BigInt(credits) + creditsWorth(usdc)),
          unit: "USD",
          note: `${creditsOf(credits)}, ${shortUsdc(usdc)} USDC`,
        },
      ]}
    />
  );
}

/** In US dollars, so that both currencies stand on one scale. */
function Revenue({ figures, days }: Pick<BodyProps, "figures" | "days">) {
  const top = figures.days.reduce((most, day) => (worth(day) > worth(most) ? day : most));
  const all = worth(figures);
  return (
    <section class="card card-calm" aria-labelledby="revenue-title">
      <div class="card-head">
        <h2 id="revenue-title">Revenue a day</h2>
        <span class="small faint push num">in USD; {creditWorth}</span>
      </div>
      <div class="card-body">
        <Bars
          id="revenue"
          quiet
          sentence={
            all === 0
              ? `The last ${days} days: nothing earned.`
              : `The last ${days} days; most on ${shortDay(top.day)}, ${dollarsOf(BigInt(Math.round(worth(top))))} USD.`
          }
          bars={figures.days.map(({ day, credits, usdc, runs }) => ({
            label: shortDay(day),
            value: credits / creditsPerDollar,
            second: Number(usdc),
            shown: [dollarsOf(BigInt(credits)), shortUsdc(usdc)],
            more: [format(credits), format(runs)],
          }))}
          names={{ label: "Day", value: "With credits", second: "By wallet, USDC", more: ["Credits", "Runs"] }}
        />
      </div>
    </section>
  );
}

/** In credits. */
function worth({ credits, usdc }: { readonly credits: number; readonly usdc: string }): number {
  return credits + Number(usdc) * creditsPerDollar;
}

/** Whole credits; a fraction of one that is left out is in the exact figure beside it. */
function creditsWorth(usdc: string): bigint {
  return BigInt(usdc.replace(".", "")) / atomicPerCredit;
}

/** At least two decimals, and no zeros after them. */
export function shortUsdc(usdc: string): string {
  return usdc.replace(/(\.\d\d)(\d*?)0+$/, "$1$2");
}

const payerNames: Readonly<Record<string, string>> = {
  key: "Credits, by key",
  session: "Credits, on the website",
  wallet: "Wallet",
  free: "Nobody: it was free",
};

function payerName(payer: string): string {
  return payerNames[payer] ?? `Wallet on ${networkName(payer)}`;
}
