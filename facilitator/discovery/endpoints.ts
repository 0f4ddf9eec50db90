import { jsonAnswer, notModified } from "../../shared/endpoint.ts";
import { sendPublic } from "../../shared/etag.ts";
import { networkOf } from "../../shared/networks.ts";
import type { Reads } from "../../shared/reads.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { readQuery } from "../http/query.ts";
import { KeptTotals } from "./kept-totals.ts";
import { listedDays, listingQuery, listingShape, listResources } from "./listing.ts";
import { searchQuery, searchResources, searchShape } from "./search.ts";

interface Needs {
  readonly reads: Reads;
}

/** What others sell, as far as it was paid for here. */
export function discoveryEndpoints(needs: Needs): Endpoint[] {
  return [listingEndpoint(needs, new KeptTotals()), searchEndpoint(needs)];
}

const goodForSeconds = 60;

function listingEndpoint({ reads }: Needs, totals: KeptTotals): Endpoint {
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
        pagination: { limit: 20, offset: 0, total: 1, cursor: null },
      }),
      ...notModified,
    },
    handler: async (request, response) => {
      const query = readQuery(listingQuery, request.query);
      const listing = await reads.run((db) => listResources({ db, totals }, query, request.query));
      sendPublic(request, response, listing, goodForSeconds);
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
      ...notModified,
    },
    handler: async (request, response) => {
      const query = readQuery(searchQuery, request.query);
      const found = await needs.reads.run((db) => searchResources({ db }, query, request.query));
      sendPublic(request, response, found, goodForSeconds);
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
