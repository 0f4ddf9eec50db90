import { ApiError } from "../../shared/errors.ts";
import { type Credits, credits } from "../../shared/units.ts";
import type { Input } from "../agents/contract.ts";
import { type Connector, ConnectorFailure } from "../connectors/connector.ts";
import { costOfRun, listedModel, type ModelList } from "./model-list.ts";

/** What a version of an agent has to do with the platform's models. */
export interface VersionModel {
  /** What its creator bears of a run. */
  readonly cost: Credits;
  /** Why no run of it is begun, whoever asks, until it is published anew or the list changes. */
  readonly pausedFor: PauseReason | undefined;
  /** Throws 422 for an input that makes a longer prompt than the model may be given. */
  requireShort(input: Input): void;
}

export type PauseReason = "model_not_offered" | "model_dearer_than_price";

/** Undefined for an agent that calls no model of the platform's. */
export function versionModel(
  connector: Connector<unknown>,
  settings: unknown,
  priceCredits: bigint,
  list: ModelList,
): VersionModel | undefined {
  const asked = connector.model?.(settings);
  if (!asked) return undefined;
  const model = listedModel(list, asked);
  if (!model) return { cost: credits(0n), pausedFor: "model_not_offered", requireShort: () => {} };
  const cost = costOfRun(asked, model);
  return {
    cost,
    pausedFor: priceCredits > 0n && cost > priceCredits ? "model_dearer_than_price" : undefined,
    requireShort: (input) => {
      const length = lengthOf(() => connector.promptLength?.(input, settings) ?? 0);
      if (length > model.charactersMax) throw tooLong(input, model.charactersMax);
    },
  };
}

/** A prompt that is too long to be written at all has no length. */
function lengthOf(measure: () => number): number {
  try {
    return measure();
  } catch (error) {
    if (error instanceof ConnectorFailure) return Number.POSITIVE_INFINITY;
    throw error;
  }
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
