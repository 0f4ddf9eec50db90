import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { createApp, type Listening, listen } from "../../shared/http.ts";

/**
 * An MCP server over Streamable HTTP for agents on `mcp-tool` to call, as a creator would run one. Its tools need nothing but their
 * arguments. Binds 127.0.0.1; any free port by default.
 */
export async function startMockMcp({ port = 0 }: { port?: number } = {}): Promise<MockMcp> {
  const app = createApp({ trustProxy: false });
  app.all("/mcp", async (request, response) => {
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never);
    await tools().connect(transport as never);
    await transport.handleRequest(request, response);
  });
  const listening = await listen(app, { host: "127.0.0.1", port });
  return { ...listening, mcpUrl: `${listening.url}/mcp` };
}

export interface MockMcp extends Listening {
  readonly mcpUrl: string;
}

/** A server is for one connection. */
function tools(): McpServer {
  const server = new McpServer({ name: "local-tools", version: "1" });
  const words = { words: z.int(), characters: z.int(), longest: z.string() };
  const text = { text: z.string().max(20_000) };
  server.registerTool(
    "count_words",
    { description: "Counts the words of a text.", inputSchema: text, outputSchema: words },
    ({ text }) => {
      const found = text.match(/[\p{L}\p{N}'’-]+/gu) ?? [];
      const longest = found.reduce((one, other) => (other.length > one.length ? other : one), "");
      const structuredContent = { words: found.length, characters: [...text].length, longest };
      return { structuredContent, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
    },
  );
  server.registerTool("reverse", { description: "A text from its end.", inputSchema: text }, ({ text }) => ({
    content: [{ type: "text", text: [...text].toReversed().join("") }],
  }));
  return server;
}
