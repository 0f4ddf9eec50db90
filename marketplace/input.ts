export const fieldTypes = ["string", "text", "number", "integer", "boolean", "choice", "url", "image"] as const;
export type FieldType = (typeof fieldTypes)[number];

export type Value = string | number | boolean;
export type Values = Readonly<Record<string, Value>>;

/** A buyer's input as the agent's contract has read it: declared fields only, with defaults filled in. */
export interface Input {
  readonly values: Values;
  readonly extraInstructions?: string;
}
