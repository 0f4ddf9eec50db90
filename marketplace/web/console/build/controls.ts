import { z } from "zod";
import type { AnyConnector } from "../../../connectors/registry.ts";

/** One control of the form of a connector's settings, made from their schema. */
export interface Control {
  /** In the settings: `prompt`, `rule.likes_min`. */
  readonly path: string;
  readonly kind: "line" | "area" | "lines" | "json" | "number" | "choice" | "switch";
  readonly required: boolean;
  /** What the connector takes where nothing is said. */
  readonly usual: string | undefined;
  readonly choices: readonly string[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly isWhole: boolean;
  readonly lengthMax: number | undefined;
}

/** What the settings of a connector are filled in with, in the order of their schema. */
export function settingControls({ settings }: Pick<AnyConnector, "settings">): Control[] {
  const schema = z.toJSONSchema(settings, { io: "input", unrepresentable: "any" }) as Schema;
  return controlsIn(schema, "");
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

function controlsIn({ properties = {}, required = [] }: Schema, prefix: string): Control[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    if (schema.type === "object" && schema.properties) return controlsIn(schema, `${path}.`);
    return [controlOf(path, schema, required.includes(name))];
  });
}

function controlOf(path: string, schema: Schema, required: boolean): Control {
  const { enum: choices = [], minimum, maximum, maxLength } = schema;
  return {
    path,
    kind: kindOf(schema),
    required,
    usual: usualOf(schema.default),
    choices: choices.map(String),
    min: minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? minimum : undefined,
    max: maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined,
    isWhole: schema.type === "integer",
    lengthMax: maxLength,
  };
}

const longText = 4_000;

function kindOf({ type, enum: choices, items, anyOf, maxLength = 0 }: Schema): Control["kind"] {
  if (choices) return "choice";
  if (type === "boolean") return "switch";
  if (type === "number" || type === "integer") return "number";
  if (type === "array" && items?.type === "string") return "lines";
  if (type === "string") return maxLength > longText ? "area" : "line";
  // A whole number that may also be text is kept as text, which holds every digit of it.
  const isText = anyOf?.every(
    (one) => one.type === "string" || one.type === "integer" || typeof one.const === "string",
  );
  return isText ? "line" : "json";
}

function usualOf(value: unknown): string | undefined {
  if (value === undefined || typeof value === "object") return undefined;
  return String(value);
}
