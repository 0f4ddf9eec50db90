import type { ListToolsResult, Tool } from "@modelcontextprotocol/server";
import type { Log } from "../../shared/log.ts";
import type { Queryable } from "../../shared/postgres.ts";
import { type FindNeeds, findShownAgent } from "../agents/find.ts";
import { agentsInScope, type ScopedAgent } from "../agents/scope.ts";
import { unlessBroken } from "../agents/unless-broken.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { fitting } from "../query.ts";
import { asTool } from "./agent-tool.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { undefinedIfGone } from "./out-of-scope.ts";
import { invalidParams, RpcError } from "./rpc-error.ts";

const pageSize = 50;

/**
 * One page of what the key sees, shorter where inputs are large: first the service's own tools, then agents by tool name, unless the key
 * finds those by search.
 * Always in the same order.
 */
export async function listTools(context: ListNeeds, caller: Caller, cursor?: string): Promise<ListToolsResult> {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const own =
    after === undefined ? context.builtInTools.filter(({ isFor }) => isFor(caller)).map(({ tool }) => tool) : [];
  if (caller.key.tools === "search") return { tools: own.map(brief) };
  const inScope = await agentsInScope(context.db, caller, { after, limit: pageSize + 1 });
  const agents = await fitting(inScope.slice(0, pageSize), (agent) => describe(context, agent));
  const last = inScope.length > agents.length ? inScope[agents.length - 1] : undefined;
  return {
    tools: [...own, ...agents.filter((tool) => tool !== undefined)],
    ...(last ? { nextCursor: Buffer.from(last.tool).toString("base64url") } : {}),
  };
}

/** Without what a model can do without: the price is in the description, the result is read as it comes. */
function brief({ outputSchema: _, _meta, annotations: { title: _title, ...hints } = {}, ...tool }: Tool): Tool {
  return { ...tool, annotations: hints };
}

/** Undefined for an agent that is not to be shown, or that its creator broke: the others must still be listed. */
function describe(context: ListNeeds, { tool, address }: ScopedAgent): Promise<Tool | undefined> {
  return unlessBroken(context.log, address, async () => {
    const agent = await findShownAgent(context, address).catch(undefinedIfGone);
    return agent && asTool(tool, agent);
  });
}

export interface ListNeeds extends FindNeeds {
  readonly db: Queryable;
  readonly log: Log;
  readonly builtInTools: readonly BuiltInTool[];
}

function readCursor(cursor: string): string {
  const name = Buffer.from(cursor, "base64url").toString();
  if (/^[a-z0-9-]{1,64}$/.test(name)) return name;
  throw new RpcError(invalidParams, "The cursor must be taken from an earlier page.");
}
