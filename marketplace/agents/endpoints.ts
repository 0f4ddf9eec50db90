import type { Response } from "express";
import type { z } from "zod";
import { jsonAnswer, notModified } from "../../shared/endpoint.ts";
import { sendTagged } from "../../shared/etag.ts";
import type { Database } from "../../shared/postgres.ts";
import type { Reads } from "../../shared/reads.ts";
import { connectorNames } from "../connectors/connector.ts";
import { callerOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime, exampleUrl } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { readQuery } from "../query.ts";
import { type DescribeNeeds, describeAgent, readFrom } from "./detail.ts";
import { listAgents } from "./list.ts";
import { listQuery } from "./list-query.ts";
import { agentDetailShape, agentPageShape, agentPathParameters } from "./shapes.ts";

/** What a buyer may know of the agents on the market. */
export function agentEndpoints(needs: Needs): Endpoint[] {
  return [listEndpoint(needs), detailEndpoint(needs)];
}

interface Needs extends DescribeNeeds {
  readonly reads: Reads;
}

/** Creators see at once what they have just done to agents of their own; for other readers a moment does not matter. */
function readFor<T>(
  { db, reads }: Needs,
  response: Response,
  creator: string | undefined,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const isOwn = creator?.toLowerCase() === callerOf(response).handle.toLowerCase();
  return isOwn ? work(db) : reads.run(work);
}

const listed = {
  agent: exampleAgent,
  name: "Summarizer",
  description: "The gist of a text in one sentence.",
  connector: "llm",
  connector_name: connectorNames.llm,
  category: "writing",
  tags: ["summary", "meeting-notes"],
  price_credits: 5,
  per_call: { url: `${exampleUrl}/api/agent/${exampleAgent}`, price_usd: 0.05, networks: ["eip155:8453"] },
  figures: {
    runs_30d: 12_416,
    success_rate: 0.9941,
    median_ms: 3_100,
    p95_ms: 7_400,
    last_success_at: exampleTime,
  },
  created_at: exampleTime,
} satisfies z.input<typeof agentPageShape>["agents"][number];

function listEndpoint(needs: Needs): Endpoint {
  const { publicUrl } = needs.config;
  return {
    method: "get",
    path: "/api/v1/agents",
    id: "listAgents",
    tag: "Agents",
    summary: "List and search live agents.",
    description:
      "Answers live agents, newest first, or with `q` those that match best. Costs no credits. `total` counts all " +
      "matches, whatever the page; where there are more than can be counted at once, `total_exact` is false. Long " +
      "lists are read by `cursor`.",
    access: "apiKey",
    query: listQuery,
    answers: {
      200: jsonAnswer(agentPageShape, {
        agents: [listed],
        total: 1,
        total_exact: true,
        limit: 20,
        offset: 0,
        cursor: null,
        search: { all_words: true, read_as: [{ word: "sumarise", as: ["summarizer"] }], unknown: [] },
      }),
      ...notModified,
    },
    handler: async (request, response) => {
      const query = readQuery(listQuery, request.query);
      const agents = await readFor(needs, response, query.creator, (db) => listAgents({ db, publicUrl }, query));
      sendTagged(request, response, agents);
    },
  };
}

function detailEndpoint(needs: Needs): Endpoint {
  return {
    method: "get",
    path: "/api/v1/agents/{handle}/{slug}",
    id: "getAgent",
    tag: "Agents",
    summary: "One agent's input contract, price and addresses.",
    description:
      "Answers every input field with its type, rules and default, also as a JSON Schema. An agent that is not live is " +
      "a 404, like one that never was. How the agent works is its creator's own and is not told.",
    access: "apiKey",
    pathParameters: agentPathParameters,
    answers: {
      200: jsonAnswer(agentDetailShape, detail),
      ...notModified,
      ...refusals({ 404: "There is no such agent." }),
    },
    handler: async (request, response) => {
      const { handle, slug } = request.params as { handle: string; slug: string };
      const address = `${handle}/${slug}`;
      const detail = await readFor(needs, response, handle, (db) => describeAgent(readFrom(db, needs), address));
      sendTagged(request, response, detail);
    },
  };
}

/** An agent without fields: linters of documents take a field's `default` and `example` for keywords of a schema. */
const detail = {
  ...listed,
  agent: "ada/haiku",
  name: "Haiku",
  description: "Three lines on today's weather.",
  per_call: { ...listed.per_call, url: `${exampleUrl}/api/agent/ada/haiku` },
  inputs: [],
  input_schema: {
    type: "object",
    properties: { extraInstructions: { type: "string", maxLength: 2_000 } },
    required: [],
  },
  accepts_extra_instructions: true,
  output_kind: "text" as const,
  mcp_tool: "ada--haiku",
  page_url: `${exampleUrl}/ada/haiku`,
  updated_at: exampleTime,
};
