import type { Tools } from "../connectors/connector.ts";
import { ConnectorError, OutcomeUnknownError, type Result } from "../connectors/result.ts";
import type { SideEffect } from "../connectors/side-effect-journal.ts";

/**
 * What an effect that was begun earlier came to: its result; undefined when there is none or it came to nothing, so that
 * it may be tried anew. Throws OutcomeUnknownError as long as the chain may still do it.
 */
export async function earlierResult(tools: EffectTools, key: string): Promise<Result | undefined> {
  const effect = await tools.sideEffects.find(key);
  if (!effect || effect.state === "void") return undefined;
  try {
    return await resultOf(tools, effect);
  } catch (error) {
    if (error instanceof ConnectorError) return undefined;
    throw error;
  }
}

/** The result of an effect; ConnectorError when it certainly did not happen, OutcomeUnknownError when it is not known. */
export async function resultOf({ sideEffects, hedera }: EffectTools, effect: SideEffect): Promise<Result> {
  if (effect.state === "void") throw new ConnectorError("The chain did not do what the agent asked of it.");
  if (effect.output) return { output: effect.output, ...(effect.receipt ? { receipt: effect.receipt } : {}) };
  if (hedera?.network !== effect.network) throw new OutcomeUnknownError(effect.transactionIds[0] ?? "");
  return hedera.conclude(sideEffects, effect, await hedera.endingOf(effect));
}

type EffectTools = Pick<Tools, "sideEffects" | "hedera">;
