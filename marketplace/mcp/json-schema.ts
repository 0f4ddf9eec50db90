import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";

/**
 * A JSON Schema without a dialect's name, since clients that check results with it know no other than their own, and without
 * the bounds of all whole numbers that JSON can carry: they say nothing, and models have to read them.
 */
export function schemaOf(shape: z.ZodType): Tool["inputSchema"] {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, {
    io: "input",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return schema as Tool["inputSchema"];
}
