import type { Account } from "../../../accounts/create.ts";
import { type Category, categories } from "../../../agents/category.ts";
import type { DescribedField } from "../../../agents/detail.ts";
import type { ListedAgent } from "../../../agents/list.ts";
import { perCallOf } from "../../../agents/per-call.ts";
import { connectorNames } from "../../../connectors/connector.ts";
import { connectors } from "../../../connectors/registry.ts";
import type { DraftDefinition } from "../../../drafts/draft-definition.ts";
import type { Value } from "../../../input.ts";
import { extraField } from "../../agent/form-input.ts";
import { isFieldType } from "./form-draft.ts";

/** The buyer's form of a draft, as far as its fields can be shown. */
export function previewFields({ fields, accepts_extra_instructions: extra }: DraftDefinition): DescribedField[] {
  const names = new Set<string>();
  const shown = fields.flatMap((field) => {
    const { name } = field;
    if (typeof name !== "string" || !/^[A-Za-z]\w{0,63}$/.test(name) || names.has(name)) return [];
    names.add(name);
    return isFieldType(field.type) ? [described(field, name)] : [];
  });
  return extra ? [...shown, extraField] : shown;
}

function described(field: Readonly<Record<string, unknown>>, name: string): DescribedField {
  const text = (key: string) => (typeof field[key] === "string" && field[key] !== "" ? (field[key] as string) : null);
  const number = (key: string) => (typeof field[key] === "number" ? (field[key] as number) : null);
  const value = (key: string) =>
    ["string", "number", "boolean"].includes(typeof field[key]) ? (field[key] as Value) : null;
  const lengthMax = number("max_length");
  return {
    name,
    label: text("label") ?? name,
    type: field.type as DescribedField["type"],
    required: field.required === true,
    default: value("default"),
    description: text("description"),
    max_length: lengthMax !== null && lengthMax >= 1 ? Math.floor(lengthMax) : null,
    min: number("min"),
    max: number("max"),
    choices: Array.isArray(field.choices) ? field.choices.map(String) : null,
    pattern: text("pattern"),
    example: value("example"),
  };
}

/** The draft as a card of the lists, as it will stand there. */
export function listedDraft(
  publicUrl: string,
  { handle }: Account,
  { slug, definition, networks }: { slug: string; definition: DraftDefinition; networks: readonly string[] },
): ListedAgent {
  const price = priceOf(definition) ?? 0;
  const { name, description, category, connector, tags } = definition;
  const perCall = perCallOf(publicUrl, `${handle}/${slug}`, BigInt(price), networks);
  const isSoldPerCall = !connectors.get(connector)?.needsAccount && (price === 0 || networks.length > 0);
  return {
    agent: `${handle}/${slug}`,
    name: name || "No name yet",
    description: description || "No description yet.",
    connector,
    connector_name: connectorNames[connector],
    category: categories.includes(category as Category) ? (category as Category) : "other",
    tags,
    price_credits: price,
    per_call: isSoldPerCall ? perCall : null,
    figures: { runs_30d: 0, success_rate: null, median_ms: null, p95_ms: null, last_success_at: null },
    created_at: new Date(0).toISOString(),
  };
}

/** Undefined while it is no whole number of credits. */
export function priceOf({ price_credits: price }: DraftDefinition): number | undefined {
  return Number.isSafeInteger(price) && Number(price) >= 0 ? Number(price) : undefined;
}

/** The names that a template of this draft may have in its slots. */
export function slotNames({ fields, accepts_extra_instructions: extra }: DraftDefinition): string[] {
  const names = fields.flatMap(({ name }) =>
    typeof name === "string" && /^[A-Za-z]\w{0,63}$/.test(name) ? [name] : [],
  );
  return [...new Set(extra ? [...names, "extraInstructions"] : names)];
}
