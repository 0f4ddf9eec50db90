import type { z } from "zod";
import type { Outbound } from "../../shared/outbound.ts";
import type { Holder } from "../../shared/shares.ts";
import type { Field, Input, Values } from "../agents/contract.ts";
import type { Files } from "../files/files.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import type { ModelAsked, ModelList } from "../models/model-list.ts";
import type { Problem } from "../parse.ts";
import type { Effects } from "./effects.ts";
import type { EvmChains } from "./evm.ts";
import type { Hedera } from "./hedera/hedera.ts";
import type { ModelClient } from "./model-client.ts";
import type { People } from "./people.ts";
import type { Spending } from "./reservations.ts";
import type { Slots } from "./template.ts";
import type { XClient } from "./x/client.ts";

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
  /** A run writes what it does into `tools.effects` first; whether it failed, that book knows better than the run. */
  readonly hasEffects?: true;
  /** A run needs a buyer with an account, so that it is sold for credits alone. */
  readonly needsAccount?: true;
  readonly settings: z.ZodType<Settings>;
  outputKind(settings: Settings): OutputKind;
  /** What the settings' templates name. */
  slots(settings: Settings): Slots;
  /**
   * Templates may name secrets: what they make goes to the creator's own service. Where it goes to a model or a public
   * ledger, a secret would be given away.
   */
  readonly takesSecrets?: true;
  /** Where in the settings a value could leave the place it is meant for; a version that has such a place does not run. */
  templateProblems?(settings: Settings, fields: readonly Field[]): readonly Problem[];
  /** What a run asks of the platform's models, once; undefined where it asks nothing. */
  model?(settings: Settings): ModelAsked;
  /** Characters of the prompt that this input makes. */
  promptLength?(input: Input, settings: Settings): number;
  /** What keeps `ownerId` from publishing these settings, beyond their form; each a sentence naming the setting. */
  publishProblems?(settings: Settings, tools: PublishTools, ownerId: AccountId): Promise<string[]>;
  /**
   * Of effects that cannot be taken back: all that can be known about a call by reading, asked on every rail before money
   * moves, and what it will take of what can run out, which is then reserved for it. Throws Refusal. `run` asks again.
   */
  precheck?(call: Call<Settings>, tools: Tools): Promise<Spending>;
  /**
   * Runs once. Throws ConnectorFailure when it did not work, OutcomeUnknown when nobody can know yet. Stops early when
   * `signal` aborts.
   */
  run(call: Call<Settings>, tools: Tools): Promise<Result>;
}

export interface Call<Settings> extends Input {
  readonly settings: Settings;
  readonly secrets: Values;
  readonly signal: AbortSignal;
  readonly runId: RunId;
  /** What names the call's effect, should it have one: the run, or the payment that pays for it. */
  readonly effectKey: string;
  readonly agent: { readonly id: AgentId; readonly ownerId: AccountId };
  /** The call of a model that the run may make. */
  readonly modelCharge: ModelCharge;
  /** Absent where nobody signed in. */
  readonly buyerId?: AccountId;
}

/** The doors to the outside that connectors share. */
export interface Tools {
  readonly models: ModelClient;
  readonly modelList: ModelList;
  readonly outbound: Outbound;
  readonly files: Files;
  readonly effects: Effects;
  readonly people: People;
  /** Undefined where the operator configured no mirror. */
  readonly hedera: Hedera | undefined;
  readonly evm: EvmChains;
  readonly x: XClient;
}

/** What publishing has of them, on the operator's command line too. */
export type PublishTools = Pick<Tools, "outbound" | "hedera" | "people" | "modelList">;

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
  override readonly name: string = "ConnectorFailure";
  readonly detail: Readonly<Record<string, unknown>>;
  readonly remedy: Remedy;

  constructor(message: string, detail: Record<string, unknown> = {}, remedy: Remedy = "again") {
    super(message);
    this.detail = detail;
    this.remedy = remedy;
  }
}

/**
 * What may help who has paid already: the same again at once, the same when somebody else has put something right, or
 * that what the message names about the input is put right.
 */
export type Remedy = "again" | "later" | "input";

/** Whose share a run's requests are of. */
export const holderOf = ({ id, ownerId }: Call<unknown>["agent"]): Holder => ({ account: ownerId, agent: id });

/** For a run that found its agent's or its creator's share of requests in use for too long. */
export const busyText = "This agent has too many calls under way; try again shortly.";

/** What the run set out to do may have happened. It is neither charged nor refunded until the ledger has told. */
export class OutcomeUnknown extends Error {
  override readonly name = "OutcomeUnknown";
  readonly transactionId: string;

  constructor(transactionId: string) {
    super("It is not known yet whether the transaction was executed.");
    this.transactionId = transactionId;
  }
}

/** JSON output is always an object: a list or a single value becomes its `value`. */
export function jsonOutput(data: unknown): Output {
  const isObject = typeof data === "object" && data !== null && !Array.isArray(data);
  return { kind: "json", data: isObject ? data : { value: data } };
}
