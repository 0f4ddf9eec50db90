/** @jsxRuntime automatic @jsxImportSource preact */
import type { Refusal } from "./refusal.ts";

/** The values that a form was filled in with, so that a field which the person did not touch does not undo a change in another tab. */
export function Seen({ values, refusal }: SeenProps) {
  const now = new URLSearchParams(Object.entries(values).map(([field, value]) => [field, value ?? ""]));
  // A form that comes back refused is still made of what was seen at first.
  return <input type="hidden" name="seen" value={refusal?.value("seen") ?? now.toString()} />;
}

interface SeenProps {
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly refusal: Refusal | undefined;
}

/** Whether a field says anything else than it did when the form was shown. All do of a form that does not say what it showed. */
export function isTouched(form: URLSearchParams, field: string): boolean {
  const seen = new URLSearchParams(form.get("seen") ?? "");
  return !seen.has(field) || seen.get(field) !== (form.get(field) ?? "").replaceAll("\r\n", "\n");
}
