import { z } from "zod";
import { covering } from "../../shared/covering.ts";
import { categories } from "../agents/category.ts";
import { priceMax } from "../agents/definition.ts";
import { listQuery, sorts } from "../agents/list-query.ts";
import { anyObject, cursor } from "../http/shapes.ts";
import { limitOf, wholeNumber } from "../query.ts";
import type { Catalog, CatalogItem } from "./catalog.ts";

/** The parameters of the list of agents that callers without a key may use. */
export const catalogQuery = z.object({
  q: listQuery.shape.q,
  category: z.enum(categories).optional().describe("Only agents that their creators put into this category."),
  network: listQuery.shape.network,
  max_price: wholeNumber(0, priceMax).optional().describe("Only agents of which one run costs at most so many cents."),
  sort: z.enum(sorts).optional().describe("`relevance` goes with `q` and is its default; otherwise it is `newest`."),
  free: listQuery.shape.free,
  limit: limitOf("Agents"),
  cursor: z.string().max(200).optional().describe("`cursor` of the page before, with the other parameters unchanged."),
});

export type CatalogQuery = z.infer<typeof catalogQuery>;

const item = covering<CatalogItem>()(
  z
    .object({
      url: z.string().describe("POST the input here: without a payment for the price, with one for the result."),
      agent: z.string().nullable().describe("`handle/slug`; null for what the platform sells itself."),
      mcp_tool: z.string().nullable().describe("Its tool on the server without a key, POST /api/x402/mcp."),
      name: z.string(),
      description: z.string(),
      price_usd: z.number().describe("Of one call; 0 answers at once, without a payment."),
      networks: z.array(z.string()).describe("CAIP-2: where it can be paid."),
      output_kind: z.enum(["text", "image", "json", "receipt"]),
      input_schema: anyObject.describe("JSON Schema 2020-12 of the body."),
      example: anyObject.describe("A body that satisfies it."),
    })
    .meta({ id: "CatalogItem" }),
);

export const catalogShape = covering<Catalog>()(
  z
    .object({
      agents: z.array(item),
      drawings: z.array(item).describe("What the platform sells itself; the same on every page."),
      total: z.int().describe("Agents that match, whatever the page."),
      total_exact: z.boolean().describe("False when there are more matches than `total`."),
      limit: z.int(),
      cursor,
      guide: z.string().describe("How to pay, in plain text."),
      facilitator: z
        .string()
        .describe("The facilitator that verifies and settles; it lists resources of other servers, too."),
    })
    .meta({ id: "Catalog" }),
);

export const wellKnownShape = z
  .object({
    version: z.literal(1),
    x402Version: z.literal(2),
    resources: z.array(z.string()).describe("Addresses that answer 402 to a POST without a payment."),
    instructions: z.string(),
    catalog: z.string(),
    facilitator: z.string(),
    openapi: z.string(),
    llms_txt: z.string(),
  })
  .meta({ id: "X402Resources" });
