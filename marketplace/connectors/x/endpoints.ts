import type { Response } from "express";
import { z } from "zod";
import { jsonAnswer } from "../../../shared/endpoint.ts";
import type { Database } from "../../../shared/postgres.ts";
import { accountOf, callerOf } from "../../http/callers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { exampleRunId, exampleTime } from "../../http/examples.ts";
import { moment, runId } from "../../http/shapes.ts";
import type { AccountId } from "../../ids.ts";
import { offsetQuery, readQuery } from "../../query.ts";
import { listRewards } from "./rewards.ts";

const rewardsQuery = z.object(offsetQuery("Rewards"));

const rewardsShape = z
  .object({
    rewards: z.array(
      z
        .object({
          agent: z.string(),
          run_id: runId,
          post_id: z.string(),
          author_id: z.string(),
          username: z.string(),
          recipient: z.string().describe("A wallet on the chain, or the handle of the account that got credits."),
          asset: z.string().describe("`hbar`, a token id, or `credits`."),
          amount: z.string().describe("Whole base units."),
          state: z
            .enum(["claimed", "paid", "void"])
            .describe("`claimed`: the chain has not told yet. `void`: not paid."),
          network: z.string().nullable(),
          transaction_id: z.string().nullable(),
          created_at: moment,
        })
        .meta({ id: "Reward" }),
    ),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: "Rewards" });

/** What agents on the connectors `x-reward` and `x-reward-credits` have paid. */
export function rewardEndpoints({ db }: { readonly db: Database }): Endpoint[] {
  const reward = {
    agent: "ada/thank-you",
    run_id: exampleRunId,
    post_id: "1890000000000000001",
    author_id: "2244994945",
    username: "grace",
    recipient: "0.0.4512345",
    asset: "hbar",
    amount: "100000000",
    state: "paid",
    network: "hedera:mainnet",
    transaction_id: "0.0.4512300@1772443800.000000001",
    created_at: exampleTime,
  } as const;
  const rewardsEndpoint = (
    way: Pick<Endpoint, "path" | "id" | "access">,
    ownerOf: (response: Response) => AccountId,
  ): Endpoint => ({
    method: "get",
    ...way,
    tag: "Rewards",
    summary: "What the account's agents have paid for posts on X, and to whom, newest first.",
    description:
      "A post is rewarded once. A reward is `claimed` from the moment at which it is sent until the chain tells what " +
      "became of it.",
    query: rewardsQuery,
    answers: { 200: jsonAnswer(rewardsShape, { rewards: [reward], limit: 20, offset: 0 }) },
    handler: async (request, response) => {
      const asked = readQuery(rewardsQuery, request.query);
      response.json({ rewards: await listRewards(db, ownerOf(response), asked), ...asked });
    },
  });
  return [
    rewardsEndpoint(
      { path: "/api/v1/rewards", id: "listRewards", access: "apiKey" },
      (response) => callerOf(response).accountId,
    ),
    rewardsEndpoint(
      { path: "/api/account/rewards", id: "listRewardsSignedIn", access: "account" },
      (response) => accountOf(response).id,
    ),
  ];
}
