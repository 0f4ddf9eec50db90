import type { RequestHandler } from "express";
import { toSafeNumber } from "../../shared/units.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { foldEarnings } from "./balance.ts";

/** GET /api/v1/balance */
export function readBalance({ db, lookups, inFlight }: Context): RequestHandler {
  return async (_request, response) => {
    const { accountId, handle, key } = callerOf(response);
    const balance = await lookups.balance(accountId);
    if (balance.worthFolding) inFlight.background(foldEarnings(db, accountId));
    response.json({
      credits: toSafeNumber(balance.credits),
      held_credits: toSafeNumber(balance.held),
      earned_credits: toSafeNumber(balance.earned),
      account: { handle },
      key: {
        name: key.name,
        start: key.start,
        scope: key.scope,
        rate_limit_per_minute: key.rateLimitPerMinute,
        max_credits_per_day: key.maxCreditsPerDay === undefined ? null : toSafeNumber(key.maxCreditsPerDay),
      },
    });
  };
}
