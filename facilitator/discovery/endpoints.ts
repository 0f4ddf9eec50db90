import { jsonAnswer } from "../../shared/endpoint.ts";
import { networkOf } from "../../shared/networks.ts";
import type { Reads } from "../../shared/reads.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { readQuery } from "../http/query.ts";
import { listedDays, listingQuery, listingShape, listResources } from "./listing.ts";
import { searchQuery, searchResources, searchShape } from "./search.ts";

interface Needs {
  readonly reads: Reads;
}

/** What others sell, as far as it was paid for here. */
export function discoveryEndpoints(needs: Needs): Endpoint[] {
  return [listingEndpoint(needs), searchEndpoint(needs)];
}

const publicForAMinute = "public, max-age=60";

function listingEndpoint(needs: Needs): Endpoint {
  return {
    method: "get",
    path: "/discovery/resources",
    id: "listResources",
    tag: "Discovery",
    summary: `Resources that were paid for here within ${listedDays} days.`,
    description:
      "Lists resources whose sellers asked to be listed, the one paid for last first. Filters that are not known are " +
      "named in `unappliedFilters`.",
    access: "reads",
    query: listingQuery,
    answers: {
      200: jsonAnswer(listingShape, {
        x402Version: 2,
        items: [exampleResource],
        pagination: { limit: 20, offset: 0, total: 1 },
      }),
    },
    handler: async (request, response) => {
      const query = readQuery(listingQuery, request.query);
      const listing = await needs.reads.run((db) => listResources({ db }, query, request.query));
      response.set("cache-control", publicForAMinute).json(listing);
    },
  };
}

function searchEndpoint(needs: Needs): Endpoint {
  return {
    method: "get",
    path: "/discovery/search",
    id: "searchResources",
    tag: "Discovery",
    summary: "Listed resources that match words, best first.",
    description:
      "Finds resources that have any of the words: a service's name and tags count more than its description, and that " +
      "more than its URL.",
    access: "reads",
    query: searchQuery,
    answers: {
      200: jsonAnswer(searchShape, {
        x402Version: 2,
        resources: [exampleResource],
        partialResults: false,
        pagination: { limit: 20, cursor: null },
      }),
    },
    handler: async (request, response) => {
      const query = readQuery(searchQuery, request.query);
      const found = await needs.reads.run((db) => searchResources({ db }, query, request.query));
      response.set("cache-control", publicForAMinute).json(found);
    },
  };
}

const exampleNetwork = "eip155:84532";
const exampleInfo = { input: { type: "http" as const, method: "GET" } };
const exampleResource = {
  resource: "https://api.example.com/weather",
  type: "http" as const,
  x402Version: 2,
  accepts: [
    {
      scheme: "exact",
      network: exampleNetwork,
      amount: "10000",
      asset: networkOf(exampleNetwork)?.stablecoins[0]?.asset ?? "",
      payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
      maxTimeoutSeconds: 60,
    },
  ],
  lastUpdated: "2026-03-02T09:30:00.000Z",
  description: "The weather of a place.",
  mimeType: "application/json",
  extensions: { bazaar: { info: exampleInfo, schema: { type: "object" } } },
  discoveryInfo: exampleInfo,
  metadata: {},
};
