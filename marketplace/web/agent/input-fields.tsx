/** @jsxRuntime automatic @jsxImportSource preact */
import { AreaField, SelectField, Switch, TextField } from "../../../shared/page/field.tsx";
import type { DescribedField } from "../../agents/detail.ts";
import type { Value } from "../../input.ts";

/** The name by which a form posts a field. */
export const controlName = (name: string) => `in.${name}`;
const idOf = (name: string) => `in-${name}`;

/** The form of an agent's input, as buyers fill it in and as its creator sees it while building. */
export function InputFields({ fields, values, wrong }: InputFieldsProps) {
  return (
    <>
      {fields.map((field) => (
        <InputField
          field={field}
          value={Object.hasOwn(values, field.name) ? values[field.name] : undefined}
          error={wrong?.field === field.name ? wrong.problem : undefined}
        />
      ))}
    </>
  );
}

export interface InputFieldsProps {
  readonly fields: readonly DescribedField[];
  readonly values: Readonly<Record<string, Value>>;
  /** What the server refused. */
  readonly wrong?: { readonly field: string; readonly problem: string } | undefined;
}

function InputField({ field, value, error }: InputFieldProps) {
  const { name, label, type, required, description, default: fallback } = field;
  const id = idOf(name);
  if (type === "boolean") return <Toggle field={field} value={value} />;
  // A field with a default may be left out.
  const isNeeded = required && fallback === null;
  const told = {
    id,
    name: controlName(name),
    label,
    note: <FieldNote name={name} isNeeded={isNeeded} />,
    help: description ?? helpOf(field),
    error,
    required: isNeeded,
    "data-field": name,
    "data-type": type,
  };
  switch (type) {
    case "choice":
      return (
        <SelectField {...told} choices={choicesOf(field, isNeeded)} value={value === undefined ? "" : String(value)} />
      );
    case "text":
      return <AreaField {...told} rows={rowsFor(value)} value={textOf(value)} />;
    case "number":
    case "integer":
      return (
        <TextField
          {...told}
          type="number"
          inputMode={type === "integer" ? "numeric" : "decimal"}
          step={type === "integer" ? 1 : "any"}
          min={field.min ?? undefined}
          max={field.max ?? undefined}
          value={textOf(value)}
        />
      );
    default:
      return (
        <TextField
          {...told}
          type={type === "string" ? "text" : "url"}
          pattern={patternFor(field)}
          title={field.pattern === null ? undefined : `Must match ${field.pattern}`}
          value={textOf(value)}
          autocomplete="off"
          spellcheck={false}
        />
      );
  }
}

interface InputFieldProps {
  readonly field: DescribedField;
  readonly value: Value | undefined;
  readonly error: string | undefined;
}

function FieldNote({ name, isNeeded }: { name: string; isNeeded: boolean }) {
  return (
    <>
      <code>{name}</code>
      {isNeeded ? " required" : " optional"}
    </>
  );
}

/** Unticked says no, unless nothing is said at all: a hidden mark tells the two apart where no script runs. */
function Toggle({ field, value }: { field: DescribedField; value: Value | undefined }) {
  const name = controlName(field.name);
  const told = { "data-field": field.name, "data-type": "boolean" };
  return (
    <div class="field">
      <input type="hidden" name={`${name}.asked`} value="1" />
      <Switch
        id={idOf(field.name)}
        name={name}
        value="true"
        checked={value === true}
        label={field.label}
        atEnd
        {...told}
      />
      {field.description && <p class="help">{field.description}</p>}
    </div>
  );
}

function choicesOf({ choices }: DescribedField, isNeeded: boolean) {
  const listed = (choices ?? []).map((value) => ({ value, label: value }));
  return isNeeded ? listed : [{ value: "", label: "–" }, ...listed];
}

function helpOf({ type, min, max }: DescribedField): string | undefined {
  if (type === "image") return "The https address of a PNG, JPEG or WebP image.";
  if (type !== "number" && type !== "integer") return undefined;
  if (min !== null && max !== null) return `Between ${min} and ${max}.`;
  if (min !== null) return `At least ${min}.`;
  return max === null ? undefined : `At most ${max}.`;
}

/** A pattern may match anywhere in the text, and an attribute matches all of it. Browsers complain of one they cannot read. */
function patternFor({ pattern }: DescribedField): string | undefined {
  if (pattern === null) return undefined;
  const whole = `.*(?:${pattern}).*`;
  try {
    new RegExp(whole, "v");
    return whole;
  } catch {
    return undefined;
  }
}

function textOf(value: Value | undefined): string {
  return value === undefined ? "" : String(value);
}

function rowsFor(value: Value | undefined): number {
  const lines = String(value ?? "")
    .split("\n")
    .reduce((count, line) => count + 1 + Math.floor(line.length / 60), 0);
  return Math.min(12, Math.max(3, lines));
}
