/** @jsxRuntime automatic @jsxImportSource preact */
import { duration, figures, noFigure, percent } from "../../../../shared/page/figures.ts";
import { Stats } from "../../../../shared/page/stats.tsx";
import type { Database } from "../../../../shared/postgres.ts";
import { type Activity, readActivity } from "../../../runs/activity.ts";
import { listOwnRuns, type OwnRunPage } from "../../../runs/own-runs.ts";
import { usdcOf } from "../../money.tsx";
import type { Page } from "../../page.ts";
import { consolePage } from "../console-page.tsx";
import { ActivityFilters } from "./activity-filters.tsx";
import { type ActivityAsked, readAsked } from "./activity-query.ts";
import { DayChart } from "./day-chart.tsx";
import { RunTable } from "./run-table.tsx";
import { ShareBars } from "./share-bars.tsx";

const rowsPerPage = 20;

/** Every run of the account: how many, at what cost, and one by one. */
export function activityPage({ db }: { readonly db: Database }): Page {
  return consolePage(
    { db },
    {
      path: "/activity",
      scriptBytesMax: 4_096,
      show: async ({ account, query }) => {
        const asked = readAsked(query);
        const { days, key, agent, since } = asked;
        const [activity, whole, page] = await Promise.all([
          readActivity(db, account.id, { days, key, agent }),
          // The filters offer every agent and key that ran, not only those that the present filters leave.
          key || agent ? readActivity(db, account.id, { days }) : undefined,
          listOwnRuns(db, account.id, { ...asked, since, limit: rowsPerPage }),
        ]);
        return {
          title: "Activity",
          lede: "Every run paid with this account’s credits, by whom, and what it cost.",
          body: <ActivityBody asked={asked} activity={activity} whole={whole ?? activity} page={page} />,
        };
      },
    },
  );
}

function ActivityBody({ asked, activity, whole, page }: BodyProps) {
  return (
    <>
      <ActivityFilters asked={asked} whole={whole} />
      <Sums activity={activity} days={asked.days} />
      <DayChart asked={asked} activity={activity} />
      {activity.runs > 0 && <ShareBars asked={asked} activity={activity} />}
      <RunTable asked={asked} page={page} />
    </>
  );
}

interface BodyProps {
  readonly asked: ActivityAsked;
  readonly activity: Activity;
  /** Without the filters. */
  readonly whole: Activity;
  readonly page: OwnRunPage;
}

function Sums({ activity, days }: { activity: Activity; days: number }) {
  const { runs, failed, credits, median_ms: median, average_ms: average, runs_before: before } = activity;
  const perRun = runs > failed ? (credits / (runs - failed)).toFixed(1) : noFigure;
  return (
    <Stats
      stats={[
        { name: "Runs", value: figures(runs), note: <Change runs={runs} before={before} days={days} /> },
        {
          name: "Credits",
          value: figures(credits),
          note: runs > failed ? `= ${usdcOf(credits)}, ${perRun} a run` : `= ${usdcOf(credits)}`,
        },
        {
          name: "Success rate",
          value: runs === 0 ? noFigure : percent((runs - failed) / runs),
          note: runs === 0 ? undefined : failed === 0 ? "none failed" : `${figures(failed)} failed, nothing charged`,
        },
        {
          name: "Median time",
          value: duration(median),
          note: average === null ? undefined : `${duration(average)} on average`,
        },
      ]}
    />
  );
}

function Change({ runs, before, days }: { runs: number; before: number; days: number }) {
  const period = days === 1 ? "the day before" : `the ${days} days before`;
  if (before === 0) return <>none in {period}</>;
  const change = Math.round((100 * (runs - before)) / before);
  return (
    <>
      <span class={change >= 0 ? "up" : "down"}>
        {change >= 0 ? "+" : "−"}
        {figures(Math.abs(change))} %
      </span>{" "}
      against {period}
    </>
  );
}
