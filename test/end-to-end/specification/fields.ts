/** A field's type as the specification's tables name it; `?` after it: the field may be absent. */
export type Type = keyof typeof types;

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
type Json = any;

const types = {
  string: (value: Json) => typeof value === "string",
  integer: (value: Json) => Number.isInteger(value),
  number: (value: Json) => typeof value === "number" && Number.isFinite(value),
  boolean: (value: Json) => typeof value === "boolean",
  object: (value: Json) => typeof value === "object" && value !== null && !Array.isArray(value),
  array: (value: Json) => Array.isArray(value),
  null: (value: Json) => value === null,
  "object or null": (value: Json) => value === null || types.object(value),
  "number or null": (value: Json) => value === null || types.number(value),
  "string or null": (value: Json) => value === null || types.string(value),
  "https URL": (value: Json) => typeof value === "string" && URL.canParse(value) && value.startsWith("https://"),
  "atomic amount": (value: Json) => typeof value === "string" && /^\d+$/.test(value),
  "ISO 8601 UTC with milliseconds": (value: Json) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
};

export const isOf = (type: Type, value: unknown): boolean => types[type](value);

/** The value at `a.b.0.c`. */
export const at = (body: Json, path: string): unknown =>
  path.split(".").reduce((value, name) => (value === undefined || value === null ? undefined : value[name]), body);
