/** @jsxRuntime automatic @jsxImportSource preact */
import { classes } from "../../../../shared/page/classes.ts";
import { figures } from "../../../../shared/page/figures.ts";
import type { Activity } from "../../../runs/activity.ts";
import { type ActivityAsked, activityPath } from "./activity-query.ts";

const linesMax = 5;

/** Spending by key and by agent; each line leads to its runs. */
export function ShareBars({ asked, activity }: { asked: ActivityAsked; activity: Activity }) {
  const span = asked.days === 1 ? "credits, today" : `credits, ${asked.days} days`;
  return (
    <div class="cols cols-2 cols-even">
      <ShareCard
        id="by-key"
        title="By key"
        unit={span}
        lines={activity.keys.map(({ key, credits }) => ({
          name: key?.name ?? "Website",
          href: activityPath(asked, { key: key?.id ?? "none" }),
          value: credits,
        }))}
      />
      <ShareCard
        id="by-agent"
        title="By agent"
        unit={span}
        quiet
        lines={activity.agents.map(({ agent, credits }) => ({
          name: agent,
          href: activityPath(asked, { agent }),
          value: credits,
        }))}
      />
    </div>
  );
}

/** Bars in a list, the longest first. */
export function ShareCard({ id, title, unit, quiet = false, lines }: ShareCardProps) {
  const top = Math.max(1, ...lines.map(({ value }) => value));
  return (
    <section class="card card-calm" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <h2 id={`${id}-title`}>{title}</h2>
        <span class="small faint push">{unit}</span>
      </div>
      <div class="card-body">
        <ul class="bars">
          {lines.slice(0, linesMax).map(({ name, href, value }) => (
            <li>
              {href ? (
                <a class="link" href={href}>
                  {name}
                </a>
              ) : (
                <span>{name}</span>
              )}
              <b>{figures(value)}</b>
              <progress class={classes("meter", quiet && "meter-quiet")} max={top} value={value} aria-label={name} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

interface ShareCardProps {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly quiet?: boolean;
  readonly lines: ReadonlyArray<{ readonly name: string; readonly href?: string; readonly value: number }>;
}
