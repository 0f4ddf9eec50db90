import { z } from "zod";
import { jsonAnswer, requestBody } from "../../shared/endpoint.ts";
import type { Database } from "../../shared/postgres.ts";
import { accountShape } from "../accounts/shapes.ts";
import { agentPathParameters } from "../agents/shapes.ts";
import { settingsBody } from "../http/body-limits.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import * as act from "./act-on.ts";
import { endShareAs, endShareRequest } from "./end-share.ts";
import { readInputAs, readInputRequest } from "./read-input.ts";
import { operatorOf } from "./require-operator.ts";
import * as shapes from "./shapes.ts";

interface Needs {
  readonly db: Database;
}

/** What operators do. Each act is logged in the transaction that does it. */
export function actEndpoints(needs: Needs): Endpoint[] {
  return [
    moveAccountEndpoint(needs),
    grantEndpoint(needs),
    moveAgentEndpoint(needs),
    readInputEndpoint(needs),
    endShareEndpoint(needs),
    resolveEndpoint(needs),
    noteEndpoint(needs),
  ];
}

const handle = z.string().meta({ description: "The account's handle.", examples: ["ada"] });
const why = { reason: "It copies another agent's prompt.", note: "ticket 812" };

function moveAccountEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/operator/accounts/{handle}/state",
    id: "setAccountState",
    tag: "Operators",
    summary: "Suspend or restore an account.",
    description:
      "From the next call on its keys are refused and its agents cannot be run, or can again. Not the operator's own.",
    access: "operator",
    pathParameters: { handle },
    body: requestBody(act.moveRequest, { move: "suspend", ...why }, settingsBody),
    answers: {
      200: jsonAnswer(accountShape, { id: "acc_01k8q3v5w7x9z1b3d5f7h9j1k3", handle: "ada", state: "suspended" }),
      ...refusals({ 409: '"ada" is not open.', 422: { error: '"reason" must say why.', field: "reason" } }),
    },
    handler: async (request, response) => {
      const { id, handle, state } = await act.moveAccountAs(
        db,
        operatorOf(response),
        String(request.params.handle),
        request.body,
      );
      response.json({ id, handle, state });
    },
  };
}

function grantEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/operator/accounts/{handle}/grants",
    id: "grantCredits",
    tag: "Operators",
    summary: "Give credits to an account, with a note.",
    description:
      `Operators together grant no more than ${act.grantedPerDayMax} credits a day (UTC); more is a 429. A reference is granted once. ` +
      "Not to the operator's own account.",
    access: "operator",
    pathParameters: { handle },
    body: requestBody(
      act.grantRequest,
      { credits: 500, note: "outage of 11 Nov", reference: "outage-11-nov-ada" },
      settingsBody,
    ),
    answers: {
      200: jsonAnswer(shapes.grantedShape, {
        account: "ada",
        credits: 500,
        granted_today: 500,
        per_day: act.grantedPerDayMax,
      }),
      ...refusals({
        409: { error: '"reference" was granted before; nothing was granted now.', field: "reference" },
        422: { error: '"note" must say why.', field: "note" },
      }),
    },
    handler: async (request, response) => {
      response.json(await act.grantAs(db, operatorOf(response), String(request.params.handle), request.body));
    },
  };
}

function moveAgentEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/operator/agents/{handle}/{slug}/state",
    id: "setAgentState",
    tag: "Operators",
    summary: "Take an agent off the market, or let it back.",
    description: "Runs under way are finished. The creator sees the reason. Not an agent of the operator's own.",
    access: "operator",
    pathParameters: agentPathParameters,
    body: requestBody(act.moveRequest, { move: "suspend", ...why }, settingsBody),
    answers: {
      200: jsonAnswer(shapes.movedAgentShape, { agent: exampleAgent, state: "suspended" }),
      ...refusals({
        409: 'There is no agent "ada/summarizer" that could be suspended.',
        422: { error: '"reason" must say why.', field: "reason" },
      }),
    },
    handler: async (request, response) => {
      const address = `${request.params.handle}/${request.params.slug}`;
      response.json(await act.moveAgentAs(db, operatorOf(response), address, request.body));
    },
  };
}

const run_id = "run_01k8q3v5w7x9z1b3d5f7h9j1k3";
const runPath = { run_id: z.string().meta({ description: "The run.", examples: [run_id] }) };

function endShareEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/operator/runs/{run_id}/unshare",
    id: "revokeRunShareAsOperator",
    tag: "Operators",
    summary: "End the link that a run is shared by.",
    description: "The run stays its account's, which sees the reason.",
    access: "operator",
    pathParameters: runPath,
    body: requestBody(endShareRequest, { reason: "It shows another person's address." }, settingsBody),
    answers: {
      200: jsonAnswer(shapes.endedShareShape, { run_id }),
      ...refusals({ 422: { error: '"reason" must say why.', field: "reason" } }),
    },
    handler: async (request, response) => {
      response.json(await endShareAs(db, operatorOf(response), String(request.params.run_id), request.body));
    },
  };
}

function readInputEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/operator/runs/{run_id}/input",
    id: "readRunInput",
    tag: "Operators",
    summary: "Read what a run was asked. It is an act, and the buyer sees it.",
    description: "Inputs are kept as long as their runs; one that was too long is a 404.",
    access: "operator",
    pathParameters: runPath,
    body: requestBody(readInputRequest, { note: "report 3 of grace/tone" }, settingsBody),
    answers: {
      200: jsonAnswer(shapes.readInputShape, { run_id, input: { text: "A long story." } }),
      ...refusals({ 422: { error: '"note" must say why.', field: "note" } }),
    },
    handler: async (request, response) => {
      response.json(await readInputAs(db, operatorOf(response), String(request.params.run_id), request.body));
    },
  };
}

function resolveEndpoint({ db }: Needs): Endpoint {
  const id = "rpt_01k8q3v5w7x9z1b3d5f7h9j1k3";
  return {
    method: "post",
    path: "/api/operator/reports/{id}/resolve",
    id: "resolveReport",
    tag: "Operators",
    summary: "Mark a visitor's report as dealt with.",
    description: "The agent stays as it is.",
    access: "operator",
    pathParameters: { id: z.string().meta({ description: "The report.", examples: [id] }) },
    body: requestBody(act.resolveRequest, { note: "spoke to the creator" }, settingsBody),
    answers: {
      200: jsonAnswer(shapes.resolvedShape, { id, resolved_at: exampleTime, note: "spoke to the creator" }),
      ...refusals({ 422: { error: '"note" must be at most 2000 characters long.', field: "note" } }),
    },
    handler: async (request, response) => {
      response.json(await act.resolveReportAs(db, operatorOf(response), String(request.params.id), request.body));
    },
  };
}

function noteEndpoint({ db }: Needs): Endpoint {
  return {
    method: "post",
    path: "/api/operator/notes",
    id: "addAuditNote",
    tag: "Operators",
    summary: "Write a note into the audit log.",
    description: "For operators alone, and for good.",
    access: "operator",
    body: requestBody(act.noteRequest, { on: "61 payments", note: "Base slow, all ended" }, settingsBody),
    answers: {
      200: jsonAnswer(shapes.notedShape, { noted: true }),
      ...refusals({ 422: { error: '"note" must say why.', field: "note" } }),
    },
    handler: async (request, response) => {
      response.json(await act.noteAs(db, operatorOf(response), request.body));
    },
  };
}
