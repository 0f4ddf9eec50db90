import { z } from "zod";
import { historyDays } from "../../../history-days.ts";
import { readQuery } from "../../../query.ts";
import { ownRunsQuery } from "../../../runs/own-runs.ts";
import { dayBefore } from "../../../utc-day.ts";

/** The windows that the page offers, in days. */
export const windows = [historyDays, 7, 1] as const;

const shape = ownRunsQuery.pick({ key: true, agent: true, state: true, day: true, cursor: true }).extend({
  days: z
    .enum(windows.map(String) as [string, ...string[]])
    .default(String(historyDays))
    .transform(Number),
  by: z.enum(["runs", "credits"]).default("runs"),
});

/** What the address of the page asks for. */
export interface ActivityAsked extends z.infer<typeof shape> {
  readonly cursorText: string | undefined;
  /** The first day of the window. */
  readonly since: string;
}

export function readAsked(query: URLSearchParams): ActivityAsked {
  const asked = readQuery(shape, Object.fromEntries(query));
  const today = new Date().toISOString().slice(0, 10);
  return { ...asked, cursorText: query.get("cursor") ?? undefined, since: dayBefore(today, asked.days - 1) };
}

/** The page with other parameters; what is usual, and the place in the list unless it is given, is left out. */
export function activityPath(asked: ActivityAsked, change: Change): string {
  const { days, by, key, agent, state, day } = { ...asked, ...change };
  const query = new URLSearchParams();
  if (days !== historyDays) query.set("days", String(days));
  if (by !== "runs") query.set("by", by);
  for (const [name, value] of Object.entries({ key, agent, state, day, cursor: change.cursor })) {
    if (value !== undefined) query.set(name, value);
  }
  return query.size > 0 ? `/activity?${query}` : "/activity";
}

type Change = { readonly [name in "key" | "agent" | "day" | "cursor"]?: string | undefined } & {
  readonly days?: number;
  readonly by?: "runs" | "credits";
  readonly state?: ActivityAsked["state"];
};
