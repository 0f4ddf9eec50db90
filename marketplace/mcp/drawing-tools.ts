import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { dollarText } from "../credits/amount.ts";
import { type PaidSvgNeeds, svgOffer } from "../svg/paid.ts";
import { type SvgProduct, svgProducts, svgToolName } from "../svg/products.ts";
import { svgShape } from "../svg/shapes.ts";
import { schemaOf } from "./json-schema.ts";

/** The three drawings as tools for callers who pay with the call. */
export function describeDrawings(context: Pick<PaidSvgNeeds, "config">): Tool[] {
  return (Object.keys(svgProducts) as SvgProduct[]).map((product) => {
    const { input } = svgOffer(context, product);
    const { name, does, price } = svgProducts[product];
    const { $schema: _, ...inputSchema } = input.schema as { $schema?: string };
    return {
      name: svgToolName(product),
      title: name,
      description: `${does} Costs US${dollarText(price)}, paid over x402 with the call.`,
      inputSchema: inputSchema as Tool["inputSchema"],
      outputSchema,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    };
  });
}

/** Some clients hold a result that is an error to the schema, too, and so the price is one of what may come. */
const outputSchema: Tool["outputSchema"] = {
  type: "object",
  anyOf: [
    schemaOf(svgShape.extend({})),
    schemaOf(z.looseObject({ x402Version: z.int(), error: z.string(), accepts: z.array(z.looseObject({})) })),
  ],
};
