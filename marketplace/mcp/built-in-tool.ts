import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { Caller } from "../api-keys/authenticate.ts";

/** A tool of the service itself, beside the agents. */
export interface BuiltInTool {
  readonly tool: Tool;
  readonly isFor: (caller: Caller) => boolean;
  readonly call: (call: BuiltInCall) => Promise<CallToolResult>;
}

export interface BuiltInCall {
  readonly caller: Caller;
  readonly input: Readonly<Record<string, unknown>>;
  readonly maxCredits: number | undefined;
  readonly idempotencyKey: string | undefined;
  readonly reportProgress: ReportProgress | undefined;
}

/** Tells the caller how far its call is. Undefined where it did not ask to be told. */
export type ReportProgress = (progress: number, more: { total?: number; message?: string }) => Promise<void>;
