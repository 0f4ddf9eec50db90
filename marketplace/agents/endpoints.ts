import type { z } from "zod";
import { jsonAnswer } from "../../shared/endpoint.ts";
import { connectorNames } from "../connectors/connector.ts";
import { sendTagged } from "../etag.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleTime, exampleUrl } from "../http/examples.ts";
import { notModified, refusals } from "../http/refusals.ts";
import { readQuery } from "../query.ts";
import { type DescribeNeeds, describeAgent } from "./detail.ts";
import { listAgents } from "./list.ts";
import { listQuery } from "./list-query.ts";
import { agentDetailShape, agentPageShape, agentPathParameters } from "./shapes.ts";

/** What a buyer may know of the agents on the market. */
export function agentEndpoints(needs: DescribeNeeds): Endpoint[] {
  return [listEndpoint(needs), detailEndpoint(needs)];
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

function listEndpoint({ db, config }: DescribeNeeds): Endpoint {
  const { publicUrl } = config;
  return {
    method: "get",
    path: "/api/v1/agents",
    id: "listAgents",
    tag: "Agents",
    summary: "List and search live agents.",
    description:
      "Answers live agents, newest first, or with `q` those that match best. Costs no credits. `total` counts all " +
      "matches, whatever the page; where filters leave more than can be counted at once, `total_exact` is false. Long " +
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
      sendTagged(request, response, await listAgents({ db, publicUrl }, readQuery(listQuery, request.query)));
    },
  };
}

function detailEndpoint(needs: DescribeNeeds): Endpoint {
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
      ...refusals(404),
    },
    handler: async (request, response) => {
      const { handle, slug } = request.params;
      sendTagged(request, response, await describeAgent(needs, `${handle}/${slug}`));
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
