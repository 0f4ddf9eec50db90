import type { CallToolRequest, CallToolResult } from "@modelcontextprotocol/server";
import type { Request } from "express";
import { z } from "zod";
import { asApiError } from "../../shared/http.ts";
import type { Log } from "../../shared/log.ts";
import { addressOfTool, agentOfTool } from "../agents/scope.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { readIdempotencyKey } from "../http/idempotency-key.ts";
import { parse } from "../parse.ts";
import { type RunNeeds, runAgent } from "../runs/run.ts";
import type { BuiltInTool, ReportProgress } from "./built-in-tool.ts";
import { adviceOutOfScope } from "./out-of-scope.ts";
import { reportWaiting } from "./progress.ts";
import { failureResult, runResult } from "./results.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";

/**
 * Calls one tool that the key sees. Running an agent is what it is over REST; whatever keeps it from running is an
 * answer that a model can act on, with nothing charged. Only a tool that is not there, or not for this key, is a
 * protocol error.
 */
export async function callTool(
  context: CallNeeds,
  caller: Caller,
  { name, arguments: input = {}, _meta = {} }: CallToolRequest["params"],
  { headers }: Pick<Request, "headers">,
  reportProgress: ReportProgress | undefined,
): Promise<CallToolResult> {
  const own = context.builtInTools.find(({ tool, isFor }) => tool.name === name && isFor(caller));
  const agent = own ? undefined : await agentOfTool(context.db, caller, name);
  const progress = reportWaiting(reportProgress);
  let idempotencyKey: string | undefined;
  try {
    const { max_credits: maxCredits, idempotency_key } = parse(callMeta, _meta, "bad_request");
    idempotencyKey = readIdempotencyKey(idempotency_key ?? headers["idempotency-key"]);
    if (own) return await own.call({ caller, input, maxCredits, idempotencyKey, reportProgress });
    if (agent) {
      return runResult(await runAgent(context, caller, { agent: agent.address, input, maxCredits, idempotencyKey }));
    }
  } catch (thrown) {
    const error = asApiError(thrown);
    if (error.code === "internal") context.log.error({ err: error.cause ?? thrown, tool: name }, error.message);
    return failureResult(error, { isNamed: idempotencyKey !== undefined });
  } finally {
    progress.stop();
  }
  const address = await addressOfTool(context.db, name);
  const advice = await adviceOutOfScope(context, caller, address).catch(() => undefined);
  const missing = `There is no tool ${JSON.stringify(name.slice(0, 64))} for this key.`;
  throw new RpcError(invalidParams, advice === undefined ? missing : `${missing} ${advice}`);
}

export interface CallNeeds extends RunNeeds {
  readonly builtInTools: readonly BuiltInTool[];
  readonly log: Log;
}

/** What a call may say beside its arguments; the protocol leaves room for it there. */
const callMeta = z.object({
  idempotency_key: z.string().optional(),
  max_credits: z.int().min(0).optional(),
});
