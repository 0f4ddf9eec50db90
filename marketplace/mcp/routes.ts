import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import { errorHandler } from "../../shared/http.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { createPaidToolServer, createToolServer } from "./server.ts";

/**
 * POST /api/mcp: MCP over Streamable HTTP, 2025-06-18, without sessions. Every request gets a server and a transport of
 * its own, so that nothing of one caller can reach another. The answer is an event stream, for progress to go out on;
 * it ending does not end what runs.
 */
export function postMcp(context: Context): RequestHandler {
  return answerWith(context, (response) => createToolServer(context, callerOf(response)));
}

/** POST /api/x402/mcp: the same without a key, for tools that are paid with the call. */
export function postPaidMcp(context: Context): RequestHandler {
  return answerWith(context, (response) => createPaidToolServer(context, response));
}

function answerWith(context: Context, serverFor: (response: Response) => Server): RequestHandler {
  return async (request, response) => {
    const message: unknown = request.body;
    // The transport would take arrays: batches were part of 2025-03-26 and are not of this version.
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      throw new ApiError("bad_request", "The body must be one JSON-RPC message; batches are not taken.");
    }
    const server = serverFor(response);
    const transport = new StreamableHTTPServerTransport();
    response.on("close", () => context.inFlight.background(server.close()));
    await server.connect(transport as never);
    await transport.handleRequest(request, response, message);
  };
}

/** Refusals before any message is read, as JSON-RPC errors that answer no message in particular. */
export function mcpErrors({ log }: Context): ErrorRequestHandler {
  return errorHandler(log, ({ code, message }) => {
    return { jsonrpc: "2.0", error: { code: code === "bad_request" ? -32600 : -32000, message }, id: null };
  });
}
