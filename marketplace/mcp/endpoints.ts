import type { Server } from "@modelcontextprotocol/server";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { z } from "zod";
import { type Answers, jsonAnswer, requestBody, type Shapes } from "../../shared/endpoint.ts";
import type { ApiError } from "../../shared/errors.ts";
import { type ErrorForms, errorHandler } from "../../shared/http.ts";
import type { Log } from "../../shared/log.ts";
import { toolListings } from "../api-keys/key-settings.ts";
import type { Config } from "../config.ts";
import { imageBody } from "../http/body-limits.ts";
import { callerOf } from "../http/callers.ts";
import { usualCallsPerMinute } from "../http/calls-per-minute.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { readQuery } from "../query.ts";
import { refuseUnread } from "../runs/run-answers.ts";
import { describeDrawings } from "./drawing-tools.ts";
import type { PaidToolNeeds } from "./paid-tools.ts";
import { readMessage } from "./read-message.ts";
import { invalidRequest } from "./rpc-error.ts";
import { serveMessage } from "./serve.ts";
import { createPaidToolServer, createToolServer, type ToolServerNeeds } from "./server.ts";
import { rpcAnswerShape, rpcErrorShape, rpcMessageShape } from "./shapes.ts";

/** MCP over Streamable HTTP, without sessions. */
export function mcpEndpoints(needs: Needs): Endpoint[] {
  const drawings = describeDrawings(needs);
  const toolServer: Endpoint = {
    method: "post",
    path: "/api/mcp",
    id: "sendToMcp",
    tag: "Tool server",
    summary:
      "The tool server: MCP over Streamable HTTP, protocols 2025-06-18, 2025-11-25 and 2026-07-28. The agents in the key's " +
      "scope are its tools, beside svg_generate and svg_vectorize.",
    description:
      "Takes one JSON-RPC message a request, without sessions. The answer is an event stream where progress goes out on it, and " +
      "for protocols before 2026-07-28 always; its end does not end what runs.",
    access: "apiKey",
    before: [requireSameOrigin(needs), refuseUnread],
    query: toolQuery,
    body: requestBody(rpcMessageShape, { jsonrpc: "2.0", id: 1, method: "tools/list" }, imageBody),
    headers: mcpHeaders,
    answers: {
      ...streamAnswers,
      ...rpcRefusals({
        ...anyRefusal,
        401: "A valid API key is required: Authorization: Bearer <API_KEY>.",
        429: `This key allows ${usualCallsPerMinute} requests a minute.`,
        503: "Keys cannot be checked right now; try again shortly.",
      }),
    },
    handler: answerWith(needs, (response) => {
      const caller = callerOf(response);
      const { tools = caller.key.tools } = readQuery(toolQuery, response.req.query);
      return createToolServer(needs, { ...caller, key: { ...caller.key, tools } }, response);
    }),
  };
  const paidToolServer: Endpoint = {
    method: "post",
    path: "/api/x402/mcp",
    id: "sendToPaidMcp",
    tag: "Tool server",
    summary:
      "The tool server without a key: a call answers its price, and with a payment over x402 in " +
      '`_meta["x402/payment"]` the result. Any agent that can be called without an account answers to its tool name.',
    description:
      "The same protocols as with a key. Its list of tools holds the drawings; agents are found over REST, which tells their tool as " +
      "`mcp_tool` (listCatalog). A free agent answers at once. With `?x402Version=1` the " +
      "price is told as version 1 of x402 has it; payments of both versions are taken.",
    access: "public",
    before: [requireSameOrigin(needs), refuseUnread],
    query: quoteQuery,
    body: requestBody(rpcMessageShape, { jsonrpc: "2.0", id: 1, method: "tools/call", params: exampleCall }, imageBody),
    headers: mcpHeaders,
    answers: { ...streamAnswers, ...rpcRefusals(anyRefusal) },
    handler: answerWith(needs, (response) => {
      readQuery(quoteQuery, response.req.query);
      // The payment is in the body, so it was not presented before that was read.
      response.locals.receivedAt = new Date();
      return createPaidToolServer(needs, drawings, response);
    }),
  };
  return [toolServer, paidToolServer];
}

type Needs = ToolServerNeeds & PaidToolNeeds & { readonly config: Pick<Config, "publicUrl"> };

const exampleCall = { name: "svg_generate", arguments: { prompt: "A fox made of paper" } };

/** Unknown parameters are left alone: some clients add their own to an address. */
const toolQuery = z.object({
  tools: z
    .enum(toolListings)
    .optional()
    .describe(
      "`search` lists agents_search, agent_describe, agent_run and the drawings, however many agents the key sees; `all` a tool for each. " +
        "The key's own setting when left out.",
    ),
});

const quoteQuery = z.object({
  x402Version: z
    .enum(["1", "2"])
    .optional()
    .describe("Of the quote that a call without a payment answers; 2 when left out."),
});

const mcpHeaders: Shapes = {
  Accept: z.string().describe("Must take both application/json and text/event-stream; `*/*` does."),
  "MCP-Protocol-Version": z.string().describe("As agreed on by initialize, or 2026-07-28."),
  "Mcp-Method": z.string().describe("With 2026-07-28: the message's method."),
  "Mcp-Name": z.string().describe("With 2026-07-28 and tools/call: the tool."),
};

const streamAnswers: Answers = {
  200: {
    content: ["text/event-stream"],
    example: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n',
    orJson: {
      shape: rpcAnswerShape,
      example: { jsonrpc: "2.0", id: 1, result: { resultType: "complete", tools: [] } },
    },
  },
  202: { description: "The notification was taken; there is no answer to it." },
};

/** A code of no meaning of its own, from the range that JSON-RPC leaves to servers. */
const refused = -32_000;

/** Refusals of callers with a key and without one. */
const anyRefusal = {
  400: "Body must be JSON.",
  403: "Pages of another origin may not call this.",
  404: "Method not found",
  406: "Not Acceptable: Client must accept both application/json and text/event-stream",
  408: "Nothing more of the body came for 10 seconds.",
  413: "The body is too large.",
  415: "Unsupported Media Type: Content-Type must be application/json",
  429: "Too many requests from this address.",
  500: "Something went wrong on our side.",
  503: "Too many large bodies are being read at the moment.",
};

/** Refusals before any message is read, by status. */
function rpcRefusals(words: Readonly<Record<number, string>>): Answers {
  const refusal = ([status, message]: [string, string]) => {
    const code = status === "400" ? invalidRequest : refused;
    return [status, jsonAnswer(rpcErrorShape, { jsonrpc: "2.0", error: { code, message }, id: null })];
  };
  return Object.fromEntries(Object.entries(words).map(refusal));
}

/** Every request gets a server and a transport of its own, so that nothing of one caller can reach another. */
function answerWith(needs: Needs, serverFor: (response: Response) => Server): RequestHandler {
  return async (request, response) => {
    const message = readMessage(request.body);
    await serveMessage(needs, request, response, message, serverFor(response));
  };
}

/** Refusals before any message is read, as JSON-RPC errors that answer no message in particular. */
export function mcpErrors(log: Log, failed: ErrorForms["failed"]): ErrorRequestHandler {
  const shape = ({ code, message }: ApiError) => {
    return { jsonrpc: "2.0", error: { code: code === "bad_request" ? invalidRequest : refused, message }, id: null };
  };
  return errorHandler(log, { shape, ...(failed && { failed }) });
}
