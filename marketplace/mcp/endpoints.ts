import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { z } from "zod";
import { type Answer, type Answers, jsonAnswer, requestBody, type Shapes } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { errorHandler } from "../../shared/http.ts";
import { onceClosed } from "../../shared/response-closed.ts";
import type { Config } from "../config.ts";
import { imageBody } from "../http/body-limits.ts";
import { callerOf } from "../http/callers.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { meanings } from "../http/refusals.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { describeDrawings, type PaidToolNeeds } from "./paid-tools.ts";
import { createPaidToolServer, createToolServer, type ToolServerNeeds } from "./server.ts";
import { rpcErrorShape, rpcMessageShape } from "./shapes.ts";

/** MCP over Streamable HTTP, 2025-06-18, without sessions. */
export function mcpEndpoints(needs: Needs): Endpoint[] {
  const drawings = describeDrawings(needs);
  const toolServer: Endpoint = {
    method: "post",
    path: "/api/mcp",
    id: "sendToMcp",
    tag: "Tool server",
    summary:
      "The tool server: MCP over Streamable HTTP, protocol 2025-06-18. The agents in the key's scope are its tools, " +
      "beside svg_generate and svg_vectorize.",
    description:
      "Takes one JSON-RPC message a request, without sessions. The answer is an event stream, for progress to go out on; " +
      "its end does not end what runs.",
    access: "apiKey",
    before: [requireSameOrigin(needs)],
    body: requestBody(rpcMessageShape, { jsonrpc: "2.0", id: 1, method: "tools/list" }, imageBody),
    headers: mcpHeaders,
    answers: { ...streamAnswers, ...rpcRefusals(400, 401, 403, 406, 408, 413, 415, 429, 500, 503) },
    handler: answerWith(needs, (response) => createToolServer(needs, callerOf(response))),
  };
  const paidToolServer: Endpoint = {
    method: "post",
    path: "/api/x402/mcp",
    id: "sendToPaidMcp",
    tag: "Tool server",
    summary:
      "The tool server without a key: a call answers its price, and with a payment over x402 in " +
      '`_meta["x402/payment"]` the result. Any agent that is paid per call answers to its tool name.',
    description: "The same protocol as with a key. Its list of tools holds the drawings; agents are found over REST.",
    access: "public",
    before: [requireSameOrigin(needs)],
    body: requestBody(rpcMessageShape, { jsonrpc: "2.0", id: 1, method: "tools/call", params: exampleCall }, imageBody),
    headers: mcpHeaders,
    answers: { ...streamAnswers, ...rpcRefusals(400, 403, 406, 408, 413, 415, 429, 500, 503) },
    handler: answerWith(needs, (response) => {
      // The payment is in the body, so it was not presented before that was read.
      response.locals.receivedAt = new Date();
      return createPaidToolServer(needs, drawings, response);
    }),
  };
  return [toolServer, paidToolServer];
}

type Needs = ToolServerNeeds & PaidToolNeeds & { readonly config: Pick<Config, "publicUrl"> };

const exampleCall = { name: "svg_generate", arguments: { prompt: "A fox made of paper" } };

const mcpHeaders: Shapes = {
  Accept: z.string().describe("Must name both application/json and text/event-stream."),
  "MCP-Protocol-Version": z.string().describe("As agreed on by initialize."),
};

const streamAnswers: Answers = {
  200: {
    content: ["text/event-stream"],
    example: 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}\n\n',
  },
  202: { description: "The notification was taken; there is no answer to it." },
};

/** Refusals before any message is read. */
function rpcRefusals(...statuses: readonly number[]): Answers {
  const refusal = (status: number): Answer => {
    const code = status === 400 ? -32600 : -32000;
    return jsonAnswer(rpcErrorShape, { jsonrpc: "2.0", error: { code, message: meanings[status] ?? "" }, id: null });
  };
  return Object.fromEntries(statuses.map((status) => [status, refusal(status)]));
}

/**
 * Every request gets a server and a transport of its own, so that nothing of one caller can reach another.
 */
function answerWith({ backgroundWork }: Needs, serverFor: (response: Response) => Server): RequestHandler {
  return async (request, response) => {
    const message: unknown = request.body;
    // The transport would take arrays: batches were part of 2025-03-26 and are not of this version.
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      throw new ApiError("bad_request", "The body must be one JSON-RPC message; batches are not taken.");
    }
    refuseLongNames(message);
    const server = serverFor(response);
    const transport = new StreamableHTTPServerTransport();
    dropUnread(transport, response);
    await server.connect(transport as never);
    onceClosed(response, () => backgroundWork.detach(server.close()));
    await transport.handleRequest(request, response, message);
  };
}

/** What the caller names the message and its progress by is sent back with each answer to it. */
function refuseLongNames(message: object): void {
  const { id, params } = message as { id?: unknown; params?: { _meta?: { progressToken?: unknown } | null } | null };
  for (const [field, name] of Object.entries({ id, progressToken: params?._meta?.progressToken })) {
    if (typeof name !== "string" || name.length <= nameLengthMax) continue;
    throw new ApiError("bad_request", `"${field}" must be at most ${nameLengthMax} characters long.`, {
      body: { field },
    });
  }
}

const nameLengthMax = 256;

/** Notifications are not sent while the caller has not taken the last. */
function dropUnread(transport: StreamableHTTPServerTransport, response: Response): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const isNotification = "method" in message && !("id" in message);
    if (!isNotification || response.writableLength === 0) await send(message, options);
  };
}

/** Refusals before any message is read, as JSON-RPC errors that answer no message in particular. */
export function mcpErrors({ log }: Pick<Needs, "log">): ErrorRequestHandler {
  const shape = ({ code, message }: ApiError) => {
    return { jsonrpc: "2.0", error: { code: code === "bad_request" ? -32600 : -32000, message }, id: null };
  };
  return errorHandler(log, { shape });
}
