import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { toolNameOf } from "../../marketplace/agent-address.ts";
import { createKey } from "../../marketplace/api-keys/create.ts";
import type { Market, TestMarketplace } from "./marketplace.ts";

/** The official client, connected with a key. */
export async function connectMcp(url: string, key: string, query = ""): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/api/mcp${query}`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  await client.connect(transport as never);
  return client;
}

/** Every page of the tools a key sees. */
export async function allTools(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

export async function toolNames(client: Client) {
  return (await allTools(client)).map(({ name }) => name);
}

export async function callTool(client: Client, name: string, input: object = {}, meta?: object) {
  return (await client.callTool({
    name,
    arguments: input as Record<string, unknown>,
    ...(meta ? { _meta: meta as Record<string, unknown> } : {}),
  })) as CallToolResult;
}

export function textOf({ content }: CallToolResult): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** One message as it goes over the wire; the headers can be made wrong. */
export function postMessage(url: string, key: string | undefined, body: unknown, headers: Record<string, string> = {}) {
  return fetch(`${url}/api/mcp`, {
    method: "POST",
    headers: {
      ...(key ? { authorization: `Bearer ${key}` } : {}),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-06-18",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** The message that answers, as JSON or as the one of an event stream. */
export async function answerOf(response: Response) {
  const text = await response.text();
  const [, data = text] = /^data: (.*)$/m.exec(text) ?? [];
  return JSON.parse(data);
}

export function rpc(method: string, params: object = {}) {
  return { jsonrpc: "2.0", id: 1, method, params };
}

/** A client of the market's buyer who has chosen its agent, and the agent's name as a tool. */
export async function connectBuyer(
  { context, url }: TestMarketplace,
  { buyer, agent }: Market,
  more: object = {},
): Promise<{ client: Client; tool: string; key: string; keyId: string }> {
  const { token, id } = await createKey(context.db, {
    accountId: buyer.id,
    name: "tools",
    scope: "chosen_agents",
    agents: [agent.address],
    rateLimitPerMinute: 10_000,
    ...more,
  });
  const tool = toolNameOf(...(agent.address.split("/") as [string, string]));
  return { client: await connectMcp(url, token), tool, key: token, keyId: id };
}
