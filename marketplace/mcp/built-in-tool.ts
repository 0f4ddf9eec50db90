import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult, ServerNotification, ServerRequest, Tool } from "@modelcontextprotocol/sdk/types.js";
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
  readonly extra: Extra;
}

/** What the SDK tells of a request beside its parameters. */
export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
