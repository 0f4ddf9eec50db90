import type { Transaction } from "../shared/postgres.ts";
import { toolNamesOf } from "./agent-address.ts";
import type { AgentId } from "./ids.ts";

/** The name as a tool that an agent gets with another address: the first that no other agent has. */
export async function freeToolName(tx: Transaction, id: AgentId, handle: string, slug: string): Promise<string> {
  const names = toolNamesOf(handle, slug);
  const taken = await tx.query<{ tool_name: string }>(
    "select tool_name from agents where tool_name = any($1) and id <> $2",
    [names, id],
  );
  const free = names.find((name) => !taken.rows.some((row) => row.tool_name === name));
  if (!free) throw new Error(`every tool name of ${handle}/${slug} is taken`);
  return free;
}
