import type { Account } from "../accounts/create.ts";
import { agentYaml } from "../agents/agent-yaml.ts";
import { connectors } from "../connectors/registry.ts";
import type { DraftDefinition } from "./draft-definition.ts";

const fieldKeys = [
  "name",
  "label",
  "type",
  "required",
  "default",
  "description",
  "max_length",
  "min",
  "max",
  "choices",
  "pattern",
  "example",
] as const;

/**
 * A definition as a person reads and compares it: in the order of a recipe, and with the connector's defaults among the settings.
 * PostgreSQL keeps no order of keys, and a version holds its settings as the connector read them.
 */
function shownDefinition(given: DraftDefinition): DraftDefinition {
  const { name, description, category, tags, connector, price_credits, fields, accepts_extra_instructions } = given;
  const read = connectors.get(connector)?.settings.safeParse(given.settings);
  return {
    name,
    description,
    category,
    tags,
    connector,
    price_credits,
    fields: fields.map(shownField),
    accepts_extra_instructions,
    settings: read?.success ? read.data : given.settings,
  };
}

function shownField(field: DraftDefinition["fields"][number]): DraftDefinition["fields"][number] {
  const known = fieldKeys.filter((key) => field[key] !== undefined && !(key === "required" && field[key] === false));
  return Object.fromEntries(known.map((key) => [key, field[key] ?? null]));
}

/** A definition as `npm run agents` reads it, without its secrets. */
export function definitionYaml({ handle }: Pick<Account, "handle">, slug: string, said: Said): string {
  return agentYaml(`${handle}/${slug}`, shownDefinition(said.definition), said.secretNames);
}

interface Said {
  readonly definition: DraftDefinition;
  readonly secretNames: readonly string[];
}
