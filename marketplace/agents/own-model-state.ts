import type { ModelFunds, ModelState } from "../models/model-funds.ts";
import type { OwnAgent } from "./creator-agents.ts";
import type { Versions } from "./version.ts";

/** What an agent's models cost its creator, today and in a run; null when it calls none of the platform's. */
export async function ownModelState(
  { versions, modelFunds }: OwnModelNeeds,
  own: OwnAgent,
): Promise<ModelState | null> {
  const shown = own.state === "live" ? own.liveVersion : own.newestVersion;
  return modelFunds.stateOf(own.id, await versions.load(own.id, shown));
}

export interface OwnModelNeeds {
  readonly versions: Versions;
  readonly modelFunds: ModelFunds;
}
