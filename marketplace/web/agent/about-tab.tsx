/** @jsxRuntime automatic @jsxImportSource preact */

import { Bars } from "../../../shared/page/chart.tsx";
import { Empty } from "../../../shared/page/empty.tsx";
import { duration, figures, percent } from "../../../shared/page/figures.ts";
import { Stats } from "../../../shared/page/stats.tsx";
import { type Column, KeyValues, Table } from "../../../shared/page/table.tsx";
import { Time } from "../../../shared/page/time.tsx";
import { categoryNames } from "../../agents/category.ts";
import { figuresDays } from "../../agents/count-runs.ts";
import type { DayFigures } from "../../agents/daily-figures.ts";
import type { PublicVersion } from "../../agents/public-versions.ts";
import { creditsOf, usdcOf } from "../money.tsx";
import { NetworkMark, networkName } from "./networks.tsx";
import type { ShownAgent } from "./shown-agent.ts";

/** The agent's description, figures, payees and versions. */
export function AboutTab({ shown, versions, days, showsProof }: AboutTabProps) {
  const { detail, agent } = shown;
  return (
    <div class="cols cols-8-4">
      <div class="stack stack-6">
        <section class="stack stack-2 measure">
          <h2>What it does</h2>
          <p class="dim">{detail.description}</p>
          <p class="dim">
            {agent.version.permanent
              ? "What a run does cannot be undone, so it is paid before it runs; a payment whose run failed stays good."
              : "It runs before it is paid: a run that fails costs nothing."}
          </p>
        </section>
        <Costs shown={shown} />
        <Figures done={detail.figures} days={days} />
        <section class="stack">
          <h2>Versions</h2>
          {versions.length === 0 ? (
            <Empty title="No version is public" />
          ) : (
            <div class="card">
              <Table label="Versions, newest first" columns={versionColumns} rows={versions} />
            </div>
          )}
        </section>
      </div>
      <Creator shown={shown} showsProof={showsProof} />
    </div>
  );
}

interface AboutTabProps {
  readonly shown: ShownAgent;
  readonly versions: readonly PublicVersion[];
  readonly days: readonly DayFigures[];
  /** Whether the creator shows every payout to all visitors. */
  readonly showsProof: boolean;
}

/** What a run costs, however it ends. */
function Costs({ shown: { detail, agent } }: { shown: ShownAgent }) {
  const { price_credits: price, per_call: perCall } = detail;
  if (price === 0) return null;
  const failed = agent.version.permanent
    ? "nothing with credits; by wallet the payment stays good until a run succeeds"
    : "nothing";
  return (
    <section class="stack stack-2 measure">
      <h2>What it costs</h2>
      <KeyValues
        lines
        entries={[
          ["A run", `${creditsOf(price)}, ${perCall ? `or ${usdcOf(price)} by wallet` : "from an account"}`],
          ["A run that fails", failed],
          ["Models, network fees", "in the price"],
          ["A higher price", "asked about first, or refused by max_credits"],
        ]}
      />
    </section>
  );
}

/** How it did: in all, and day by day. */
function Figures({ done, days }: { done: ShownAgent["detail"]["figures"]; days: readonly DayFigures[] }) {
  const course = (of: (day: DayFigures) => number | null) =>
    done.runs_30d === 0 ? undefined : days.map((day) => of(day) ?? undefined);
  return (
    <section class="stack">
      <h2>Last {figuresDays} days</h2>
      <Stats
        stats={[
          { name: "Runs", value: figures(done.runs_30d), course: course(runsOf) },
          { name: "Succeeded", value: percent(done.success_rate), course: course(shareOf) },
          { name: "Median", value: duration(done.median_ms), course: course(({ medianMs }) => medianMs) },
          { name: "95 % within", value: duration(done.p95_ms) },
        ]}
      />
      {done.runs_30d > 0 && (
        <Bars
          id="days"
          small
          sentence={sentenceOf(days)}
          bars={days.map((day) => ({
            label: dayLabel(day),
            value: day.succeeded,
            second: day.failed,
            more: [duration(day.medianMs)],
          }))}
          names={{ label: "Day", value: "Succeeded", second: "Failed", more: ["Median"] }}
        />
      )}
    </section>
  );
}

const runsOf = ({ succeeded, failed }: DayFigures) => succeeded + failed;
const shareOf = (day: DayFigures) => (runsOf(day) === 0 ? null : day.succeeded / runsOf(day));
const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const dayLabel = ({ day }: DayFigures) => dayFormat.format(new Date(day));

function sentenceOf(days: readonly DayFigures[]): string {
  const worked = days.filter((day) => runsOf(day) > 0);
  const failing = worked.filter(({ failed }) => failed > 0);
  const last = failing.at(-1);
  const failures = last === undefined ? "none failed" : `a run failed on ${failing.length}, last on ${dayLabel(last)}`;
  return `Runs by day (UTC): run on ${worked.length} of ${days.length} days; ${failures}.`;
}

function Creator({ shown, showsProof }: Pick<AboutTabProps, "shown" | "showsProof">) {
  const { detail, handle } = shown;
  return (
    <aside class="stack">
      <div class="card">
        <div class="card-head">
          <span class="avatar avatar-lg" aria-hidden="true">
            {handle.slice(0, 1).toUpperCase()}
          </span>
          <h2>
            <a class="link" href={`/${handle}`}>
              {handle}
            </a>
          </h2>
        </div>
        <div class="card-body">
          <KeyValues
            entries={[
              ["Paid on", <Payouts shown={shown} />],
              ...(showsProof ? [proofOf(handle)] : []),
              ["Category", categoryNames[detail.category]],
              ["Tags", detail.tags.length === 0 ? "–" : detail.tags.join(", ")],
              ["Since", <Time at={detail.created_at} />],
            ]}
          />
        </div>
        <div class="card-foot">
          <a class="link small" href={`/${detail.agent}/report`}>
            Report this agent
          </a>
        </div>
      </div>
    </aside>
  );
}

function proofOf(handle: string) {
  const link = (
    <a class="link" href={`/proof/${handle}`}>
      every payout on its chain
    </a>
  );
  return ["Proof", link] as const;
}

function Payouts({ shown: { agent } }: { shown: ShownAgent }) {
  if (agent.wallets.length === 0) return <>credits only</>;
  return (
    <span class="row row-3">
      {agent.wallets.map(({ network }) => (
        <span class="net">
          <NetworkMark network={network} />
          <span aria-hidden="true">{networkName(network)}</span>
        </span>
      ))}
    </span>
  );
}

const versionColumns: ReadonlyArray<Column<PublicVersion>> = [
  { head: "Version", cell: ({ version, isLive }) => `${version}${isLive ? ", live" : ""}` },
  { head: "Published", cell: ({ publishedAt }) => <Time at={publishedAt} /> },
  {
    head: "Price",
    isNumber: true,
    cell: ({ priceCredits }) => (priceCredits === 0n ? "free" : creditsOf(priceCredits)),
  },
];
