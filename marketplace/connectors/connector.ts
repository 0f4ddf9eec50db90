import type { z } from "zod";
import type { Outbound } from "../../shared/outbound.ts";
import type { Input, Values } from "../agents/contract.ts";
import type { ModelClient } from "./model-client.ts";

/** Every building block an agent can run on, in plain words. */
export const connectorNames = {
  llm: "Language model",
  "image-generator": "Image generator",
  "http-api": "HTTP API",
  "mcp-tool": "MCP tool",
  "token-audit": "Token audit",
  "approval-check": "Approval check",
  "hedera-mint": "Hedera mint",
  "hedera-transfer": "Hedera transfer",
  "hcs-write": "Hedera topic message",
  "x-reward": "Reward for a post on X",
  "x-reward-credits": "Credits for a post on X",
} as const;

export type ConnectorId = keyof typeof connectorNames;
export const connectorIds = Object.keys(connectorNames) as [ConnectorId, ...ConnectorId[]];

/** What a connector promises. `Settings` are the creator's, private, in the form `settings` accepts. */
export interface Connector<Settings> {
  readonly id: ConnectorId;
  /** A run that takes longer has failed. */
  readonly timeLimitMs: number;
  /** The effect of a run cannot be taken back, so it must be paid for before it starts. */
  readonly permanent: boolean;
  readonly settings: z.ZodType<Settings>;
  outputKind(settings: Settings): OutputKind;
  /** Names of fields and secrets that the settings' templates use. */
  slots(settings: Settings): { readonly fields: readonly string[]; readonly secrets: readonly string[] };
  /** What keeps these settings from being published, beyond their form; each a sentence naming the setting. */
  publishProblems?(settings: Settings, tools: Pick<Tools, "outbound">): Promise<string[]>;
  /** Runs once. Throws ConnectorFailure when it did not work. Stops early when `signal` aborts. */
  run(call: Call<Settings>, tools: Tools): Promise<Result>;
}

export interface Call<Settings> extends Input {
  readonly settings: Settings;
  readonly secrets: Values;
  readonly signal: AbortSignal;
}

/** The doors to the outside that connectors share. */
export interface Tools {
  readonly models: ModelClient;
  readonly outbound: Outbound;
}

export type OutputKind = "text" | "image" | "json" | "receipt";

export type Output =
  | { readonly kind: "text"; readonly text: string }
  | { readonly images: readonly string[] }
  | { readonly kind: "json"; readonly data: object }
  | { readonly kind: "receipt"; readonly status: string; readonly transactionId: string };

export interface Result {
  readonly output: Output;
  readonly receipt?: object;
}

/** A run that did not work. `message` is for the buyer to read; `detail` is for the log and holds no recipe or secret. */
export class ConnectorFailure extends Error {
  override readonly name = "ConnectorFailure";
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(message: string, detail: Record<string, unknown> = {}) {
    super(message);
    this.detail = detail;
  }
}

/** JSON output is always an object: a list or a single value becomes its `value`. */
export function jsonOutput(data: unknown): Output {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  return { kind: "json", data: isObject ? data : { value: data } };
}
