import type { RequestHandler } from "express";
import { z } from "zod";
import { callerOf } from "../../api-keys/require-key.ts";
import type { Context } from "../../context.ts";
import { readQuery, wholeNumber } from "../../query.ts";
import { listRewards } from "../effects.ts";

export const rewardsQuery = z.object({
  limit: wholeNumber(1, 100).default(20).describe("Rows a page."),
  offset: wholeNumber(0, 1_000_000).default(0).describe("Rows to skip."),
});

/** GET /api/v1/rewards: what the caller's own agents have paid, for which post and to whom, newest first. */
export function getRewards({ db }: Context): RequestHandler {
  return async (request, response) => {
    const asked = readQuery(rewardsQuery, request.query);
    response.json({ rewards: await listRewards(db, callerOf(response).accountId, asked), ...asked });
  };
}
