import type { Request, Response } from "express";
import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { outputJson } from "../connectors/output-json.ts";
import { historyDays } from "../history-days.ts";
import { runBody } from "../http/body-limits.ts";
import { accountOf, callerOf } from "../http/callers.ts";
import { changesPerMinute } from "../http/calls-per-minute.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleRunId } from "../http/examples.ts";
import { idempotencyHeaders, readIdempotencyKey, replayedHeader, usedForAnotherText } from "../http/idempotency-key.ts";
import { refusals } from "../http/refusals.ts";
import { runId } from "../http/shapes.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { maxTimeoutSeconds } from "../time-limits.ts";
import type { Buyer } from "./asked-run.ts";
import { listRuns, readRun, runsQuery } from "./history.ts";
import { outputLetGoText, outputsKeptHours } from "./kept-outputs.ts";
import { type RunNeeds, runAgent } from "./run.ts";
import { refuseUnread, runAnswers } from "./run-answers.ts";
import { sendAnswer } from "./send-answer.ts";
import { exampleKeptRun, notEnoughCredits, runDetailShape, runPageShape, runResultShape } from "./shapes.ts";

export function runEndpoints(needs: RunNeeds): Endpoint[] {
  return [runEndpoint(needs), ownRunEndpoint(needs), runsEndpoint(needs), oneRunEndpoint(needs)];
}

const runRequest = z.object({
  agent: z.string().trim().min(1, "must name an agent: handle/slug").describe("`handle/slug`, in any case."),
  input: z
    .record(z.string(), z.unknown())
    .describe("Keyed by the agent's declared field names; other keys are dropped."),
  max_credits: z.int().min(0).optional().describe("The run is refused with 402 when it costs more."),
});

function runEndpoint(needs: RunNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/v1/run",
    id: "runAgent",
    tag: "Runs",
    summary: `Run one agent and pay with credits. Waits for the result; allow ${maxTimeoutSeconds} seconds.`,
    description:
      "Holds the agent's price, runs it, and charges when it worked. Read `success` besides the status: an agent that " +
      "failed is a 200 with `success` false, and costs nothing. One whose end is not known yet, since a chain or the database did " +
      "not tell it, is such a 200, too: `error` says so, and getRun tells later how it ended and what it cost. A caller that gives up does not end the run; its result " +
      "is then found with listRuns. What a request with an `Idempotency-Key` gave is a 410 once it is no longer kept, as getRun says.",
    access: "apiKey",
    ...runOnCredits,
    handler: (request, response) => answerRun(needs, callerOf(response), request, response),
  };
}

/** Runs an agent from a page of ours, whose visitor is signed in: no key has to be in a browser. */
function ownRunEndpoint(needs: RunNeeds): Endpoint {
  return {
    method: "post",
    path: "/api/account/run",
    id: "runAgentSignedIn",
    tag: "Runs",
    summary: "Run one agent and pay with the account's credits, signed in instead of with a key.",
    description:
      `As runAgent in all else. It counts against no key's daily cap, and ${changesPerMinute} times a minute are possible. Send \`max_credits\`, ` +
      "so that a price which rose is a 402 and not a charge, and an `Idempotency-Key`, so that a lost answer can be had again.",
    access: "account",
    ...runOnCredits,
    handler: (request, response) => answerRun(needs, { accountId: accountOf(response).id }, request, response),
  };
}

const runOnCredits: Pick<Endpoint, "before" | "body" | "headers" | "answers"> = {
  before: [refuseUnread],
  body: requestBody(
    runRequest,
    { agent: exampleAgent, input: { text: "Buyers pay per call. Creators are paid at once." }, max_credits: 5 },
    runBody,
  ),
  headers: idempotencyHeaders,
  answers: {
    200: jsonAnswer(
      runResultShape,
      {
        success: true,
        run_id: exampleRunId,
        output: { kind: "text", text: "Each call pays its creator." },
        credits_used: 5,
        credits_remaining: 935,
        receipt: null,
      },
      { headers: replayedHeader },
    ),
    ...notEnoughCredits,
    ...refusals({
      404: "There is no such agent.",
      409: usedForAnotherText,
      410: { error: outputLetGoText, charged: true },
      422: { error: '"text" must have at most 20000 characters.', field: "text" },
    }),
  },
};

async function answerRun(needs: RunNeeds, buyer: Buyer, request: Request, response: Response): Promise<void> {
  const { max_credits: maxCredits, ...asked } = parse(runRequest, request.body, "bad_request");
  const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
  const { result, replayed } = await runAgent(needs, buyer, { ...asked, maxCredits, idempotencyKey });
  if (replayed) {
    runAnswers.begin(request, response, result.output ? outputJson(result.output).length : 0);
    response.setHeader("idempotent-replayed", "true");
  }
  sendAnswer(response, result);
}

function runsEndpoint({ db }: { readonly db: Database }): Endpoint {
  return {
    method: "get",
    path: "/api/v1/runs",
    id: "listRuns",
    tag: "Runs",
    summary: `The account's runs of the last ${historyDays} days, newest first.`,
    description:
      "Answers the runs that the account's keys have made and what each cost, without what they answered, which getRun " +
      "has. Ask for the next page with `cursor`.",
    access: "apiKey",
    query: runsQuery,
    answers: { 200: jsonAnswer(runPageShape, { runs: [exampleKeptRun], cursor: null }) },
    handler: async (request, response) => {
      response.json(await listRuns(db, callerOf(response).accountId, readQuery(runsQuery, request.query)));
    },
  };
}

function oneRunEndpoint({ db }: { readonly db: Database }): Endpoint {
  return {
    method: "get",
    path: "/api/v1/runs/{run_id}",
    id: "getRun",
    tag: "Runs",
    summary: "One of the account's runs and what it answered, for instance after a timeout.",
    description:
      `Runs are kept for ${historyDays} days. Another account's run is a 404, like one that never was. The outputs of an account with a great many ` +
      `are kept for ${outputsKeptHours} hours at least: a run that succeeded and has no \`output\` gave one that is no longer kept.`,
    access: "apiKey",
    pathParameters: { run_id: runId.describe("As a run's answer names it.") },
    answers: {
      200: jsonAnswer(runDetailShape, {
        ...exampleKeptRun,
        output: { kind: "text", text: "Each call pays its creator." },
        receipt: null,
      }),
      ...refusals({ 404: "There is no such run." }),
    },
    handler: async (request, response) => {
      runAnswers.send(
        request,
        response,
        await readRun(db, callerOf(response).accountId, String(request.params.run_id)),
      );
    },
  };
}
