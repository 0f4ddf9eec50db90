import { z } from "zod";

/** One field of a body, a parameter, or a header, as a table shows it. */
export interface FieldRow {
  /** With its path in the body: `key.rate_limit_per_minute`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  /** Limits and choices: `1 to 100`, `at most 2,000 characters`, `default 20`. */
  readonly rules: readonly string[];
}

/** The fields of an object's shape, those of the objects in it after them, two levels deep. */
export function fieldRows(shape: z.ZodType): FieldRow[] {
  const schema = z.toJSONSchema(shape, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return rowsOf(schema, { definitions: schema.$defs ?? {}, prefix: "", depth: 0 });
}

/** One value alone, such as a header's or a path parameter's. */
export function valueRow(name: string, shape: z.ZodType, required: boolean): FieldRow {
  return rowOf(name, z.toJSONSchema(shape, { io: "input", unrepresentable: "any" }) as JsonSchema, required);
}

/** The row of a value that JSON Schema describes. */
export function schemaRow(name: string, schema: object, required: boolean): FieldRow {
  return rowOf(name, schema as JsonSchema, required);
}

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Definitions;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

type Definitions = Readonly<Record<string, JsonSchema>>;

interface Place {
  readonly definitions: Definitions;
  readonly prefix: string;
  readonly depth: number;
}

const depthMax = 1;

function rowsOf(given: JsonSchema, place: Place): FieldRow[] {
  const schema = resolved(given, place.definitions);
  const { properties = {}, required = [], anyOf, oneOf } = schema;
  const alternatives = anyOf ?? oneOf;
  if (alternatives && Object.keys(properties).length === 0) {
    return mergedRows(alternatives.map((one) => rowsOf(one, place)));
  }
  return Object.entries(properties).flatMap(([name, property]) => {
    const known = resolved(property, place.definitions);
    const path = `${place.prefix}${name}`;
    const inner = known.type === "array" && known.items ? resolved(known.items, place.definitions) : known;
    const prefix = inner === known ? `${path}.` : `${path}[].`;
    const nested =
      place.depth < depthMax && inner.properties ? rowsOf(inner, { ...place, prefix, depth: place.depth + 1 }) : [];
    return [rowOf(path, known, required.includes(name), place.definitions), ...nested];
  });
}

/** The fields of either of several forms: required is what each of them requires. */
function mergedRows(forms: readonly FieldRow[][]): FieldRow[] {
  const names = [...new Set(forms.flat().map(({ name }) => name))];
  return names.map((name) => {
    const rows = forms.flatMap((form) => form.filter((row) => row.name === name));
    const values = rows.flatMap(({ rules: [rule = ""] }) => (rule.startsWith(always) ? rule.slice(always.length) : []));
    const isChoice = values.length === rows.length && values.length > 1;
    return {
      ...rows[0]!,
      required: rows.length === forms.length && rows.every(({ required }) => required),
      ...(isChoice && { rules: [values.join(", ")] }),
    };
  });
}

const always = "always ";

function resolved(schema: JsonSchema, definitions: Definitions): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  const target = name === undefined ? undefined : definitions[name];
  return target ? { ...target, ...(schema.description && { description: schema.description }) } : schema;
}

function rowOf(name: string, schema: JsonSchema, required: boolean, definitions: Definitions = {}): FieldRow {
  return {
    name,
    type: typeOf(schema, definitions),
    required,
    description: schema.description ?? "",
    rules: rulesOf(schema),
  };
}

function typeOf(given: JsonSchema, definitions: Definitions, depth = 0): string {
  // A shape that holds itself: any JSON.
  if (depth > 4) return "any";
  const schema = resolved(given, definitions);
  const { type, items, anyOf, oneOf, enum: choices, const: only } = schema;
  const alternatives = anyOf ?? oneOf;
  const kinds = alternatives && [
    ...new Set(alternatives.flatMap((one) => typeOf(one, definitions, depth + 1).split(" or "))),
  ];
  if (kinds) return kinds.some((kind) => kind.includes("any")) ? "any" : kinds.join(" or ");
  if (type === "array") return items ? `list of ${typeOf(items, definitions, depth + 1)}` : "list";
  if (Array.isArray(type)) return type.join(" or ");
  if (choices || only !== undefined) return typeof type === "string" ? type : "string";
  return typeof type === "string" ? type : "any";
}

function rulesOf(schema: JsonSchema): string[] {
  const { minimum, maximum, minLength, maxLength, maxItems, default: usual } = schema;
  return [
    choicesIn(schema),
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    maxItems === undefined ? "" : `at most ${maxItems} items`,
    usual === undefined || typeof usual === "object" ? "" : `default ${String(usual)}`,
  ].filter((rule) => rule !== "");
}

function choicesIn({ enum: choices, const: only, items }: JsonSchema): string {
  if (only !== undefined) return `${always}${String(only)}`;
  if (items?.enum) return `each of ${choicesIn(items)}`;
  return choices ? choices.map(String).join(", ") : "";
}

/** The bounds that JavaScript's own integers have say nothing. */
function range(least: number | undefined, most: number | undefined, unit: string): string {
  const min = least !== undefined && least > Number.MIN_SAFE_INTEGER ? least : undefined;
  const max = most !== undefined && most < Number.MAX_SAFE_INTEGER ? most : undefined;
  const said = (value: number) => value.toLocaleString("en");
  if (min !== undefined && max !== undefined) return `${said(min)} to ${said(max)}${unit}`;
  if (max !== undefined) return `at most ${said(max)}${unit}`;
  return min !== undefined && min > 0 ? `at least ${said(min)}${unit}` : "";
}
