import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  type CallToolRequest,
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  type ServerResult,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import type { Response } from "express";
import { asApiError } from "../../shared/http.ts";
import type { Log } from "../../shared/log.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { Extra } from "./built-in-tool.ts";
import { type CallNeeds, callTool } from "./call-tool.ts";
import { type ListNeeds, listTools } from "./list-tools.ts";
import { callPaidTool, type PaidToolNeeds } from "./paid-tools.ts";
import { RpcError } from "./rpc-error.ts";

/** A tool server for one message of one caller. */
export function createToolServer(needs: ToolServerNeeds, caller: Caller): Server {
  return serverOf(needs, instructions, {
    list: (cursor) => listTools(needs, caller, cursor),
    call: (params, extra) => callTool(needs, caller, params, extra),
  });
}

export type ToolServerNeeds = ListNeeds & CallNeeds;

/** The same for a caller without a key who pays for the call itself: `tools` are listed, and `response` is what the answer goes out on. */
export function createPaidToolServer(needs: PaidToolNeeds, tools: Tool[], response: Response): Server {
  return serverOf(needs, paidInstructions, {
    list: async () => ({ tools }),
    call: (params, extra) => callPaidTool(needs, params, extra, response),
  });
}

interface Logging {
  readonly log: Log;
}

interface Verbs {
  readonly list: (cursor?: string) => Promise<ListToolsResult>;
  readonly call: (params: CallToolRequest["params"], extra: Extra) => Promise<CallToolResult>;
}

function serverOf(needs: Logging, instructions: string, { list, call }: Verbs): Server {
  const server = new Server(
    { name: "agent-marketplace", version: "1.1" },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => answer(needs, () => list(params?.cursor)));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => answer(needs, () => call(params, extra)));
  return server;
}

const instructions =
  "Tools here are paid agents. Each description tells the price of a run in credits (1 credit is US$0.01); a run that " +
  "fails costs nothing. A run goes on when the connection is lost: do not call again before looking it up under " +
  "GET /api/v1/runs. `_meta.idempotency_key` makes a call safe to repeat; `_meta.max_credits` refuses a higher price.";

const paidInstructions =
  "Tools here are paid with the call, over x402 and without an account: a call without a payment answers its price; " +
  'call again with the payment in _meta["x402/payment"]. A run that fails costs nothing.';

/** Used only where a user is asked for input, which happens nowhere here; the default is costly to make per request. */
const jsonSchemaValidator = {
  getValidator: (): never => {
    throw new Error("nothing here is validated by the SDK");
  },
};

/** The SDK sends any error's message to the caller; only what is meant for a caller may reach it. */
async function answer<R extends ServerResult>({ log }: Logging, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof RpcError) throw thrown;
    const error = asApiError(thrown);
    if (error.status >= 500) log.error({ err: error.cause ?? thrown }, error.message);
    throw new RpcError(ErrorCode.InternalError, error.message);
  }
}
