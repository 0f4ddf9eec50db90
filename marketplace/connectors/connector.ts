import type { z } from "zod";
import type { Holder } from "../../shared/fair-semaphore.ts";
import type { Outbound } from "../../shared/outbound.ts";
import type { Files } from "../files/files.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { FieldType, Input, Values } from "../input.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import type { ModelAsked, ModelList } from "../models/model-list.ts";
import type { Problem } from "../parse.ts";
import type { AccountDirectory } from "./account-directory.ts";
import type { EvmChains } from "./evm.ts";
import type { Guide } from "./guide.ts";
import type { Hedera } from "./hedera/hedera.ts";
import type { ModelClient } from "./model-client.ts";
import type { Spending } from "./reservations.ts";
import type { OutputKind, Result } from "./result.ts";
import type { SideEffectJournal } from "./side-effect-journal.ts";
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
  /** What creators read of it, and the agent they start from. */
  readonly guide: Guide;
  /** A run that takes longer has failed. */
  readonly timeLimitMs: number;
  /** What a run usually takes, at the least and at the most, as models are told before they call it. */
  readonly usualSeconds: readonly [least: number, most: number];
  /** The effect of a run cannot be taken back, so it must be paid for before it starts. */
  readonly permanent: boolean;
  /** A run writes what it does into the side-effect journal first. Whether it failed, the journal knows better than the run. */
  readonly hasEffects?: true;
  /** A run needs a buyer with an account, so that it is sold for credits alone. */
  readonly needsAccount?: true;
  readonly settings: z.ZodType<Settings>;
  outputKind(settings: Settings): OutputKind;
  /** What the settings' templates name. */
  slots(settings: Settings): Slots;
  /**
   * Templates may name secrets: what they make goes to the creator's own service. Where it goes to a model or a public
   * chain, a secret would be given away.
   */
  readonly takesSecrets?: true;
  /** Where in the settings a value could leave the place it is meant for; a version that has such a place does not run. */
  templateProblems?(
    settings: Settings,
    fields: ReadonlyArray<{ readonly name: string; readonly type: FieldType }>,
  ): readonly Problem[];
  /** What a run asks of the platform's models, once; undefined where it asks nothing. */
  model?(settings: Settings): ModelAsked;
  /** Characters of the prompt that this input makes. */
  promptLength?(input: Input, settings: Settings): number;
  /** What keeps `ownerId` from publishing these settings, beyond their form; paths begin within the settings. */
  publishProblems?(settings: Settings, tools: PublishTools, ownerId: AccountId): Promise<readonly Problem[]>;
  /**
   * For connectors whose effects cannot be undone. Finds out by reading alone whether a call can work, and answers what it will use
   * up, which is then reserved. Every payment method asks before money moves. Throws RefusalError. `run` checks again.
   */
  precheck?(call: Call<Settings>, tools: Tools): Promise<Spending>;
  /**
   * Runs once. Throws ConnectorError when it failed, OutcomeUnknownError when the outcome cannot be known yet. Stops early when
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
  /** Absent where the buyer has no account. */
  readonly buyerId?: AccountId;
  /** Whose share of what is looked up for a creator's agents it is: an account, the payer of a payment, or an address. Set in `precheck`. */
  readonly caller?: string;
}

/** The clients of the outside world that connectors share. */
export interface Tools {
  readonly models: ModelClient;
  readonly modelList: ModelList;
  readonly outbound: Outbound;
  readonly files: Files;
  readonly sideEffects: SideEffectJournal;
  readonly accounts: AccountDirectory;
  /** Undefined where the operator configured no mirror. */
  readonly hedera: Hedera | undefined;
  readonly evm: EvmChains;
  readonly x: XClient;
}

/** What publishing has of them, on the operator's command line too. */
export type PublishTools = Pick<Tools, "outbound" | "hedera" | "accounts" | "modelList">;

/** The holder to whose share a run's requests count. */
export const holderOf = ({ id, ownerId }: Call<unknown>["agent"]): Holder => ({ account: ownerId, agent: id });
