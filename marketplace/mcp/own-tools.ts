import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Caller } from "../api-keys/authenticate.ts";
import type { Context } from "../context.ts";
import type { Extra } from "./call-tool.ts";
import { searchTool } from "./search-tool.ts";
import { generateTool, vectorizeTool } from "./svg-tools.ts";

/** A tool of the service itself, beside the agents. */
export interface OwnTool {
  readonly tool: Tool;
  readonly isFor: (caller: Caller) => boolean;
  readonly call: (context: Context, call: OwnCall) => Promise<CallToolResult>;
}

export interface OwnCall {
  readonly caller: Caller;
  readonly input: Readonly<Record<string, unknown>>;
  readonly maxCredits: number | undefined;
  readonly idempotencyKey: string | undefined;
  readonly extra: Extra;
}

/** Agents' names hold no underscore, so none of them can be called like one of these. */
export const ownTools: readonly OwnTool[] = [generateTool, vectorizeTool, searchTool];

export function ownToolsFor({ ownTools }: Pick<Context, "ownTools">, caller: Caller): readonly OwnTool[] {
  return ownTools.filter(({ isFor }) => isFor(caller));
}
