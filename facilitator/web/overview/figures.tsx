/** @jsxRuntime automatic @jsxImportSource preact */
import { Breakable } from "../../../shared/page/breakable.tsx";
import { GoLink } from "../../../shared/page/button.tsx";
import { Card } from "../../../shared/page/card.tsx";
import { Bars } from "../../../shared/page/chart.tsx";
import { Disclosure } from "../../../shared/page/disclosure.tsx";
import { duration, figures as inFigures, percent } from "../../../shared/page/figures.ts";
import { Stats } from "../../../shared/page/stats.tsx";
import { Table } from "../../../shared/page/table.tsx";
import type { DayFigures, Overview, Totals } from "../../overview.ts";
import { reasonMeaning } from "../../reasons.ts";
import { count, NetworkMark, usdc } from "../words.tsx";

interface FiguresProps {
  readonly figures: Overview;
  readonly days: number;
}

export function Tiles({ figures: { total, before, daily }, days }: FiguresProps) {
  const asked = total.settled + total.failed + total.rejected;
  const courseOf = (of: (day: DayFigures) => number) => (asked === 0 ? undefined : daily.map(of));
  const earlier = days === 1 ? "yesterday" : `the ${days} days before`;
  return (
    <Stats
      stats={[
        {
          name: "Volume",
          course: courseOf(({ volume }) => Number(volume)),
          value: usdc(total.volume),
          unit: "USDC",
          note: (
            <Change now={Number(total.volume)} before={before && Number(before.volume)} than={`against ${earlier}`} />
          ),
        },
        {
          name: "Settlements",
          course: courseOf(({ settled }) => settled),
          value: inFigures(total.settled),
          note: (
            <>
              <Change now={total.settled} before={before?.settled} than="" /> from{" "}
              {count("payer", "payers", total.payers)}
            </>
          ),
        },
        {
          name: "Success rate",
          course: daily.map(({ settled, failed, rejected }) =>
            settled + failed + rejected === 0 ? undefined : settled / (settled + failed + rejected),
          ),
          value: percent(total.success).replace(" %", ""),
          unit: total.success === undefined ? undefined : "%",
          note:
            asked === 0
              ? "of all that was asked to settle"
              : `${inFigures(total.settled)} of ${inFigures(asked)} payments settled`,
        },
        {
          name: "Settle time, p50",
          course: daily.map(({ p50Ms }) => p50Ms),
          value: duration(total.p50Ms),
          note:
            total.p95Ms === undefined
              ? "from request to answer"
              : `p95 ${duration(total.p95Ms)}, waiting for the chain included`,
        },
      ]}
    />
  );
}

function Change({ now, before, than }: { now: number; before: number | undefined; than: string }) {
  if (!before) return than === "" ? null : <>in the window</>;
  const change = Math.round((100 * (now - before)) / before);
  return (
    <>
      <span class={change < 0 ? "down" : "up"}>
        {change < 0 ? "−" : "+"}
        {inFigures(Math.abs(change))} %
      </span>
      {than === "" ? "," : ` ${than}`}
    </>
  );
}

const monthFormat = new Intl.DateTimeFormat("en-GB", { month: "short", timeZone: "UTC" });
const months = Array.from({ length: 12 }, (_, month) => monthFormat.format(Date.UTC(2000, month)));

/** `2 Jan` of `2026-01-02`: there are hundreds on a page, and a format of `Intl` takes microseconds. */
const shortDay = (day: string) => (day === "" ? "" : `${Number(day.slice(8))} ${months[Number(day.slice(5, 7)) - 1]}`);

/** Nothing where no payment was asked about in the window. */
export function Charts({ figures: { daily, total }, days }: FiguresProps) {
  if (total.settled + total.failed + total.rejected === 0) return null;
  const inWindow = days === 1 ? "today" : `in ${days} days`;
  const isByWeek = days > barsMax;
  const bars = isByWeek ? byWeek(daily) : daily.map((day) => ({ ...day, label: shortDay(day.day) }));
  const period = isByWeek ? "Week" : "Day";
  const most = bars.reduce<ChartBar | undefined>(
    (best, bar) => (bar.settled > (best?.settled ?? 0) ? bar : best),
    undefined,
  );
  return (
    <>
      <div class="cols cols-2 cols-even">
        <Card
          id="volume"
          title="Volume"
          aside={
            <span class="small faint num">
              {usdc(total.volume)} USDC {inWindow}
            </span>
          }
        >
          <Bars
            id="volume-chart"
            sentence={`USDC settled a ${period.toLowerCase()}, ${shortDay(daily[0]?.day ?? "")} to today.`}
            bars={bars.map(({ label, volume }) => ({
              label,
              value: Number(volume) / 1_000_000,
              shown: [usdc(volume)],
            }))}
            names={{ label: period, value: "USDC" }}
            hasTable={false}
          />
        </Card>
        <Card
          id="settlements"
          title="Settlements"
          aside={
            <span class="small faint num">
              {count("settlement", "settlements", total.settled)} {inWindow}
            </span>
          }
        >
          <Bars
            id="settlements-chart"
            sentence={`Settled a ${period.toLowerCase()}, and above it what failed or was refused${most ? `; most ${isByWeek ? "in the week" : "on"} ${most.label}` : ""}.`}
            bars={bars.map(({ label, settled, failed, rejected }) => ({
              label,
              value: settled,
              second: failed + rejected,
            }))}
            names={{ label: period, value: "Settled", second: "Failed or refused" }}
            hasTable={false}
          />
        </Card>
      </div>
      <FiguresByDay daily={daily} />
    </>
  );
}

/** More bars than this are thinner than a pixel on a phone. */
const barsMax = 90;

type ChartBar = Pick<DayFigures, "settled" | "failed" | "rejected" | "volume"> & { readonly label: string };

/** Sums of seven days each. The last week ends today; the first may have fewer days. */
function byWeek(daily: readonly DayFigures[]): ChartBar[] {
  const weeks: ChartBar[] = [];
  for (let end = daily.length; end > 0; end -= 7) {
    const days = daily.slice(Math.max(0, end - 7), end);
    const sum = (of: (day: DayFigures) => number) => days.reduce((total, day) => total + of(day), 0);
    weeks.unshift({
      label: [...new Set([shortDay(days[0]?.day ?? ""), shortDay(days.at(-1)?.day ?? "")])].join(" to "),
      settled: sum(({ settled }) => settled),
      failed: sum(({ failed }) => failed),
      rejected: sum(({ rejected }) => rejected),
      volume: days.reduce((total, { volume }) => total + volume, 0n),
    });
  }
  return weeks;
}

function FiguresByDay({ daily }: Pick<Overview, "daily">) {
  return (
    <Disclosure summary="All figures by day">
      <Table
        label="Figures by day"
        rows={daily.toReversed()}
        columns={[
          { head: "Day", cell: ({ day }) => day },
          { head: "Settled", isNumber: true, cell: ({ settled }) => inFigures(settled) },
          { head: "Failed", isNumber: true, cell: ({ failed }) => inFigures(failed) },
          { head: "Refused", isNumber: true, cell: ({ rejected }) => inFigures(rejected) },
          { head: "USDC", isNumber: true, cell: ({ volume }) => usdc(volume) },
          { head: "Payers", isNumber: true, cell: ({ payers }) => inFigures(payers) },
          { head: "p50", isNumber: true, cell: ({ p50Ms }) => duration(p50Ms) },
          { head: "p95", isNumber: true, cell: ({ p95Ms }) => duration(p95Ms) },
        ]}
      />
    </Disclosure>
  );
}

export function Networks({ figures: { byNetwork, total }, days }: FiguresProps) {
  const rows: ReadonlyArray<Totals & { readonly network: string | undefined }> =
    byNetwork.length > 1 ? [...byNetwork, { ...total, network: undefined }] : byNetwork;
  return (
    <Card
      id="networks"
      title="Networks"
      aside={<span class="small faint">settled, {days === 1 ? "today" : `${days} days`}</span>}
      bare
      isLater
      foot="Days begin at midnight UTC. Payers and times are at most a minute old."
    >
      <Table
        label="By network"
        plain
        rows={rows}
        columns={[
          {
            head: "Network",
            cell: ({ network }) => (network === undefined ? <b>All</b> : <NetworkMark network={network} />),
          },
          { head: "Settled", isNumber: true, cell: ({ settled }) => inFigures(settled) },
          { head: "USDC", isNumber: true, hide: "small", cell: ({ volume }) => usdc(volume) },
          { head: "Payers", isNumber: true, hide: "small", cell: ({ payers }) => inFigures(payers) },
          { head: "Success", isNumber: true, cell: ({ success }) => percent(success) },
          { head: "p50", isNumber: true, cell: ({ p50Ms }) => duration(p50Ms) },
          { head: "p95", isNumber: true, hide: "small", cell: ({ p95Ms }) => duration(p95Ms) },
        ]}
      />
    </Card>
  );
}

const reasonsShown = 6;

export function Reasons({ figures: { reasons }, days, to }: FiguresProps & { to: (path: string) => string }) {
  const all = reasons.reduce((sum, { payments }) => sum + payments, 0);
  const most = reasons[0]?.payments ?? 1;
  const shown = reasons.slice(0, reasonsShown);
  const rest = reasons.slice(reasonsShown).reduce((sum, { payments }) => sum + payments, 0);
  return (
    <Card
      id="reasons"
      title="Why payments did not settle"
      isLater
      aside={
        <span class="small faint num">
          {all === 0 ? "none" : inFigures(all)} {days === 1 ? "today" : `in ${days} days`}
        </span>
      }
      foot={
        <>
          <span>Answers of /verify are among them.</span>
          <GoLink class="small push" href={to("/docs#reasons")}>
            All reasons
          </GoLink>
        </>
      }
    >
      {shown.length === 0 ? (
        <p class="small dim">Nothing was refused and nothing failed.</p>
      ) : (
        <ul class="bars">
          {shown.map(({ status, reason, payments }) => (
            <li>
              <span>
                {reasonMeaning(reason)?.means ?? "A reason of an older version"}
                <span class="cell-2">
                  <code>
                    <Breakable text={reason} after="_" />
                  </code>
                  {status === "failed" && ", after it was sent"}
                </span>
              </span>
              <b>{inFigures(payments)}</b>
              <progress class="meter meter-quiet" max={most} value={payments} aria-label={`${reason}: ${payments}`} />
            </li>
          ))}
          {rest > 0 && (
            <li>
              <span>Other reasons</span>
              <b>{inFigures(rest)}</b>
            </li>
          )}
        </ul>
      )}
    </Card>
  );
}
