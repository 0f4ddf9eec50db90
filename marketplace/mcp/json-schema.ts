import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** As clients read it: those that check results with it know no dialect but their own, so none is named. */
export function schemaOf(shape: z.ZodType): Tool["inputSchema"] {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: "input", unrepresentable: "any" });
  return schema as Tool["inputSchema"];
}
