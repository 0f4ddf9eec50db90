import { ApiError } from "../../shared/errors.ts";
import { type Credits, credits } from "../credits/amount.ts";
import type { AccountId, AgentId } from "../ids.ts";
import type { Input } from "../input.ts";
import { costOfRun, listedModel, type ModelAsked, type ModelList } from "./model-list.ts";

/** What a version of an agent has to do with the platform's models. */
export interface VersionModel {
  /** What its creator bears of a run. */
  readonly cost: Credits;
  /** Why no run of it is begun, for any buyer, until it is published anew or the list changes. */
  readonly pausedFor: PauseReason | undefined;
  /** Throws 422 for an input that makes a longer prompt than the model may be given. */
  requireShort(input: Input): void;
}

/** The caller of a model of the platform's, if `model` says so: one version of an agent, whose owner bears the cost. */
export interface ModelUser {
  readonly id: AgentId;
  readonly version: number;
  /** `handle/slug` */
  readonly address: string;
  readonly ownerId: AccountId;
  readonly model?: VersionModel | undefined;
  /** The platform bears the models that it calls, whether the buyer pays or not. */
  readonly isAtPlatformsCost?: boolean;
}

export type PauseReason = "model_not_offered" | "model_dearer_than_price";

/**
 * Undefined for an agent that calls no model of the platform's. `asked`: what its runs ask of one. `promptLength`:
 * characters of the prompt that an input makes.
 */
export function versionModel(
  { asked, promptLength }: ModelUse,
  priceCredits: bigint,
  list: ModelList,
): VersionModel | undefined {
  if (!asked) return undefined;
  const model = listedModel(list, asked);
  if (!model) return { cost: credits(0n), pausedFor: "model_not_offered", requireShort: () => {} };
  const cost = costOfRun(asked, model);
  return {
    cost,
    pausedFor: priceCredits > 0n && cost > priceCredits ? "model_dearer_than_price" : undefined,
    requireShort: (input) => {
      if (promptLength(input) > model.charactersMax) throw tooLong(input, model.charactersMax);
    },
  };
}

interface ModelUse {
  readonly asked: ModelAsked | undefined;
  readonly promptLength: (input: Input) => number;
}

/** The longest of the texts that were given is what can be shortened. */
function tooLong({ values, extraInstructions = "" }: Input, charactersMax: number): ApiError {
  const lengths = Object.entries({ ...values, extraInstructions }).map(
    ([name, value]) => [name, typeof value === "string" ? value.length : 0] as const,
  );
  const [field] = lengths.reduce((longest, one) => (one[1] > longest[1] ? one : longest), ["input", 0]);
  const message = `"${field}" is too long: with it the agent's prompt has more than the ${charactersMax} characters that its model takes.`;
  return new ApiError("invalid_value", message, { body: { field } });
}
