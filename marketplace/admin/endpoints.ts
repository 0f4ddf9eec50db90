import { z } from "zod";
import { jsonAnswer } from "../../shared/endpoint.ts";
import { accountOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime } from "../http/examples.ts";
import { readQuery, wholeNumber } from "../query.ts";
import { listReports } from "../reports/operator-reports.ts";
import { accountActsQuery, actsQuery, listActs, listActsOn } from "./acts.ts";
import { type ConfirmNeeds, confirmEndpoints } from "./confirm-endpoints.ts";
import { type FindNeeds, find, findQuery } from "./find.ts";
import { accountsQuery, agentsQuery, listAccounts, listAllAgents } from "./lists.ts";
import { operatorOf } from "./require-operator.ts";
import * as shapes from "./shapes.ts";

type Needs = FindNeeds & ConfirmNeeds;

/** Endpoints by which operators look things up; act-endpoints.ts has those by which they act. The account concerned sees here what was done. */
export function operatorEndpoints(needs: Needs): Endpoint[] {
  return [
    ...confirmEndpoints(needs),
    findEndpoint(needs),
    accountsEndpoint(needs),
    agentsEndpoint(needs),
    reportsEndpoint(needs),
    actsEndpoint(needs),
    ownActsEndpoint(needs),
  ];
}

function findEndpoint(needs: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/operator/find",
    id: "findRecords",
    tag: "Operators",
    summary: "All that both services know by an id.",
    description:
      "Payments are shown as the marketplace keeps them beside the facilitator's public record. Without their key, payments are " +
      "found that began within days of what the id or the facilitator names, or in the last three. Each search is logged.",
    access: "operator",
    query: findQuery,
    answers: {
      200: jsonAnswer(shapes.foundShape, { accounts: [], agents: [], keys: [], runs: [], payments: [], failures: [] }),
    },
    handler: async (request, response) => {
      const { id } = readQuery(findQuery, request.query);
      response.json(await find(needs, operatorOf(response), id));
    },
  };
}

function accountsEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/operator/accounts",
    id: "listAccounts",
    tag: "Operators",
    summary: "Accounts, newest first.",
    description: "By the beginning of their handle, and by state.",
    access: "operator",
    query: accountsQuery,
    answers: { 200: jsonAnswer(shapes.accountsShape, { accounts: [], cursor: null }) },
    handler: async (request, response) => {
      response.json(await listAccounts(db, readQuery(accountsQuery, request.query)));
    },
  };
}

function agentsEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/operator/agents",
    id: "listAllAgents",
    tag: "Operators",
    summary: "Agents in any state, newest first.",
    description: "By the beginning of their address, and by state.",
    access: "operator",
    query: agentsQuery,
    answers: { 200: jsonAnswer(shapes.agentsShape, { agents: [], cursor: null }) },
    handler: async (request, response) => {
      response.json(await listAllAgents(db, readQuery(agentsQuery, request.query)));
    },
  };
}

const reportsQuery = z.object({
  all: z.enum(["true", "false"]).optional().describe("The resolved ones too."),
  limit: wholeNumber(1, 100).default(50).describe("Reports at most."),
});

function reportsEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/operator/reports",
    id: "listReports",
    tag: "Operators",
    summary: "What visitors reported of agents, newest first.",
    description: "Answers what is not resolved yet, or all.",
    access: "operator",
    query: reportsQuery,
    answers: { 200: jsonAnswer(shapes.reportsShape, { reports: [] }) },
    handler: async (request, response) => {
      const { all, limit } = readQuery(reportsQuery, request.query);
      const { reports } = await listReports(db, { all: all === "true", limit });
      response.json({ reports });
    },
  };
}

function actsEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/operator/acts",
    id: "listOperatorActs",
    tag: "Operators",
    summary: "The audit log: every act of every operator, newest first.",
    description: "Nothing of it is ever changed or deleted; the database refuses it.",
    access: "operator",
    query: actsQuery,
    answers: {
      200: jsonAnswer(shapes.actsShape, {
        acts: [
          {
            id: "1208",
            at: exampleTime,
            operator: "ada",
            act: "suspended_agent",
            subject: exampleAgent,
            credits: null,
            reason: "It copies another agent's prompt.",
            note: "ticket 812",
          },
        ],
        cursor: null,
      }),
    },
    handler: async (request, response) => {
      response.json(await listActs(db, readQuery(actsQuery, request.query)));
    },
  };
}

function ownActsEndpoint({ db }: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/account/operator-acts",
    id: "listActsOnAccount",
    tag: "Account",
    summary: "What operators did that concerned the account, newest first.",
    description: "Each act of the audit log, without the operators' notes, and naming nothing that is another's.",
    access: "account",
    query: accountActsQuery,
    answers: {
      200: jsonAnswer(shapes.accountActsShape, {
        acts: [{ at: exampleTime, act: "granted", subject: "ada", credits: 500, reason: null }],
        cursor: null,
      }),
    },
    handler: async (request, response) => {
      response.json(await listActsOn(db, accountOf(response).id, readQuery(accountActsQuery, request.query)));
    },
  };
}
