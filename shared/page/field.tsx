/** @jsxRuntime automatic @jsxImportSource preact */
import type { ComponentChildren, TextareaHTMLAttributes } from "preact";
import { classes } from "./classes.ts";
import { escaped } from "./escaped.ts";
import { Icon } from "./icon.tsx";

interface Told {
  readonly id: string;
  readonly label: ComponentChildren;
  /** The name by which the API knows it, beside the label. */
  readonly name?: string | undefined;
  readonly code?: boolean | undefined;
  /** At the line's end: `187 of 20,000`, `optional`. */
  readonly note?: ComponentChildren;
  readonly help?: ComponentChildren;
  /** What the server refused, in the place where it can be put right. */
  readonly error?: string | undefined;
}

/** Label, control, help, error: in that order, always. The control takes the attributes that tie it to them. */
export function Field(props: Told & { readonly control: (tied: Tied) => ComponentChildren }) {
  const { id, label, name, code = false, note, help, error, control } = props;
  return (
    <div class="field">
      <div class="field-top">
        <label for={id}>{label}</label>
        {code && name && <code>{name}</code>}
        {note !== undefined && <span class="field-note">{note}</span>}
      </div>
      {control(tiedTo({ id, name, help, error }))}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      <p class="error" id={`${id}-error`} hidden={error === undefined} role="alert">
        {error !== undefined && <Icon name="alert" />}
        {error !== undefined && <span>{error}</span>}
      </p>
    </div>
  );
}

interface Tied {
  readonly id: string;
  readonly name: string | undefined;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

function tiedTo({ id, name, help, error }: Pick<Told, "id" | "name" | "help" | "error">): Tied {
  const described = [help && `${id}-help`, error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  return {
    id,
    name,
    "aria-describedby": described || undefined,
    "aria-invalid": error === undefined ? undefined : "true",
  };
}

interface InputAttributes {
  readonly type?: "text" | "email" | "number" | "password" | "search" | "tel" | "url" | "date" | undefined;
  readonly value?: string | number | undefined;
  readonly placeholder?: string | undefined;
  readonly required?: boolean | undefined;
  readonly readonly?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  /** On a page that is there for this field alone. */
  readonly autofocus?: boolean | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly min?: string | number | undefined;
  readonly max?: string | number | undefined;
  readonly step?: string | number | undefined;
  readonly pattern?: string | undefined;
  readonly title?: string | undefined;
  readonly autocomplete?: string | undefined;
  readonly inputMode?: "text" | "decimal" | "numeric" | "email" | "url" | "search" | undefined;
  readonly spellcheck?: boolean | undefined;
  readonly list?: string | undefined;
  readonly [data: `data-${string}`]: string | undefined;
}

export function TextField({ size, mono, label, id, name, code, note, help, error, ...input }: TextFieldProps) {
  const look = classes("input", size === "large" && "input-lg", size === "small" && "input-sm", mono && "mono");
  return (
    <Field
      {...{ id, label, name, code, note, help, error }}
      control={(tied) => <input class={look} {...(input as object)} {...tied} />}
    />
  );
}

interface TextFieldProps extends Told, InputAttributes {
  readonly size?: "small" | "large" | undefined;
  readonly mono?: boolean | undefined;
}

type AreaAttributes = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "label" | "name" | "id" | "class">;

/** A browser drops a line end that an area's text begins with: one more goes before it. */
export function AreaField({ mono, label, id, name, code, note, help, error, value, ...area }: AreaFieldProps) {
  return (
    <Field
      {...{ id, label, name, code, note, help, error }}
      control={(tied) => (
        <textarea class={classes("area", mono && "mono")} {...area} {...tied}>
          {value?.startsWith("\n") && "\n"}
          {value}
        </textarea>
      )}
    />
  );
}

interface AreaFieldProps extends Told, AreaAttributes {
  readonly mono?: boolean | undefined;
  readonly value?: string | undefined;
}

export function SelectField({
  choices,
  value,
  size,
  label,
  id,
  name,
  code,
  note,
  help,
  error,
  ...select
}: SelectFieldProps) {
  return (
    <Field
      {...{ id, label, name, code, note, help, error }}
      control={(tied) => <Select choices={choices} value={value} size={size} {...select} {...tied} />}
    />
  );
}

interface SelectFieldProps extends Told, SelectProps {}

interface SelectProps {
  readonly choices: ReadonlyArray<{ readonly value: string; readonly label: string }>;
  readonly value?: string | undefined;
  readonly size?: "small" | undefined;
  readonly required?: boolean | undefined;
  /** The id of the form it belongs to, where it does not stand in it. */
  readonly form?: string | undefined;
}

/** The control alone, where a label stands elsewhere or `aria-label` names it. */
export function Select({ choices, value, size, ...select }: SelectProps & SelectNames) {
  return (
    <span class={classes("select", size && "select-sm")}>
      <select {...select} dangerouslySetInnerHTML={{ __html: optionsOf(choices, value) }} />
      <Icon name="chevron-down" />
    </span>
  );
}

/** Written by hand: an agent may have three thousand choices, and as components each view of its page would take milliseconds for them. */
function optionsOf(choices: SelectProps["choices"], value: string | undefined): string {
  let options = "";
  for (const choice of choices) {
    const itsValue = escaped(choice.value);
    const label = choice.label === choice.value ? itsValue : escaped(choice.label);
    options += `<option value="${itsValue}"${choice.value === value ? " selected" : ""}>${label}</option>`;
  }
  return options;
}

interface SelectNames {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly "aria-label"?: string | undefined;
  readonly "aria-describedby"?: string | undefined;
  readonly "aria-invalid"?: "true" | undefined;
}

/** One box to tick, or one of several to choose. */
export function Choice({ type = "checkbox", label, help, count, ...input }: ChoiceProps) {
  return (
    <label class="choice">
      <input type={type} {...input} />
      <span>
        {label}
        {help && <span class="help">{help}</span>}
      </span>
      {count !== undefined && <span class="count">{count}</span>}
    </label>
  );
}

interface ChoiceProps {
  readonly type?: "checkbox" | "radio";
  /** The id of the form it belongs to, where it does not stand in it. */
  readonly form?: string | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly value?: string | undefined;
  readonly checked?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly required?: boolean | undefined;
  readonly label: ComponentChildren;
  readonly help?: ComponentChildren;
  readonly count?: ComponentChildren;
}

/** On or off, at once. */
export function Switch({ label, atEnd = false, ...input }: SwitchProps) {
  return (
    <label class={classes("switch", atEnd && "switch-end")}>
      {atEnd && <span>{label}</span>}
      {/* biome-ignore lint/a11y/useAriaPropsForRole: a checkbox says itself whether it is checked */}
      <input type="checkbox" role="switch" {...input} />
      {!atEnd && <span>{label}</span>}
    </label>
  );
}

interface SwitchProps {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly value?: string | undefined;
  readonly checked?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly label: ComponentChildren;
  /** The switch stands at the line's end. */
  readonly atEnd?: boolean;
}
