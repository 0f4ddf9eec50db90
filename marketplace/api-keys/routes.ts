import type { RequestHandler } from "express";
import { z } from "zod";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { accountOf } from "../sign-in/require-session.ts";
import { createKey, keysPerAccount, scopes } from "./create.ts";
import { listKeys } from "./list.ts";
import { revokeKey } from "./revoke.ts";

export const keyBody = z.strictObject({
  name: z.string().max(200),
  scope: z.enum(scopes).optional().describe("Which agents the key sees as tools; the account's own by default."),
  agents: z
    .array(z.string().max(200))
    .max(100)
    .optional()
    .describe("Of the scope chosen_agents: `handle/slug` of live agents."),
  rate_limit_per_minute: z
    .int()
    .optional()
    .describe("60 by default; at most what all keys of the account may call together, 600 by default."),
  max_credits_per_day: z.int().optional().describe("What runs by this key may cost in a day (UTC); no cap by default."),
});

/** GET /api/account/keys */
export function getKeys({ db }: Context): RequestHandler {
  return async (_request, response) => {
    const keys = await listKeys(db, accountOf(response).id);
    response.json({
      keys: keys.map((key) => ({
        ...key,
        max_credits_per_day: key.max_credits_per_day === null ? null : Number(key.max_credits_per_day),
      })),
      keys_max: keysPerAccount,
    });
  };
}

/** POST /api/account/keys: the answer is the only one that ever holds the key. */
export function postKey({ db }: Context): RequestHandler {
  return async (request, response) => {
    const given = parse(keyBody, request.body ?? {}, "bad_request");
    const key = await createKey(db, {
      accountId: accountOf(response).id,
      name: given.name,
      scope: given.scope,
      agents: given.agents,
      rateLimitPerMinute: given.rate_limit_per_minute,
      maxCreditsPerDay: given.max_credits_per_day,
    });
    response.status(201).json(key);
  };
}

/** DELETE /api/account/keys/{id} */
export function deleteKey({ db }: Context): RequestHandler {
  return async (request, response) => {
    const id = String(request.params.id);
    await revokeKey(db, accountOf(response).id, id.replaceAll("\0", ""));
    response.json({ id, revoked: true });
  };
}
