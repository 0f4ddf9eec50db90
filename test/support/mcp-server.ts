import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import sharp from "sharp";
import { z } from "zod";
import { elapse } from "./elapse.ts";
import { startHttpServer } from "./http-server.ts";

/** A real MCP server over Streamable HTTP on 127.0.0.1, with tools that answer in every way there is. */
export async function startMcpServer(options: { json?: boolean; sessions?: boolean } = {}): Promise<McpTestServer> {
  const seen: IncomingMessage["headers"][] = [];
  const calls: unknown[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const newTransport = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: options.sessions ? randomUUID : undefined,
      enableJsonResponse: options.json ?? false,
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
      onsessionclosed: (id: string) => void sessions.delete(id),
    } as never);
    await toolServer(calls).connect(transport as never);
    return transport;
  };
  const server = await startHttpServer(async (request, response) => {
    seen.push(request.headers);
    if (request.url === "/redirect") return void response.writeHead(307, { location: "http://169.254.169.254/" }).end();
    if (request.url === "/garbage")
      return void response.writeHead(200, { "content-type": "application/json" }).end("{");
    if (request.url === "/endless") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => response.write(`: ${"x".repeat(1_000_000)}\n`), 1);
      return void request.socket.on("close", () => clearInterval(timer));
    }
    const known = sessions.get(String(request.headers["mcp-session-id"]));
    await (known ?? (await newTransport())).handleRequest(request, response);
  });
  return {
    url: `${server.url}/mcp`,
    host: server.host,
    seen,
    calls,
    sessions,
    stop: server.stop,
  };
}

export interface McpTestServer {
  readonly url: string;
  readonly host: string;
  /** The headers of every request. */
  readonly seen: readonly IncomingMessage["headers"][];
  /** The arguments of every call of `echo`. */
  readonly calls: readonly unknown[];
  readonly sessions: ReadonlyMap<string, unknown>;
  stop(): Promise<void>;
}

function toolServer(calls: unknown[]): McpServer {
  const server = new McpServer({ name: "test", version: "1" });
  const text = { text: z.string().optional() };
  server.registerTool(
    "echo",
    { inputSchema: { ...text, count: z.number().optional(), nested: z.any().optional() } },
    async (given) => {
      calls.push(given);
      return {
        content: [
          { type: "text", text: `said ${given.text}` },
          { type: "text", text: "and more" },
        ],
      };
    },
  );
  server.registerTool("structured", { inputSchema: text, outputSchema: { rate: z.number() } }, async () => ({
    content: [{ type: "text", text: '{"rate":1.5}' }],
    structuredContent: { rate: 1.5 },
  }));
  server.registerTool("json-text", { inputSchema: text }, async () => ({ content: [{ type: "text", text: "[1,2]" }] }));
  server.registerTool("picture", { inputSchema: text }, async () => {
    const bytes = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    return { content: [{ type: "image", mimeType: "image/png", data: bytes.toString("base64") }] };
  });
  server.registerTool("fails", { inputSchema: text }, async () => ({
    isError: true,
    content: [{ type: "text", text: "INNER-SECRET" }],
  }));
  server.registerTool("throws", { inputSchema: text }, async () => {
    throw new Error("INNER-SECRET");
  });
  server.registerTool("slow", { inputSchema: text }, async (_given, { sendNotification }) => {
    for (let progress = 1; progress <= 3; progress += 1) {
      await elapse(200, "how slow the tool is");
      const params = { progressToken: 0, progress, total: 3 };
      await sendNotification({ method: "notifications/progress", params }).catch(() => {});
    }
    return { content: [{ type: "text", text: "at last" }] };
  });
  return server;
}
