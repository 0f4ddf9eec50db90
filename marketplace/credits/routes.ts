import type { RequestHandler } from "express";
import { z } from "zod";
import { credits, toSafeNumber } from "../../shared/units.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { foldEarnings } from "./balance.ts";
import { readStatement, statementQuery } from "./statement.ts";
import { moveEarnings } from "./transfer.ts";

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

/** GET /api/v1/ledger */
export function getStatement({ db }: Context): RequestHandler {
  return async (request, response) => {
    response.json(await readStatement(db, callerOf(response).accountId, readQuery(statementQuery, request.query)));
  };
}

export const transferBody = z.object({ credits: z.int().min(1).max(1_000_000_000) });

/** POST /api/v1/credits/transfer */
export function postTransfer({ db }: Context): RequestHandler {
  return async (request, response) => {
    const asked = parse(transferBody, request.body, "bad_request");
    response.json(await moveEarnings(db, callerOf(response).accountId, credits(BigInt(asked.credits))));
  };
}
