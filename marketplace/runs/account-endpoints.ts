import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { historyDays } from "../history-days.ts";
import { smallBody } from "../http/body-limits.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleRunId, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { runId } from "../http/shapes.ts";
import { parse } from "../parse.ts";
import { readQuery } from "../query.ts";
import { activityShape, ownRunPageShape, runReportShape, sharedRunShape, shareShape } from "./account-shapes.ts";
import { activityQuery, readActivity } from "./activity.ts";
import { examplesMax, removeExample, showExample } from "./agent-examples.ts";
import { readOwnRun } from "./own-run.ts";
import { listOwnRuns, ownRunsQuery } from "./own-runs.ts";
import { runAnswers } from "./run-answers.ts";
import { exampleKeptRun } from "./shapes.ts";
import { readSharedRun, revokeShare, shareRun } from "./share-run.ts";

/** Runs for those who are signed in, and what they show of them to others. */
export function accountRunEndpoints({ db }: Needs): Endpoint[] {
  return [
    listEndpoint(db),
    activityEndpoint(db),
    detailEndpoint(db),
    shareEndpoint(db),
    unshareEndpoint(db),
    sharedEndpoint(db),
    exampleEndpoint(db),
    removeExampleEndpoint(db),
  ];
}

interface Needs {
  readonly db: Database;
}

const exampleKey = { id: "key_01k8q3v5w7x9z1b3d5f7h9j1k3", name: "production" } as const;

const exampleRun = { ...exampleKeptRun, key: exampleKey } as const;

const exampleShare = { token: "u4Yk0Zr1qN7tB2xW9sLd3A", with_input: false, created_at: exampleTime } as const;
const exampleOutput = { kind: "text", text: "Each call pays its creator." } as const;

const pathParameters = { run_id: runId.describe("As a run's answer names it.") };

function listEndpoint(db: Database): Endpoint {
  return {
    method: "get",
    path: "/api/account/runs",
    id: "listOwnRuns",
    tag: "Runs",
    summary: `The account's runs of the last ${historyDays} days, by key, agent, day and outcome.`,
    description: "Answers them newest first, without what they answered. Ask for the next page with `cursor`.",
    access: "account",
    query: ownRunsQuery,
    answers: { 200: jsonAnswer(ownRunPageShape, { runs: [exampleRun], cursor: null }) },
    handler: async (request, response) => {
      response.json(await listOwnRuns(db, accountOf(response).id, readQuery(ownRunsQuery, request.query)));
    },
  };
}

function activityEndpoint(db: Database): Endpoint {
  const sums = { runs: 12, failed: 1, credits: 55 };
  return {
    method: "get",
    path: "/api/account/activity",
    id: "getActivity",
    tag: "Runs",
    summary: "The account's runs added up: by day, key and agent.",
    description: "A run counts on the day (UTC) on which it began, and once it has ended.",
    access: "account",
    query: activityQuery,
    answers: {
      200: jsonAnswer(activityShape, {
        ...sums,
        average_ms: 2_940,
        median_ms: 2_610,
        runs_before: 10,
        days: [{ day: exampleTime.slice(0, 10), ...sums }],
        keys: [{ key: exampleKey, ...sums }],
        agents: [{ agent: exampleAgent, ...sums }],
      }),
    },
    handler: async (request, response) => {
      response.json(await readActivity(db, accountOf(response).id, readQuery(activityQuery, request.query)));
    },
  };
}

function detailEndpoint(db: Database): Endpoint {
  return {
    method: "get",
    path: "/api/account/runs/{run_id}",
    id: "getOwnRun",
    tag: "Runs",
    summary: "One of them, with input, output, receipt, credits posted and transactions.",
    description: `Runs are kept for ${historyDays} days. Another account's run is a 404, like one that never was.`,
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(runReportShape, {
        ...exampleRun,
        agent_name: "Summarizer",
        agent_version: 3,
        agent_is_live: true,
        input: { text: "Buyers pay per call. Creators are paid at once." },
        output: exampleOutput,
        hidden_images: [],
        receipt: null,
        postings: [
          { kind: "hold", credits: 5, created_at: exampleTime },
          { kind: "capture", credits: 5, created_at: exampleTime },
        ],
        transactions: [],
        share: null,
      }),
      ...refusals({ 404: "There is no such run." }),
    },
    handler: async (request, response) => {
      const run = await readOwnRun(db, accountOf(response).id, String(request.params.run_id));
      runAnswers.send(request, response, run);
    },
  };
}

const shareRequest = z.strictObject({
  with_input: z.boolean().default(false).describe("Show the input too."),
});

function shareEndpoint(db: Database): Endpoint {
  return {
    method: "put",
    path: "/api/account/runs/{run_id}/share",
    id: "shareRun",
    tag: "Runs",
    summary: "Show one of them to every visitor who has its link.",
    description:
      "The link cannot be guessed, is kept from search engines, and ends when it is revoked, or with the run. It shows what " +
      "the run gave, and what it was asked only if `with_input` is true. Asking again keeps the link.",
    access: "account",
    pathParameters,
    body: requestBody(shareRequest, { with_input: false }, smallBody),
    answers: {
      200: jsonAnswer(shareShape, exampleShare),
      ...refusals({ 404: "There is no such run.", 409: "A run can be shared once it has ended." }),
    },
    handler: async (request, response) => {
      const { with_input: withInput } = parse(shareRequest, request.body ?? {}, "bad_request");
      response.json(await shareRun(db, accountOf(response).id, String(request.params.run_id), { withInput }));
    },
  };
}

const revokedShape = z.object({ run_id: runId, shared: z.literal(false) }).meta({ id: "RevokedRunShare" });

function unshareEndpoint(db: Database): Endpoint {
  return {
    method: "delete",
    path: "/api/account/runs/{run_id}/share",
    id: "revokeRunShare",
    tag: "Runs",
    summary: "Revoke a run's link: nothing is under it from then on.",
    description: "Revoking what is not shared changes nothing. Sharing the run again gives another link.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(revokedShape, { run_id: exampleRunId, shared: false }),
      ...refusals({ 404: "There is no such run." }),
    },
    handler: async (request, response) => {
      const id = String(request.params.run_id);
      await revokeShare(db, accountOf(response).id, id);
      response.json({ run_id: id, shared: false });
    },
  };
}

const exampleAnswer = z.object({ run_id: runId, example: z.boolean() }).meta({ id: "RunAsExample" });

function exampleEndpoint(db: Database): Endpoint {
  return {
    method: "put",
    path: "/api/account/runs/{run_id}/example",
    id: "showRunAsExample",
    tag: "Publishing",
    summary: "Show one of them on its agent's page, with what it was asked and what it gave.",
    description:
      `For runs of an agent of the account's own that succeeded; ${examplesMax} an agent at most. What is shown is a copy, which stays ` +
      "when the run's days are over.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(exampleAnswer, { run_id: exampleRunId, example: true }),
      ...refusals({ 404: "There is no such run.", 409: "A run can be an example once it has succeeded." }),
    },
    handler: async (request, response) => {
      const id = String(request.params.run_id);
      await showExample(db, accountOf(response).id, id);
      response.json({ run_id: id, example: true });
    },
  };
}

function removeExampleEndpoint(db: Database): Endpoint {
  return {
    method: "delete",
    path: "/api/account/runs/{run_id}/example",
    id: "removeExample",
    tag: "Publishing",
    summary: "Take an example off its agent's page.",
    description: "For examples of agents of the account's own.",
    access: "account",
    pathParameters,
    answers: {
      200: jsonAnswer(exampleAnswer, { run_id: exampleRunId, example: false }),
      ...refusals({ 404: "That is no example of an agent of yours." }),
    },
    handler: async (request, response) => {
      const id = String(request.params.run_id);
      await removeExample(db, accountOf(response).id, id);
      response.json({ run_id: id, example: false });
    },
  };
}

function sharedEndpoint(db: Database): Endpoint {
  return {
    method: "get",
    path: "/api/shared-runs/{token}",
    id: "getSharedRun",
    tag: "Runs",
    summary: "A run that its account has shared.",
    description: "Does not tell who ran it. 404 once the link is revoked, and for what was never shared.",
    access: "public",
    pathParameters: { token: z.string().describe("The last part of the link.") },
    answers: {
      200: jsonAnswer(sharedRunShape, {
        run_id: exampleRunId,
        agent: exampleAgent,
        agent_name: "Summarizer",
        agent_is_live: true,
        success: true,
        credits_used: 5,
        output: exampleOutput,
        hidden_images: [],
        receipt: null,
        created_at: exampleTime,
        finished_at: exampleTime,
      }),
      ...refusals(503, { 404: "There is no run under this link, or it is not shared any more." }),
    },
    handler: async (request, response) => {
      response.setHeader("cache-control", "no-store");
      response.setHeader("x-robots-tag", "noindex");
      runAnswers.send(request, response, await readSharedRun(db, String(request.params.token)));
    },
  };
}
