/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Card } from "../../../../shared/page/card.tsx";
import { Field, Switch } from "../../../../shared/page/field.tsx";
import { alertKinds, alertNames, type Marks } from "../../../credits/alert-kinds.ts";
import { type AlertChanges, type Alerts, alertChanges } from "../../../credits/alerts.ts";
import { parse } from "../../../parse.ts";
import { ActField } from "../act-field.tsx";
import { type Refusal, wholeNumber } from "../refusal.ts";
import { RefusedNote } from "../refused-note.tsx";
import { isTouched, Seen } from "../seen.tsx";

/** What the holder is told by e-mail: nothing, unless they ask for it. */
export function AlertsCard({ alerts, refusal }: { alerts: Alerts; refusal: Refusal | undefined }) {
  const { email } = alerts;
  const marks = shownMarks(alerts);
  const refused = refusal?.act === "alerts" ? refusal : undefined;
  return (
    <Card
      id="alerts"
      title="Alerts"
      aside={<span class="small faint">{email ? `by mail to ${email}` : "no mail is sent here"}</span>}
    >
      <form class="stack" method="post" action="/settings/credits">
        <ActField value="alerts" />
        <RefusedNote refusal={refused} fields={alertNames} />
        <Seen values={marks} refusal={refused} />
        {alertNames.map((kind) => {
          const { by, when, label, unit } = alertKinds[kind].form;
          return (
            <>
              <Switch
                atEnd
                id={idOf(by)}
                name={by}
                label={when}
                checked={refused ? refused.form.has(by) : alerts[kind] !== null}
                disabled={!email}
              />
              <Mark
                id={idOf(kind)}
                name={kind}
                label={label}
                unit={unit}
                value={refused?.value(kind) ?? marks[kind] ?? ""}
                error={refused?.at(kind)}
                disabled={!email}
              />
            </>
          );
        })}
        <div class="row between">
          <span class="help">Once each time; a balance at most once an hour.</span>
          <Button disabled={!email}>Save alerts</Button>
        </div>
      </form>
    </Card>
  );
}

const idOf = (name: string) => name.replaceAll("_", "-");

/** The form's first values: a mark that is off shows the usual one. */
function shownMarks(alerts: Marks): Readonly<Record<string, string>> {
  const fields = alertNames.flatMap((kind) => [
    [alertKinds[kind].form.by, alerts[kind] === null ? "" : "on"],
    [kind, String(alerts[kind] ?? alertKinds[kind].usual)],
  ]);
  return Object.fromEntries(fields);
}

/** What of the alerts the form changes. */
export function alertChangesOf(form: URLSearchParams): AlertChanges {
  const changes = alertNames.flatMap((kind) => {
    const { by } = alertKinds[kind].form;
    if (![by, kind].some((field) => isTouched(form, field))) return [];
    // A mark that was left empty is refused as one, and not taken for one that was left out.
    return [[kind, form.has(by) ? (wholeNumber(form, kind) ?? "") : null]];
  });
  return parse(alertChanges, Object.fromEntries(changes), "invalid_value");
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
