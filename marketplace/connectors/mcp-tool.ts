import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type Outbound, OutboundFailed, OutboundRefused } from "../../shared/outbound.ts";
import { keepImage } from "../files/images.ts";
import { type Call, type Connector, ConnectorFailure, jsonOutput, type Result, type Tools } from "./connector.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import { fillHeader, headersProblems } from "./header-template.ts";
import { fillingOf, fillJson, slotsOf } from "./template.ts";

const timeLimitMs = 120_000;
const bytesMax = 16_777_216;

const settings = z.strictObject({
  /** Of a server that speaks MCP over Streamable HTTP. The buyer's input goes into the arguments, never in here. */
  url: z
    .string()
    .max(2_048)
    .regex(/^https?:\/\/[^{}\\\s]+$/i, "must be an http(s) URL without slots"),
  headers: z
    .record(
      z.string().regex(/^(authorization|x-[a-z0-9-]{1,62})$/i, "must be authorization or x-…"),
      z.string().max(4_000),
    )
    .default({}),
  tool: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.json()).default({}),
  format: z.enum(["json", "text", "image"]).default("text"),
});

type Settings = z.infer<typeof settings>;

/** One tool of a remote MCP server, called with arguments made from a template. */
export const mcpTool: Connector<Settings> = {
  id: "mcp-tool",
  timeLimitMs,
  permanent: false,
  settings,
  outputKind: ({ format }) => format,
  takesSecrets: true,
  slots: ({ headers, arguments: given }) => slotsOf({ headers, arguments: given }),
  templateProblems: ({ headers }) => [
    // What a buyer says may not become a credential or a routing decision of the server.
    ...slotsOf(headers).fields.map((field) => ({
      path: ["headers"],
      message: `may use secrets only, not {{${field}}}`,
    })),
    ...headersProblems(headers),
  ],
  publishProblems: async ({ url }, { outbound }) => {
    try {
      outbound.check(url);
    } catch {
      return ['"settings.url" leads to a host that agents may not call.'];
    }
    return [];
  },
  run: async (call, tools) => readResult(await callTool(call, tools.outbound), call, tools),
};

async function callTool(call: Call<Settings>, outbound: Outbound): Promise<CallToolResult> {
  const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/index.js"),
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ]);
  const { settings } = call;
  const broken = new AbortController();
  const signal = AbortSignal.any([call.signal, broken.signal]);
  const onBroken = (error: unknown) => broken.abort(error);
  const filling = fillingOf(call);
  const headers = Object.fromEntries(
    Object.entries(settings.headers).map(([name, template]) => [name, fillHeader(template, filling)]),
  );
  const transport = new StreamableHTTPClientTransport(new URL(settings.url), {
    fetch: guardedFetch(outbound, { timeoutMs: timeLimitMs, bytesMax, signal: call.signal, onBroken }),
    requestInit: { headers },
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  });
  const client = new Client({ name: "agent-marketplace", version: "1" });
  const limits = { signal, timeout: timeLimitMs, maxTotalTimeout: timeLimitMs };
  try {
    await client.connect(transport as never, limits);
    const request = {
      name: settings.tool,
      arguments: fillJson(settings.arguments, filling) as Record<string, unknown>,
    };
    return (await client.callTool(request, undefined, limits)) as CallToolResult;
  } catch (error) {
    if (call.signal.aborted) throw error;
    throw failureOf(broken.signal.aborted ? broken.signal.reason : error);
  } finally {
    // The session ends without waiting for a server that does not.
    void transport
      .terminateSession()
      .catch(() => {})
      .finally(() => client.close().catch(() => {}));
  }
}

/** What a server says about an error can quote what it was sent, so the log gets its code alone. */
function failureOf(error: unknown): ConnectorFailure {
  if (error instanceof OutboundRefused || error instanceof OutboundFailed) {
    return new ConnectorFailure("The tool behind this agent could not be reached.", { reason: error.message });
  }
  const { name, code } = error as { name?: string; code?: unknown };
  const reason = { errorName: name, code: typeof code === "number" ? code : undefined };
  return new ConnectorFailure("The tool behind this agent did not answer as it should.", reason);
}

async function readResult(result: CallToolResult, call: Call<Settings>, tools: Tools): Promise<Result> {
  if (result.isError)
    throw new ConnectorFailure("The tool behind this agent failed.", { parts: result.content?.length });
  const content = result.content ?? [];
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  switch (call.settings.format) {
    case "json":
      return { output: jsonOutput(result.structuredContent ?? parseText(text)) };
    case "text":
      if (text === "") throw new ConnectorFailure("The tool behind this agent gave no text.");
      return { output: { kind: "text", text } };
    case "image": {
      const drawn = content
        .flatMap((part) => (part.type === "image" ? [Buffer.from(part.data, "base64")] : []))
        .slice(0, 10);
      if (drawn.length === 0) throw new ConnectorFailure("The tool behind this agent gave no image.");
      const { agent, runId } = call;
      const images: string[] = [];
      for (const bytes of drawn) {
        images.push(await keepImage(tools.files, bytes, { ownerId: agent.ownerId, agentId: agent.id, runId }));
      }
      return { output: { images } };
    }
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConnectorFailure("The tool behind this agent did not answer in JSON.", { length: text.length });
  }
}
