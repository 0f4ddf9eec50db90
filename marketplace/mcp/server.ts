import {
  type CallToolRequest,
  type CallToolResult,
  type ListToolsResult,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { Response } from "express";
import { asApiError } from "../../shared/http.ts";
import type { Log } from "../../shared/log.ts";
import { creditWorth } from "../answers/amounts.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { ReportProgress } from "./built-in-tool.ts";
import { type CallNeeds, callTool } from "./call-tool.ts";
import { type ListNeeds, listTools } from "./list-tools.ts";
import { callPaidTool, type PaidToolNeeds } from "./paid-tools.ts";
import { internalError, RpcError } from "./rpc-error.ts";

/** A tool server for one message of one caller; `response` is what the answer goes out on. */
export function createToolServer(needs: ToolServerNeeds, caller: Caller, response: Response): Server {
  return serverOf(needs, instructions, response, {
    list: (cursor) => listTools(needs, caller, cursor),
    call: (params, report) => callTool(needs, caller, params, response.req, report),
  });
}

export type ToolServerNeeds = ListNeeds & CallNeeds;

/** A tool server for a caller without a key who pays for the call itself: `tools` are listed. */
export function createPaidToolServer(needs: PaidToolNeeds, tools: Tool[], response: Response): Server {
  return serverOf(needs, paidInstructions, response, {
    list: async () => ({ tools }),
    call: (params, report) => callPaidTool(needs, params, report, response),
  });
}

interface Logging {
  readonly log: Log;
}

interface Verbs {
  readonly list: (cursor?: string) => Promise<ListToolsResult>;
  readonly call: (params: CallToolRequest["params"], report: ReportProgress | undefined) => Promise<CallToolResult>;
}

function serverOf(needs: Logging, instructions: string, response: Response, { list, call }: Verbs): Server {
  const server = new Server(
    { name: "agent-marketplace", version: "1.2" },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler("tools/list", ({ params }) => answer(needs, () => list(params?.cursor)));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    answer(needs, () => call(params, progressOf(context, response))),
  );
  return server;
}

/** How progress is told; nothing is, while the caller has not read what was told before. */
function progressOf({ mcpReq }: ServerContext, response: Response): ReportProgress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return async (progress, more) => {
    if (response.writableLength > 0) return;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, ...more } });
  };
}

const instructions =
  `Tools here are paid agents. Each description tells the price of a run in credits (${creditWorth}); a run that ` +
  "fails costs nothing. A run goes on when the connection is lost: with `_meta.idempotency_key` the same call can be sent " +
  "again, runs once, and answers the same; `_meta.max_credits` refuses a higher price.";

const paidInstructions =
  "Tools here are paid with the call, over x402 and without an account: a call without a payment answers its price; " +
  'call again with the payment in _meta["x402/payment"]. A run that fails costs nothing. A free agent answers at once.';

/** Used only where a user is asked for input, which happens nowhere here; the default is costly to make per request. */
const jsonSchemaValidator = {
  getValidator: (): never => {
    throw new Error("nothing here is validated by the SDK");
  },
};

/** The SDK sends any error's message to the caller; only what is meant for a caller may reach it. */
async function answer<R>({ log }: Logging, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof RpcError) throw thrown;
    const error = asApiError(thrown);
    if (error.status >= 500) log.error({ err: error.cause ?? thrown }, error.message);
    throw new RpcError(internalError, error.message);
  }
}
