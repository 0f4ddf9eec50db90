/** @jsxRuntime automatic @jsxImportSource preact */
import { Button } from "../../../../shared/page/button.tsx";
import { Disclosure } from "../../../../shared/page/disclosure.tsx";
import { AreaField, Choice, Select, SelectField, TextField } from "../../../../shared/page/field.tsx";
import { Icon } from "../../../../shared/page/icon.tsx";
import { fieldTypes } from "../../../input.ts";
import { idAt } from "./anchors.ts";
import type { Editor } from "./editor-state.ts";
import { type FieldRule, type FormerRules, fieldsMax, isFieldType, rulesOf } from "./form-draft.ts";

type DraftField = Readonly<Record<string, unknown>>;

/** What a buyer fills in. Each button posts the form, so that adding and ordering work without JavaScript. */
export function FieldsCard({ editor: { draft, formerRules } }: { editor: Editor }) {
  const { fields, accepts_extra_instructions: extra } = draft.definition;
  return (
    <section class="card" aria-labelledby="fields-title" id="at-fields">
      <div class="card-head">
        <h2 id="fields-title">Input fields</h2>
        <span class="small faint">What a buyer fills in. Nothing else of your recipe is ever shown.</span>
      </div>
      <div id="build-fields">
        <input type="hidden" name="f.count" value={fields.length} />
        {fields.length > 0 && (
          <div class="fields-head" aria-hidden="true">
            <span>Order</span>
            <span>Name</span>
            <span>Type</span>
            <span>Label</span>
            <span>Required</span>
            <span />
          </div>
        )}
        {fields.map((field, at) => (
          <FieldRow field={field} at={at} count={fields.length} former={formerRules[at] ?? {}} />
        ))}
        {fields.length === 0 && <p class="card-body small faint">No fields: a buyer only presses Run.</p>}
      </div>
      <div class="card-foot between">
        <Button size="small" icon="plus" name="do" value="add.0" disabled={fields.length >= fieldsMax} data-adds="">
          Add a field
        </Button>
        <Choice
          id={idAt("accepts_extra_instructions")}
          name="accepts_extra_instructions"
          value="true"
          checked={extra}
          label={<span class="small">Accept extra instructions</span>}
        />
      </div>
    </section>
  );
}

interface RowProps {
  readonly field: DraftField;
  readonly at: number;
  readonly count: number;
  readonly former: FormerRules;
}

function FieldRow({ field, at, count, former }: RowProps) {
  const name = textOf(field.name);
  const called = name || `field ${at + 1}`;
  const control = (key: string) => ({ id: idAt(`fields.${at}.${key}`), name: `f.${at}.${key}` });
  return (
    <div class="field-box" id={idAt(`fields.${at}`)} data-field-row={String(at)}>
      <div class="field-line">
        <OrderButtons at={at} count={count} called={called} />
        <input
          class="input input-sm mono"
          {...control("name")}
          value={name}
          aria-label={`Name of ${called}`}
          autocomplete="off"
          spellcheck={false}
        />
        <Select
          size="small"
          {...control("type")}
          aria-label={`Type of ${called}`}
          choices={fieldTypes.map((type) => ({ value: type, label: type }))}
          value={textOf(field.type)}
        />
        <input
          class="input input-sm"
          {...control("label")}
          value={textOf(field.label)}
          placeholder={name}
          aria-label={`Label of ${called}`}
          autocomplete="off"
        />
        <label class="choice">
          <input
            type="checkbox"
            {...control("required")}
            value="true"
            checked={field.required === true}
            aria-label={`${called} is required`}
          />
          <span class="only-small small" aria-hidden="true">
            required
          </span>
        </label>
        <Button
          look="ghost"
          size="small"
          icon="trash"
          name="do"
          value={`remove.${at}`}
          aria-label={`Remove ${called}`}
        />
      </div>
      <FieldRules field={field} at={at} called={called} />
      {Object.entries(former).map(([rule, text]) => (
        <input type="hidden" name={`f.${at}.${rule}`} value={text} />
      ))}
    </div>
  );
}

function OrderButtons({ at, count, called }: { at: number; count: number; called: string }) {
  return (
    <span class="field-order">
      {/* By keyboard the buttons beside it do the same. */}
      <span class="field-grip" data-grip="" title="Drag to another place" aria-hidden="true">
        <Icon name="grip" />
      </span>
      <Button
        look="ghost"
        size="small"
        name="do"
        value={`up.${at}`}
        disabled={at === 0}
        aria-label={`Move ${called} up`}
      >
        ↑
      </Button>
      <Button
        look="ghost"
        size="small"
        name="do"
        value={`down.${at}`}
        disabled={at === count - 1}
        aria-label={`Move ${called} down`}
      >
        ↓
      </Button>
    </span>
  );
}

function FieldRules({ field, at, called }: { field: DraftField; at: number; called: string }) {
  const rules = isFieldType(field.type) ? rulesOf[field.type] : [];
  const control = (key: string) => ({ id: idAt(`fields.${at}.${key}`), name: `f.${at}.${key}` });
  return (
    <div class="field-rules">
      <Disclosure
        summary={
          <>
            <span class="vh">{`${called}: `}</span>
            {rulesSaid(field)}
          </>
        }
      >
        <div class="cols cols-2">
          {rules.map((rule) => (
            <Rule rule={rule} field={field} {...control(rule)} />
          ))}
          <ValueField
            field={field}
            label="Default"
            help="Taken where a buyer leaves it out."
            {...control("default")}
            value={field.default}
          />
          <ValueField
            field={field}
            label="Example"
            help="What the form is filled in with."
            {...control("example")}
            value={field.example}
          />
        </div>
        <TextField
          {...control("description")}
          label="Help"
          size="small"
          value={textOf(field.description)}
          maxLength={500}
          autocomplete="off"
        />
      </Disclosure>
    </div>
  );
}

const ruleLabels: Readonly<Record<FieldRule, string>> = {
  max_length: "Characters at most",
  pattern: "Pattern",
  min: "At least",
  max: "At most",
  choices: "Choices",
};

function Rule({ rule, field, id, name }: { rule: FieldRule; field: DraftField; id: string; name: string }) {
  const value = field[rule];
  if (rule === "choices") {
    const lines = Array.isArray(value) ? value.map(textOf).join("\n") : "";
    return <AreaField id={id} name={name} label={ruleLabels.choices} rows={3} value={lines} help="One a line." />;
  }
  return (
    <TextField
      id={id}
      name={name}
      label={ruleLabels[rule]}
      size="small"
      mono={rule === "pattern"}
      inputMode={rule === "pattern" ? "text" : "decimal"}
      value={textOf(value)}
      autocomplete="off"
      spellcheck={false}
    />
  );
}

interface ValueProps {
  readonly field: DraftField;
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly help: string;
  readonly value: unknown;
}

function ValueField({ field, value, ...told }: ValueProps) {
  if (field.type === "boolean") {
    const given = new Set(["", "true", "false", textOf(value)]);
    const choices = [...given].map((one) => ({ value: one, label: one || "–" }));
    return <SelectField {...told} size="small" choices={choices} value={textOf(value)} />;
  }
  // A box of one line would drop the lines' ends of what another type left.
  if (field.type === "text" || textOf(value).includes("\n"))
    return <AreaField {...told} rows={2} value={textOf(value)} />;
  return <TextField {...told} size="small" value={textOf(value)} autocomplete="off" />;
}

/** `up to 8,000 characters, example “A long story.”` */
function rulesSaid({
  max_length,
  pattern,
  min,
  max,
  choices,
  default: usual,
  example,
  description,
}: DraftField): string {
  const said = [
    max_length !== undefined && `up to ${figuresOf(max_length)} characters`,
    pattern !== undefined && `matches ${cut(textOf(pattern))}`,
    min !== undefined && max !== undefined && `${figuresOf(min)} to ${figuresOf(max)}`,
    min !== undefined && max === undefined && `at least ${figuresOf(min)}`,
    max !== undefined && min === undefined && `at most ${figuresOf(max)}`,
    Array.isArray(choices) && choices.length > 0 && cut(choices.map(textOf).join(", ")),
    usual !== undefined && `default ${cut(textOf(usual))}`,
    example !== undefined && `example “${cut(textOf(example))}”`,
    description !== undefined && "help",
  ].filter((one) => one !== false);
  return said.length === 0 ? "no rules, no example" : said.join(", ");
}

const figuresOf = (value: unknown) => (typeof value === "number" ? value.toLocaleString("en-US") : textOf(value));
const cut = (text: string) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
/** A draft may hold anything in a field: what is no text or number is shown as the JSON that it is. */
const textOf = (value: unknown) =>
  typeof value === "object" ? ((value && JSON.stringify(value)) ?? "") : String(value ?? "");
