import { z } from "zod";
import { unstorableIn } from "../../shared/request-body.ts";
import { connectorIds } from "../connectors/connector.ts";

const charactersMax = 262_144;
/** The deepest nesting that can be walked through. */
const depthMax = 60;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
/** The checks want one of these kinds; a form can show each as a text. */
const fieldPart = z.union([scalar, z.array(scalar)], {
  error: "must be a text, a number, true, false, or a list of these",
});

/**
 * A definition as its creator is writing it: the parts are of the right kind so that a form can show them, and everything else waits
 * for the checks. A number that is none yet stays the text that was typed.
 */
export const draftDefinitionShape = z
  .strictObject({
    name: z.string().max(1_000).default(""),
    description: z.string().max(5_000).default(""),
    category: z.string().max(100).default("other"),
    tags: z.array(z.string().max(200)).max(50).default([]),
    connector: z.enum(connectorIds),
    price_credits: z.union([z.number(), z.string().max(100)]).default(1),
    fields: z.array(z.record(z.string(), fieldPart)).max(50).default([]),
    accepts_extra_instructions: z.boolean().default(true),
    settings: z
      .record(z.string(), z.unknown())
      .default({})
      .describe("The connector's, as far as they are written; AgentDefinition has their form."),
  })
  .superRefine((given, issues) => {
    for (const [part, said] of Object.entries(given)) {
      const message = keepingProblem(said);
      if (message) return void issues.addIssue({ code: "custom", path: [part], message });
    }
  })
  .meta({ id: "DraftDefinition" });

/** Why something cannot be kept, whatever it says. */
function keepingProblem(value: unknown): string | undefined {
  if (isDeeperThan(value, depthMax)) return `may hold one another ${depthMax} deep at most`;
  if (unstorableIn(value, "it")) return "holds a character that is none (NUL, or half of a surrogate pair)";
  return JSON.stringify(value).length > charactersMax ? `may have ${charactersMax} characters at most` : undefined;
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeperThan(inner, depth - 1));
}

export type DraftDefinition = z.infer<typeof draftDefinitionShape>;

/** Secrets by name; null takes one away. */
export type DraftSecrets = Readonly<Record<string, string | null>>;
