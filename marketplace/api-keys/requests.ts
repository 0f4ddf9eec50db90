import { z } from "zod";
import { usualCallsPerMinute } from "../http/calls-per-minute.ts";
import { ceilingMax, ceilingUsual } from "./ceiling.ts";
import { capMax, scopes, toolListings } from "./key-settings.ts";

/** What key-settings.ts refuses otherwise, with 422: documents say it, too. */
const capRange = { minimum: 0, maximum: capMax };

export const keyRequest = z.strictObject({
  name: z.string().max(200).meta({ minLength: 1, maxLength: 100, description: "For the account's holder to read." }),
  scope: z.enum(scopes).optional().describe("Which agents the key sees as tools; the account's own by default."),
  agents: z
    .array(z.string().max(200))
    .max(100)
    .optional()
    .describe("Of the scope chosen_agents: `handle/slug` of live agents."),
  tools: z
    .enum(toolListings)
    .optional()
    .describe(
      "What the tool server lists: `all`, the default, a tool for each agent in scope; `search`, few tools that find, describe and run them.",
    ),
  rate_limit_per_minute: z
    .int()
    .optional()
    .meta({
      minimum: 1,
      maximum: ceilingMax,
      description: `${usualCallsPerMinute} by default; at most what all keys of the account may call together, ${ceilingUsual} by default.`,
    }),
  max_credits_per_day: z
    .int()
    .optional()
    .meta({ ...capRange, description: "What runs by this key may cost in a day (UTC); no cap by default." }),
  max_credits_per_month: z
    .int()
    .optional()
    .meta({ ...capRange, description: "The same for a calendar month (UTC)." }),
});

const changedCap = z.int().nullable().optional().describe(`At most ${capMax}; null lifts the cap.`);

export const changeRequest = keyRequest.partial().extend({
  max_credits_per_day: changedCap,
  max_credits_per_month: changedCap,
});
