import { z } from "zod";
import { connectorIds } from "../connectors/connector.ts";
import { shownLine, shownText } from "../shown-text.ts";
import { categories, tagsShape } from "./category.ts";
import { fieldsSchema } from "./contract.ts";

export const secretName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "must be a name");

export const secretsMax = 20;
const isFew = (secrets: object) => Object.keys(secrets).length <= secretsMax;

/** In credits, for one run. */
export const priceMax = 1_000_000;

/** What a creator says about an agent: everything a version holds, with secrets still in the clear. */
export const definitionSchema = z.strictObject({
  name: shownLine(z.string().trim().min(1).max(100)).describe("What buyers see it called."),
  description: shownText(z.string().trim().min(1).max(500)).describe(
    "What it does for its buyer, in one sentence or two.",
  ),
  category: z.enum(categories).default("other").describe("What it is for: buyers narrow lists by it."),
  tags: tagsShape.default([]).describe("The creator's own words for it: buyers narrow lists by them."),
  connector: z.enum(connectorIds).describe("What it runs on; `settings` are that connector's."),
  price_credits: z.int().min(0).max(priceMax).describe("Of one run, in US cents; 0 is free."),
  fields: fieldsSchema.default([]).describe("What a buyer can say, in the order of the form."),
  accepts_extra_instructions: z
    .boolean()
    .default(true)
    .describe("Buyers may add wishes of their own, as `extraInstructions`."),
  /** The connector's own; private. */
  settings: z.record(z.string(), z.unknown()),
  /** Named in settings as {{secret.name}}; sealed at rest. */
  secrets: z.record(secretName, z.string().max(4_000)).refine(isFew, `may be ${secretsMax} at most`).default({}),
});

export type Definition = z.infer<typeof definitionSchema>;
