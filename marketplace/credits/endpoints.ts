import type { Request, Response } from "express";
import { z } from "zod";
import { toSafeNumber } from "../../shared/amounts.ts";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { smallBody } from "../http/body-limits.ts";
import { callerOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleRunId, exampleTime } from "../http/examples.ts";
import { readIdempotencyKey, replayedHeader, transferHeaders, usedForAnotherText } from "../http/idempotency-key.ts";
import { refusals } from "../http/refusals.ts";
import type { AccountId } from "../ids.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { credits } from "./amount.ts";
import type { BalanceLookup } from "./balance.ts";
import { balanceShape, statementShape, transferShape } from "./shapes.ts";
import { statementQuery } from "./statement.ts";
import { listPostings, tooManyToLookThrough } from "./statement-totals.ts";
import { moveEarnings, moveEarningsNamed } from "./transfer.ts";

interface Needs {
  readonly db: Database;
  readonly lookups: BalanceLookup;
}

export function creditsEndpoints(needs: Needs): Endpoint[] {
  return [balanceEndpoint(needs), ledgerEndpoint(needs), transferEndpoint(needs)];
}

function balanceEndpoint({ lookups }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/v1/balance",
    id: "getBalance",
    tag: "Credits",
    summary: "The account's credits.",
    description:
      "Answers what the key's account can spend now, what is held for its running runs and what its agents have earned, " +
      "together with the limits of the key that asks. Earned credits can be spent after transferCredits.",
    access: "apiKey",
    answers: {
      200: jsonAnswer(balanceShape, {
        credits: 940,
        held_credits: 5,
        earned_credits: 120,
        account: { handle: "ada" },
        key: {
          name: "server",
          start: "amk_4fT9",
          scope: "own_agents",
          rate_limit_per_minute: 60,
          max_credits_per_day: null,
        },
      }),
    },
    handler: async (_request, response) => {
      const { accountId, handle, key } = callerOf(response);
      const balance = await lookups.balance(accountId);
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
    },
  };
}

export const examplePosting = {
  id: "pst_1842",
  kind: "hold",
  credits: 5,
  from: "spendable",
  to: "held",
  run_id: exampleRunId,
  key: { id: "key_01k8q3v5w7x9z1b3d5f7h9j1k3", name: "server" },
  agent: exampleAgent,
  payment: null,
  note: null,
  created_at: exampleTime,
} as const;

function ledgerEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/v1/ledger",
    id: "listPostings",
    tag: "Credits",
    summary: "The account's postings, newest first: every movement of its credits.",
    description:
      "A posting moves a whole number of credits from one ledger account to another. A run that succeeds has two, a hold and a " +
      "capture; one that fails has a hold and a release. Ask for the next page with `cursor`. Those of an agent or a key are looked " +
      "for among 100,000 postings at most, which `from` and `to` choose.",
    access: "apiKey",
    query: statementQuery,
    answers: {
      200: jsonAnswer(statementShape, {
        postings: [examplePosting],
        cursor: null,
      }),
      ...refusals({ 422: { error: tooManyToLookThrough, field: "from" } }),
    },
    handler: async (request, response) => {
      response.json(await listPostings(db, callerOf(response).accountId, readQuery(statementQuery, request.query)));
    },
  };
}

export const transferBody = z.object({ credits: z.int().min(1).max(1_000_000_000) });

function transferEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/v1/credits/transfer",
    id: "transferCredits",
    tag: "Credits",
    summary: "Make earned credits spendable.",
    description:
      "Moves credits that the account's agents have earned to those it can spend. There is no way back. Asking for more " +
      "than was earned is refused with 422 and moves nothing. Send an `Idempotency-Key`, so that repeating it after a lost answer " +
      "moves nothing more.",
    access: "apiKey",
    ...transferOnce,
    body: requestBody(transferBody, { credits: 100 }, smallBody),
    handler: (request, response) => answerTransfer(db, callerOf(response).accountId, request, response),
  };
}

export const transferOnce: Pick<Endpoint, "headers" | "answers"> = {
  headers: transferHeaders,
  answers: {
    200: jsonAnswer(transferShape, { credits: 1_040, earned_credits: 20 }, { headers: replayedHeader }),
    ...refusals({
      409: usedForAnotherText,
      422: { error: '"credits" must be at most 20, which is what was earned.', field: "credits" },
    }),
  },
};

export async function answerTransfer(
  db: Database,
  accountId: AccountId,
  request: Request,
  response: Response,
): Promise<void> {
  const asked = parse(transferBody, request.body ?? {}, "bad_request");
  const amount = credits(BigInt(asked.credits));
  const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
  if (idempotencyKey === undefined) {
    response.json(await moveEarnings(db, accountId, amount));
    return;
  }
  const { moved, replayed } = await moveEarningsNamed(db, accountId, amount, idempotencyKey);
  if (replayed) response.setHeader("idempotent-replayed", "true");
  response.json(moved);
}
