/** @jsxRuntime automatic @jsxImportSource preact */
import { Button, ButtonLink } from "../../../../shared/page/button.tsx";
import { Select } from "../../../../shared/page/field.tsx";
import { Segments } from "../../../../shared/page/tabs.tsx";
import { historyDays } from "../../../history-days.ts";
import type { Activity } from "../../../runs/activity.ts";
import { runStates } from "../../../runs/history.ts";
import { type ActivityAsked, activityPath, windows } from "./activity-query.ts";

/** The window as links, the rest as a form; all of it is in the page's address. */
export function ActivityFilters({ asked, whole }: { asked: ActivityAsked; whole: Activity }) {
  const { days, by, key, agent, state, day } = asked;
  return (
    <form class="row row-3" action="/activity" aria-label="Filter runs">
      <Segments
        label="Window"
        tabs={windows.map((window) => ({
          href: activityPath(asked, { days: window, day: undefined }),
          label: window === 1 ? "Today" : `${window} d`,
          isCurrent: window === days,
        }))}
      />
      {days !== historyDays && <input type="hidden" name="days" value={days} />}
      {by !== "runs" && <input type="hidden" name="by" value={by} />}
      {day && <input type="hidden" name="day" value={day} />}
      <Select name="key" aria-label="Key" value={key} choices={[allOf("keys"), ...keyChoices(asked, whole)]} />
      <Select
        name="agent"
        aria-label="Agent"
        value={agent}
        choices={[allOf("agents"), ...agentChoices(asked, whole)]}
      />
      <Select
        name="state"
        aria-label="Outcome"
        value={state}
        choices={[allOf("outcomes"), ...runStates.map((value) => ({ value, label: value }))]}
      />
      <Button>Show</Button>
      {(key || agent || state || day) && (
        <ButtonLink
          look="ghost"
          href={activityPath(asked, { key: undefined, agent: undefined, state: undefined, day: undefined })}
        >
          Clear
        </ButtonLink>
      )}
    </form>
  );
}

const allOf = (what: string) => ({ value: "", label: `All ${what}` });

/** The chosen value is among the choices, also where nothing ran with it. */
function keyChoices({ key }: ActivityAsked, { keys }: Activity) {
  const choices = keys.map(({ key: one }) =>
    one ? { value: one.id as string, label: one.name } : { value: "none", label: "Website" },
  );
  if (!key || choices.some(({ value }) => value === key)) return choices;
  return [...choices, { value: key, label: key === "none" ? "Website" : key }];
}

function agentChoices({ agent }: ActivityAsked, { agents }: Activity) {
  const choices = agents.map(({ agent: address }) => ({ value: address, label: address }));
  if (!agent || choices.some(({ value }) => value === agent)) return choices;
  return [...choices, { value: agent, label: agent }];
}
