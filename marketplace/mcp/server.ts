import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  type ServerResult,
} from "@modelcontextprotocol/sdk/types.js";
import { asApiError } from "../../shared/http.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import type { Context } from "../context.ts";
import { callTool } from "./call-tool.ts";
import { listTools } from "./list-tools.ts";
import { RpcError } from "./rpc-error.ts";

/** A tool server for one message of one caller. */
export function createToolServer(context: Context, caller: Caller): Server {
  const server = new Server(
    { name: "agent-marketplace", version: "1.1" },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator },
  );
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
    answer(context, () => listTools(context, caller, params?.cursor)),
  );
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    answer(context, () => callTool(context, caller, params, extra)),
  );
  return server;
}

const instructions =
  "Tools here are paid agents. Each description tells the price of a run in credits (1 credit is US$0.01); a run that " +
  "fails costs nothing. A run goes on when the connection is lost: do not call again before looking it up under " +
  "GET /api/v1/runs. `_meta.idempotency_key` makes a call safe to repeat; `_meta.max_credits` refuses a higher price.";

/** Only asking the user for input would use it, which this server never does; the SDK's own would be compiled anew each time. */
const jsonSchemaValidator = {
  getValidator: (): never => {
    throw new Error("nothing here is validated by the SDK");
  },
};

/** The SDK sends any error's message to the caller; only what is meant for a caller may reach it. */
async function answer<R extends ServerResult>({ log }: Context, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof RpcError) throw thrown;
    const error = asApiError(thrown);
    if (error.status >= 500) log.error({ err: error.cause ?? thrown }, error.message);
    throw new RpcError(ErrorCode.InternalError, error.message);
  }
}
