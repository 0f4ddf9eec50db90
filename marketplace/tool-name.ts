import type { Transaction } from "../shared/postgres.ts";
import { toolNamesOf } from "./agent-address.ts";
import type { AgentId } from "./ids.ts";

/** The name as a tool that an agent gets with another address: the first that no other agent has or had. */
export async function freeToolName(tx: Transaction, id: AgentId, handle: string, slug: string): Promise<string> {
  const names = toolNamesOf(handle, slug);
  const taken = await tx.query<{ tool_name: string }>(
    "select tool_name from tool_names where tool_name = any($1) and agent_id <> $2",
    [names, id],
  );
  const free = names.find((name) => !taken.rows.some((row) => row.tool_name === name));
  if (!free) throw new Error(`every tool name of ${handle}/${slug} is taken`);
  return free;
}
