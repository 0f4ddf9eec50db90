/** @jsxRuntime automatic @jsxImportSource preact */
import type { ApiError } from "../../../shared/errors.ts";
import { Button, ButtonLink } from "../../../shared/page/button.tsx";
import { AreaField, Choice, TextField } from "../../../shared/page/field.tsx";
import { reportReasons, reportTextMax } from "../../reports/report-agent.ts";

/** What was filled in, and why it was not taken. */
export interface Filled {
  readonly reason: string;
  readonly text: string;
  readonly email: string;
  readonly refusal?: ApiError;
}

export const emptyForm: Filled = { reason: "", text: "", email: "" };

/** What of a posted form is a report; a line ends in it as it does where its length is counted. */
export function saidIn(form: URLSearchParams): Omit<Filled, "refusal"> {
  return {
    reason: form.get("reason") ?? "",
    text: (form.get("text") ?? "").replaceAll("\r\n", "\n"),
    email: form.get("email") ?? "",
  };
}

/** Each of 2,000 characters may be three bytes, each written as %XX. */
export const reportBytesMax = 32_768;

/** What a visitor tells the operator. It is posted to `action`. */
export function ReportForm({ action, back, filled: { reason, text, email, refusal } }: ReportFormProps) {
  const errorOf = (field: string) => (refusal?.body.field === field ? sentence(refusal.message) : undefined);
  const reasonError = errorOf("reason");
  return (
    <form
      class="stack stack-6"
      method="post"
      action={action}
      data-typed={action}
      data-filled={refusal ? "" : undefined}
    >
      <fieldset class="stack stack-2" aria-describedby={reasonError ? "reason-error" : undefined}>
        <legend class="label">What is wrong</legend>
        {Object.entries(reportReasons).map(([value, label]) => (
          <Choice type="radio" name="reason" value={value} label={label} checked={value === reason} required />
        ))}
        {reasonError && (
          <p class="error" id="reason-error" role="alert">
            Choose one.
          </p>
        )}
      </fieldset>
      <AreaField
        id="text"
        name="text"
        label="What happened"
        help={`Up to ${reportTextMax.toLocaleString("en")} characters. Leave out keys and passwords.`}
        rows={6}
        maxLength={reportTextMax}
        required
        value={text}
        error={errorOf("text")}
      />
      <TextField
        id="email"
        name="email"
        type="email"
        label="Your e-mail address"
        note="optional"
        help="Only the operator sees it, to answer you."
        autocomplete="email"
        maxLength={254}
        value={email}
        error={errorOf("email")}
      />
      <div class="row">
        <Button look="primary">Send report</Button>
        <ButtonLink look="ghost" href={back}>
          Cancel
        </ButtonLink>
      </div>
    </form>
  );
}

interface ReportFormProps {
  readonly action: string;
  /** Where who changes their mind goes. */
  readonly back: string;
  readonly filled: Filled;
}

/** `"text" must say what is wrong.` → `Must say what is wrong.` */
function sentence(message: string): string {
  const said = message.replace(/^"\w+" /, "").split("; ")[0] ?? message;
  return said.charAt(0).toUpperCase() + said.slice(1).replace(/\.?$/, ".");
}
