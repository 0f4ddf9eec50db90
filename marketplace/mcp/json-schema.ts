import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";

/**
 * As clients read it: those that check results with it know no dialect but their own, so none is named. The bounds of all whole
 * numbers that JSON can carry say nothing, and models are made to read them.
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
