import { ConnectorFailure, OutcomeUnknown, type Result, type Tools } from "../connectors/connector.ts";
import type { Effect } from "../connectors/effects.ts";

/**
 * What an effect that was begun earlier came to: its result; undefined when there is none or it came to nothing, so that
 * it may be tried anew. Throws OutcomeUnknown as long as the ledger may still do it.
 */
export async function settleEffect(tools: EffectTools, key: string): Promise<Result | undefined> {
  const effect = await tools.effects.find(key);
  if (!effect || effect.state === "void") return undefined;
  try {
    return await resultOf(tools, effect);
  } catch (error) {
    if (error instanceof ConnectorFailure) return undefined;
    throw error;
  }
}

/** The result of an effect; ConnectorFailure when it certainly did not happen, OutcomeUnknown when nobody knows. */
export async function resultOf({ effects, hedera }: EffectTools, effect: Effect): Promise<Result> {
  if (effect.state === "void") throw new ConnectorFailure("The ledger did not do what the agent asked of it.");
  if (effect.output) return { output: effect.output, ...(effect.receipt ? { receipt: effect.receipt } : {}) };
  if (hedera?.network !== effect.network) throw new OutcomeUnknown(effect.transactionIds[0] ?? "");
  return hedera.conclude(effects, effect, await hedera.endingOf(effect));
}

type EffectTools = Pick<Tools, "effects" | "hedera">;
