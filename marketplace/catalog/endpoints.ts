import { jsonAnswer, notModified } from "../../shared/endpoint.ts";
import { sendPublic } from "../../shared/etag.ts";
import type { Reads } from "../../shared/reads.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { exampleAgent, exampleUrl } from "../http/examples.ts";
import { refusals } from "../http/refusals.ts";
import { catalogPath } from "../payments/quotes/payment-required.ts";
import { readQuery } from "../query.ts";
import { type CatalogNeeds, paidAddresses, readCatalog } from "./catalog.ts";
import { catalogQuery, catalogShape, wellKnownShape } from "./shapes.ts";

interface Needs extends CatalogNeeds {
  readonly reads: Reads;
}

/** Endpoints on agents and drawings that are paid per call, for callers who have no key and for crawlers. */
export function catalogEndpoints(needs: Needs): Endpoint[] {
  return [catalogEndpoint(needs), wellKnownEndpoint(needs)];
}

const goodForSeconds = 60;
const addressesMax = 1_000;
const exampleItem = {
  url: `${exampleUrl}/api/agent/${exampleAgent}`,
  agent: exampleAgent,
  mcp_tool: "ada--summarizer",
  name: "Summarizer",
  description: "The gist of a text in one sentence.",
  price_usd: 0.05,
  networks: ["eip155:8453"],
  output_kind: "text" as const,
  input_schema: { type: "object", properties: { text: { type: "string", maxLength: 20_000 } }, required: ["text"] },
  example: { text: "Buyers pay per call. Creators are paid at once." },
};

function catalogEndpoint(needs: Needs): Endpoint {
  return {
    method: "get",
    path: catalogPath,
    id: "listCatalog",
    tag: "Pay per call",
    summary: "All that can be called without an account, with price, networks and input. No key.",
    description:
      "Each item is all that a call takes: where it is posted, its input as a JSON Schema, an example, what it costs and on which " +
      `networks it is paid. A page has fewer than \`limit\` where their inputs are large: \`cursor\` says ` +
      `whether there are more. Good for ${goodForSeconds} seconds; the quote of the call itself decides.`,
    access: "public",
    query: catalogQuery,
    answers: {
      200: jsonAnswer(catalogShape, {
        agents: [exampleItem],
        drawings: [],
        total: 1,
        total_exact: true,
        limit: 20,
        cursor: null,
        guide: `${exampleUrl}/llms.txt`,
        facilitator: "https://facilitator.example",
      }),
      ...notModified,
      ...refusals(503),
    },
    handler: async (request, response) => {
      const query = readQuery(catalogQuery, request.query);
      const catalog = await needs.reads.run((db) => readCatalog({ ...needs, db }, query));
      sendPublic(request, response, catalog, goodForSeconds);
    },
  };
}

function wellKnownEndpoint(needs: Needs): Endpoint {
  const { publicUrl, facilitatorPublicUrl: facilitator } = needs.config;
  const about = {
    version: 1,
    x402Version: 2,
    instructions: "POST a JSON body to a resource: 402 says what it costs and how it is paid.",
    catalog: `${publicUrl}${catalogPath}`,
    facilitator,
    openapi: `${publicUrl}/openapi.json`,
    llms_txt: `${publicUrl}/llms.txt`,
  } as const;
  return {
    method: "get",
    path: "/.well-known/x402",
    id: "listPaidAddresses",
    tag: "Pay per call",
    summary: "Addresses of what is paid per call, for crawlers.",
    description: `Answers the drawings and the ${addressesMax} newest agents that have a price; listCatalog has all of them.`,
    access: "public",
    answers: {
      200: jsonAnswer(wellKnownShape, {
        ...about,
        catalog: `${exampleUrl}${catalogPath}`,
        facilitator: "https://facilitator.example",
        openapi: `${exampleUrl}/openapi.json`,
        llms_txt: `${exampleUrl}/llms.txt`,
        resources: [exampleItem.url],
      }),
      ...notModified,
      ...refusals(503),
    },
    handler: async (request, response) => {
      const resources = await needs.reads.run((db) => paidAddresses({ ...needs, db }, addressesMax));
      sendPublic(request, response, { ...about, resources }, goodForSeconds);
    },
  };
}
