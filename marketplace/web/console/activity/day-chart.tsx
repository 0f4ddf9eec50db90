/** @jsxRuntime automatic @jsxImportSource preact */
import { Bars } from "../../../../shared/page/chart.tsx";
import { figures } from "../../../../shared/page/figures.ts";
import { Segments } from "../../../../shared/page/tabs.tsx";
import type { Activity } from "../../../runs/activity.ts";
import { type ActivityAsked, activityPath } from "./activity-query.ts";

/** Runs, or credits, a day. Drawn here, with the same figures as a table. */
export function DayChart({ asked, activity }: { asked: ActivityAsked; activity: Activity }) {
  const { by } = asked;
  return (
    <section class="card card-calm" aria-labelledby="days-title">
      <div class="card-head">
        <h2 id="days-title">{by === "runs" ? "Runs a day" : "Credits a day"}</h2>
        <div class="push">
          <Segments
            label="Show"
            tabs={[
              { href: activityPath(asked, { by: "runs" }), label: "Runs", isCurrent: by === "runs" },
              { href: activityPath(asked, { by: "credits" }), label: "Credits", isCurrent: by === "credits" },
            ]}
          />
        </div>
      </div>
      <div class="card-body">
        <Bars
          id="days"
          sentence={sentenceOf(asked, activity)}
          bars={activity.days.map(({ day, runs, failed, credits }) => ({
            href: `${activityPath(asked, { day })}#runs`,
            label: shortDay(day),
            ...(by === "runs"
              ? { value: runs - failed, second: failed, more: [figures(credits)] }
              : { value: credits, more: [figures(runs), figures(failed)] }),
          }))}
          names={
            by === "runs"
              ? { label: "Day", value: "Succeeded", second: "Failed, not charged", more: ["Credits"] }
              : { label: "Day", value: "Credits", more: ["Runs", "Failed"] }
          }
        />
      </div>
    </section>
  );
}

function sentenceOf({ by, days }: ActivityAsked, activity: Activity): string {
  const of = by === "runs" ? activity.runs : activity.credits;
  const what = by === "runs" ? "runs" : "credits";
  const span = days === 1 ? "Today" : `The last ${days} days`;
  const top = activity.days.reduce((most, one) => (one[what] > most[what] ? one : most));
  if (of === 0) return `${span}: no ${what}.`;
  const most = days === 1 ? "" : `; most on ${shortDay(top.day)}, ${figures(top[what])}`;
  return `${span}: ${figures(of)} ${of === 1 ? what.slice(0, -1) : what}${most}. Days are UTC.`;
}

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** `22 Nov`. */
export function shortDay(day: string): string {
  return dayFormat.format(new Date(`${day}T00:00:00Z`));
}
