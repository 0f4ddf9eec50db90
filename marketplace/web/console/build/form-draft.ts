import { secretName } from "../../../agents/definition.ts";
import { type ConnectorId, connectorIds } from "../../../connectors/connector.ts";
import { connectors } from "../../../connectors/registry.ts";
import { type DraftDefinition, type DraftSecrets, draftDefinitionShape } from "../../../drafts/draft-definition.ts";
import { type FieldType, fieldTypes } from "../../../input.ts";
import { parse } from "../../../parse.ts";
import { type Control, settingControls } from "./controls.ts";
import { isKept, jsonWritten } from "./json-setting.ts";

/**
 * The editor's form as a draft: a text that is no number yet stays as it was typed. Throws ApiError for a form that is not ours.
 */
export function draftOfForm(form: URLSearchParams): { definition: DraftDefinition; secrets: DraftSecrets } {
  return { definition: parse(draftDefinitionShape, definitionInForm(form), "invalid_value"), secrets: secretsIn(form) };
}

/** The definition in the form, of whatever length. */
export function definitionInForm(form: URLSearchParams): object {
  const connector = form.get("connector") as ConnectorId;
  return {
    name: textIn(form, "name"),
    description: textIn(form, "description"),
    category: textIn(form, "category"),
    tags: textIn(form, "tags")
      .split(/[\s,]+/)
      .filter(Boolean),
    connector,
    price_credits: numberOr(textIn(form, "price_credits").trim()),
    fields: fieldsIn(form),
    accepts_extra_instructions: form.has("accepts_extra_instructions"),
    settings: connectorIds.includes(connector) ? settingsIn(form, connector) : {},
  };
}

/**
 * The definition in the form as a text that an agent's file may have, a line for each part: YAML takes JSON as it is. Undefined for one
 * that is nested too deep to be written.
 */
export function definitionText(agent: string, form: URLSearchParams): string | undefined {
  try {
    const parts = Object.entries({ agent, ...definitionInForm(form) });
    return parts.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join("");
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Which rules each type of field has; a draft keeps no others (`formerRulesIn`). */
export const rulesOf: Readonly<Record<FieldType, readonly FieldRule[]>> = {
  string: ["max_length", "pattern"],
  text: ["max_length", "pattern"],
  number: ["min", "max"],
  integer: ["min", "max"],
  boolean: [],
  choice: ["choices"],
  url: [],
  image: [],
};

const fieldRules = ["max_length", "pattern", "min", "max", "choices"] as const;
export type FieldRule = (typeof fieldRules)[number];

export const fieldsMax = 50;

function fieldsIn(form: URLSearchParams): Record<string, unknown>[] {
  return Array.from({ length: countIn(form) }, (_, at) => fieldAt(form, at));
}

/** Each field's rules that its type does not have: they stay in the form, for when the type is changed back. */
export function formerRulesIn(form: URLSearchParams): FormerRules[] {
  return Array.from({ length: countIn(form) }, (_, at) => {
    const has = rulesFor(textIn(form, `f.${at}.type`));
    const former = fieldRules.filter((rule) => !has.includes(rule));
    return Object.fromEntries(former.map((rule) => [rule, textIn(form, `f.${at}.${rule}`)]).filter(([, text]) => text));
  });
}

const rulesFor = (type: string) => (isFieldType(type) ? rulesOf[type] : []);

export type FormerRules = Readonly<Partial<Record<FieldRule, string>>>;

const countIn = (form: URLSearchParams) => Math.min(fieldsMax, Number(form.get("f.count")) || 0);

function fieldAt(form: URLSearchParams, at: number): Record<string, unknown> {
  const text = (key: string) => textIn(form, `f.${at}.${key}`);
  const type = text("type");
  const rules = rulesFor(type);
  const isNumber = type === "number" || type === "integer";
  const value = (given: string) => (isNumber ? numberOr(given) : type === "boolean" ? booleanOr(given) : given);
  const said: Record<string, unknown> = {
    name: text("name").trim(),
    label: text("label").trim(),
    type,
    required: form.has(`f.${at}.required`),
    description: text("description").trim(),
    default: text("default") && value(text("default")),
    example: text("example") && value(text("example")),
    ...Object.fromEntries(rules.map((rule) => [rule, ruleIn(rule, text(rule))])),
  };
  return Object.fromEntries(Object.entries(said).filter(([key, one]) => one !== "" || key === "name"));
}

function ruleIn(rule: FieldRule, text: string): unknown {
  if (rule === "choices") return linesIn(text);
  return rule === "pattern" || text === "" ? text : numberOr(text);
}

function settingsIn(form: URLSearchParams, id: ConnectorId): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const control of settingControls(connectors.get(id)!)) {
    const value = settingIn(form, control);
    if (value !== undefined) put(settings, control.path.split("."), value);
  }
  return settings;
}

function settingIn(form: URLSearchParams, { kind, path, required }: Control): unknown {
  const name = `s.${path}`;
  const text = textIn(form, name);
  if (kind === "switch") return form.has(name);
  if (kind === "lines") {
    const lines = linesIn(text);
    return lines.length === 0 ? undefined : lines;
  }
  if (text === "") return required ? "" : undefined;
  if (kind === "number") return numberOr(text.trim());
  return kind === "json" ? jsonWritten(text) : text;
}

function put(into: Record<string, unknown>, [first = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[first] = value;
    return;
  }
  into[first] ??= {};
  put(into[first] as Record<string, unknown>, rest, value);
}

/** Secrets that were typed, and those that are to be removed. */
function secretsIn(form: URLSearchParams): DraftSecrets {
  const secrets: Record<string, string | null> = {};
  for (const [key, value] of form) {
    const [, name = ""] = /^k\.([A-Za-z][A-Za-z0-9_]{0,63})$/.exec(key) ?? [];
    if (name && value !== "") secrets[name] = value;
    const [, gone = ""] = /^k-gone\.([A-Za-z][A-Za-z0-9_]{0,63})$/.exec(key) ?? [];
    if (gone) secrets[gone] = null;
  }
  const value = textIn(form, "secret_value");
  if (value !== "" && !refusedSecretIn(form)) secrets[newSecretName(form)] = value;
  return secrets;
}

/** The secrets that were set when the form was shown: each has a box there. */
export function secretNamesIn(form: URLSearchParams): string[] {
  return [...form.keys()].flatMap((key) => (key.startsWith("k.") ? [key.slice(2)] : []));
}

/** The new secret in the form, where it cannot be kept under its name: all else that was written is kept. */
export function refusedSecretIn(form: URLSearchParams): RefusedSecret | undefined {
  const name = newSecretName(form);
  if (textIn(form, "secret_value") === "" || secretName.safeParse(name).success) return undefined;
  const rule = "Letters, digits and _, beginning with a letter, 64 at most.";
  return { name, problem: name === "" ? "Give the secret a name." : `${rule} The secret is not kept yet.` };
}

/** The problem to tell when secrets were typed into a form that was not kept, since no page shows them again. */
export function lostSecretIn(form: URLSearchParams): RefusedSecret | undefined {
  const isTyped = [...form].some(([key, value]) => value !== "" && (key === "secret_value" || key.startsWith("k.")));
  if (!isTyped) return undefined;
  return { name: newSecretName(form), problem: "The secrets that you typed are not kept: type them again." };
}

export interface RefusedSecret {
  readonly name: string;
  readonly problem: string;
}

const newSecretName = (form: URLSearchParams) => textIn(form, "secret_name").trim();

export type FieldChange = { readonly move: "add" | "remove" | "up" | "down"; readonly at: number };

/** The fields after a button beside them was pressed. */
export function changedFields(fields: DraftDefinition["fields"], { move, at }: FieldChange): DraftDefinition["fields"] {
  if (move === "add")
    return fields.length < fieldsMax ? [...fields, { name: nameFor(fields), type: "string" }] : fields;
  return inNewOrder(fields, { move, at });
}

/** Rows beside the fields, in the order that the fields have after the change. */
export function inNewOrder<Row>(rows: readonly Row[], { move, at }: FieldChange): Row[] {
  if (move === "remove") return rows.filter((_, index) => index !== at);
  const to = move === "up" ? at - 1 : at + 1;
  const [moved, other] = [rows[at], rows[to]];
  return move !== "add" && moved && other ? rows.with(at, other).with(to, moved) : [...rows];
}

function nameFor(fields: DraftDefinition["fields"]): string {
  const taken = new Set(fields.map(({ name }) => name));
  for (let n = fields.length + 1; ; n += 1) if (!taken.has(`field_${n}`)) return `field_${n}`;
}

export const isFieldType = (type: unknown): type is FieldType => fieldTypes.includes(type as FieldType);

const textIn = (form: URLSearchParams, name: string) => (form.get(name) ?? "").replaceAll("\r\n", "\n");
const linesIn = (text: string) => text.split("\n").filter((line) => line.trim() !== "");

const booleanOr = (text: string) => (text === "true" || text === "false" ? text === "true" : text);

/** `12` for "12", and "twelve" for "twelve"; a number that would lose digits is none either. */
function numberOr(text: string): number | string {
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) && isKept(text) ? Number(text) : text;
}
