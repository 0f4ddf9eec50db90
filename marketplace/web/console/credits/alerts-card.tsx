/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Field, Switch } from "../../../../shared/page/field.tsx";
import { type AlertChanges, type Alerts, alertChanges } from "../../../credits/alerts.ts";
import { parse } from "../../../parse.ts";
import { type Refusal, wholeNumber } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { isTouched, Seen } from "../seen.tsx";

/** What the holder is told by e-mail: nothing, unless they ask for it. */
export function AlertsCard({ alerts, refusal }: { alerts: Alerts; refusal: Refusal | undefined }) {
  const { email, balance_below: below, cap_percent: percent } = alerts;
  const marks = shownMarks(alerts);
  const refused = refusal?.act === "alerts" ? refusal : undefined;
  const isOn = (name: string, kept: number | null) => (refused ? refused.form.has(name) : kept !== null);
  return (
    <Card
      id="alerts"
      title="Alerts"
      aside={<span class="small faint">{email ? `by mail to ${email}` : "no mail is sent here"}</span>}
    >
      <form class="stack" method="post" action="/settings/credits">
        <input type="hidden" name="act" value="alerts" />
        <RefusedNote refusal={refused} fields={["balance_below", "cap_percent"]} />
        <Seen values={marks} refusal={refused} />
        <Switch
          atEnd
          id="by-balance"
          name="by_balance"
          label="When the balance falls below"
          checked={isOn("by_balance", below)}
          disabled={!email}
        />
        <Mark
          id="balance-below"
          name="balance_below"
          label="Balance"
          unit="credits"
          value={refused?.value("balance_below") ?? marks.balance_below}
          error={refused?.at("balance_below")}
          disabled={!email}
        />
        <Switch
          atEnd
          id="by-cap"
          name="by_cap"
          label="When a key has used a share of its cap"
          checked={isOn("by_cap", percent)}
          disabled={!email}
        />
        <Mark
          id="cap-percent"
          name="cap_percent"
          label="Share of the cap"
          unit="% of the cap"
          value={refused?.value("cap_percent") ?? marks.cap_percent}
          error={refused?.at("cap_percent")}
          disabled={!email}
        />
        <div class="row between">
          <span class="help">Once each time; a balance at most once an hour.</span>
          <Button disabled={!email}>Save alerts</Button>
        </div>
      </form>
    </Card>
  );
}

/** What the form is filled in with: a mark that is off shows what is usual. */
function shownMarks({ balance_below: below, cap_percent: percent }: Alerts) {
  return {
    by_balance: below === null ? "" : "on",
    balance_below: String(below ?? 500),
    by_cap: percent === null ? "" : "on",
    cap_percent: String(percent ?? 80),
  };
}

/** What of the alerts the form changes. */
export function alertChangesOf(form: URLSearchParams): AlertChanges {
  const isNew = (...fields: ReadonlyArray<keyof ReturnType<typeof shownMarks>>) =>
    fields.some((field) => isTouched(form, field));
  // A mark that was left empty is refused as one, and not taken for one that was left out.
  const markOf = (by: string, mark: string) => (form.has(by) ? (wholeNumber(form, mark) ?? "") : null);
  return parse(
    alertChanges,
    {
      ...(isNew("by_balance", "balance_below") && { balance_below: markOf("by_balance", "balance_below") }),
      ...(isNew("by_cap", "cap_percent") && { cap_percent: markOf("by_cap", "cap_percent") }),
    },
    "invalid_value",
  );
}

function Mark({ unit, value, disabled, ...told }: MarkProps) {
  return (
    <Field
      {...told}
      control={(tied) => (
        <span class="affix">
          <input class="input num" inputMode="numeric" maxLength={13} value={value} disabled={disabled} {...tied} />
          <span>{unit}</span>
        </span>
      )}
    />
  );
}

interface MarkProps {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly value: string;
  readonly error: string | undefined;
  readonly disabled: boolean;
}
