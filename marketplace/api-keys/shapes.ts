import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { cursor, moment, runId, wholeCredits } from "../http/shapes.ts";
import { callStates, type KeyCall, type KeyCalls } from "./calls.ts";
import { scopes, toolListings } from "./key-settings.ts";
import type { ListedKey } from "./list.ts";
import { refusalReasons } from "./refused-calls.ts";

const key = covering<Omit<ListedKey, Caps | Moments> & Readonly<Record<Caps, number | null>>>()(
  z.object({
    id: z.templateLiteral(["key_", z.string()]),
    name: z.string(),
    start: z.string().describe("How the key begins."),
    last4: z.string(),
    scope: z.enum(scopes),
    agents: z.array(z.string()),
    tools: z.enum(toolListings),
    client: z.string().nullable().describe("The client that a person allowed it, over OAuth; null of a key."),
    rate_limit_per_minute: z.int(),
    max_credits_per_day: z.int().nullable(),
    max_credits_per_month: z.int().nullable(),
    last_used_from: z.string().nullable().describe("The network, without the last part of the address."),
    last_used_by: z.string().nullable().describe("The program, as it names itself."),
  }),
);

type Caps = "max_credits_per_day" | "max_credits_per_month";
type Moments = "created_at" | "last_used_at" | "revoked_at";

export const keysShape = z
  .object({
    keys: z.array(
      key
        .extend({
          created_at: moment,
          last_used_at: moment.nullable().describe("About then: to the minute."),
          revoked_at: moment.nullable(),
          credits_today: wholeCredits.describe("Spent today (UTC), or held for runs under way; 0 of a revoked key."),
          credits_this_month: wholeCredits.nullable().describe("The same for this month; null without a cap on it."),
        })
        .meta({ id: "Key" }),
    ),
    keys_max: z.int(),
  })
  .meta({ id: "Keys" });

/** What a key is called, sees and may spend. */
const settings = key.pick({
  id: true,
  name: true,
  scope: true,
  agents: true,
  tools: true,
  rate_limit_per_minute: true,
  max_credits_per_day: true,
  max_credits_per_month: true,
});

export type KeySettings = z.infer<typeof settings>;

export const newKeyShape = settings
  .extend({ token: z.string().describe("The key: shown here and never again.") })
  .meta({ id: "NewKey" });

export const changedKeyShape = settings.extend({ changed: z.literal(true) }).meta({ id: "ChangedKey" });

export const keyCallsShape = covering<KeyCalls>()(
  z
    .object({
      calls: z.array(
        covering<KeyCall>()(
          z
            .object({
              run_id: runId.nullable().describe("Null of what was refused."),
              agent: z
                .string()
                .nullable()
                .describe("Null where calls were refused before they were read, or too many different ones."),
              asked: z
                .string()
                .nullable()
                .describe("Method and path of calls that were refused before they were read; else null."),
              state: z.enum(callStates),
              reason: z
                .enum(refusalReasons)
                .nullable()
                .describe(
                  "Why they were refused: past the key's calls a minute, an agent outside its scope, its cap, the call's own " +
                    "`max_credits`, or the account's balance.",
                ),
              times: z.int().min(1).describe("How many calls of a minute were refused so; 1 of a run."),
              credits_used: wholeCredits,
              ms: z.int().nullable().describe("How long it took; null while it runs."),
              error: z.string().nullable(),
              created_at: moment.describe("Of what was refused, when the minute began."),
            })
            .meta({ id: "KeyCall" }),
        ),
      ),
      cursor,
    })
    .meta({ id: "KeyCalls" }),
);

export const revokedShape = z.object({ id: z.string(), revoked: z.literal(true) }).meta({ id: "Revoked" });
