import { z } from "zod";
import { connectorIds } from "../connectors/connector.ts";
import { categories, tagsShape } from "./category.ts";
import { fieldsSchema } from "./contract.ts";

export const secretName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, "must be a name");

const secretsMax = 20;
const isFew = (secrets: object) => Object.keys(secrets).length <= secretsMax;

/** What a creator says about an agent: everything a version holds, with secrets still in the clear. */
/** In credits, for one run. */
export const priceMax = 1_000_000;

export const definitionSchema = z.strictObject({
  name: z.string().trim().min(1).max(100),
  description: z.string().trim().min(1).max(500),
  /** What it is for, and the creator's own words for it: both are what buyers narrow lists by. */
  category: z.enum(categories).default("other"),
  tags: tagsShape.default([]),
  connector: z.enum(connectorIds),
  price_credits: z.int().min(0).max(priceMax),
  fields: fieldsSchema.default([]),
  accepts_extra_instructions: z.boolean().default(true),
  /** The connector's own; private. */
  settings: z.record(z.string(), z.unknown()),
  /** Named in settings as {{secret.name}}; sealed at rest. */
  secrets: z.record(secretName, z.string().max(4_000)).refine(isFew, `may be ${secretsMax} at most`).default({}),
});

export type Definition = z.infer<typeof definitionSchema>;
