import { ApiError } from "../../shared/errors.ts";
import { type FindNeeds, findLiveAgent, type LiveAgent, ownerOf } from "../agents/find.ts";
import { type AgentVersion, asRunnable } from "../agents/version.ts";
import type { AccountId } from "../ids.ts";
import type { Input } from "../input.ts";
import type { Runnable } from "./runnable.ts";

/**
 * Everything that is settled before money is touched, by every payment method and in this order: 404 no live agent, 400 a
 * required field is missing, 422 a value breaks a rule, 503 the owner cannot be verified; 500 the agent is
 * misconfigured.
 */
export async function prepareRun(
  context: FindNeeds,
  address: string,
  given: Readonly<Record<string, unknown>>,
): Promise<PreparedRun> {
  return prepareAgent(await findLiveAgent(context, address), given);
}

/** Prepares a run of an agent that was found already. */
export function prepareAgent(agent: LiveAgent, given: Readonly<Record<string, unknown>>): PreparedRun {
  requireSafe(agent.version);
  const prepared = readRun(agent, given);
  agent.version.model?.requireShort(prepared.input);
  return prepared;
}

/** A run as its input names it, be it one that could be run now or not. */
export function readRun(agent: LiveAgent, given: Readonly<Record<string, unknown>>): PreparedRun {
  const input = agent.version.contract.read(given);
  return { runnable: asRunnable(agent, agent.version), input, creatorId: ownerOf(agent) };
}

/** 500 for a version whose templates are not safe to fill: it was published before they were looked at so closely. */
export function requireSafe({ unsafe, name, number }: AgentVersion): void {
  if (!unsafe) return;
  const cause = new Error(`${name} version ${number} has unsafe templates`);
  throw new ApiError("internal", "The agent is misconfigured: its creator must publish it anew.", { cause });
}

export interface PreparedRun {
  readonly runnable: Runnable;
  readonly input: Input;
  /** The account that is paid. */
  readonly creatorId: AccountId;
}
