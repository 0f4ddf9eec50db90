import type { CallToolResult, ContentBlock, Tool } from "@modelcontextprotocol/server";
import type { BuiltInCall, BuiltInTool } from "../../marketplace/mcp/built-in-tool.ts";
import { elapse } from "./elapse.ts";

/** The tools that the official conformance suite calls, by the names and answers it asks for. */
export const conformanceTools: readonly BuiltInTool[] = [
  fixture("test_simple_text", () => ok({ type: "text", text: "This is a simple text response for testing." })),
  fixture("test_image_content", () => ok(image())),
  fixture("test_audio_content", () => ok({ type: "audio", data: "UklGRiQAAABXQVZFZm10IA==", mimeType: "audio/wav" })),
  fixture("test_embedded_resource", () =>
    ok(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  ),
  fixture("test_multiple_content_types", () =>
    ok(
      { type: "text", text: "Multiple content types test:" },
      image(),
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  ),
  fixture("test_error_handling", () => ({
    isError: true,
    content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
  })),
  fixture("test_tool_with_progress", async ({ reportProgress }) => {
    for (const progress of [0, 50, 100]) {
      await reportProgress?.(progress, { total: 100 });
      await elapse(50, "how slow the tool is");
    }
    return ok({ type: "text", text: "done" });
  }),
  fixture("json_schema_2020_12_tool", () => ok({ type: "text", text: "done" }), {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: { name: { type: "string" }, address: { $ref: "#/$defs/address" }, contact: { type: "string" } },
    allOf: [{ anyOf: [{ required: ["name"] }, { required: ["contact"] }] }],
    if: { required: ["contact"] },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema names it so
    then: { required: ["name"] },
    else: {},
    additionalProperties: false,
  }),
];

function fixture(
  name: string,
  answer: (call: BuiltInCall) => CallToolResult | Promise<CallToolResult>,
  inputSchema: Tool["inputSchema"] = { type: "object" },
): BuiltInTool {
  return {
    tool: { name, description: "For the conformance suite.", inputSchema },
    isFor: () => true,
    call: async (call) => answer(call),
  };
}

function ok(...content: ContentBlock[]): CallToolResult {
  return { content };
}

function image(): ContentBlock {
  const redDot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
  return { type: "image", data: redDot, mimeType: "image/png" };
}

function resource(uri: string, mimeType: string, text: string): ContentBlock {
  return { type: "resource", resource: { uri, mimeType, text } };
}
