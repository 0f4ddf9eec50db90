import { hash } from "node:crypto";
import type { Versions } from "../../agents/version.ts";
import type { AgentId } from "../../ids.ts";
import type { Input } from "../../input.ts";
import { debtOutcome } from "./debt-of-call.ts";
import type { PaidCall } from "./paid-call.ts";
import type { AgentInput, Asked, DebtOutcome } from "./redemption.ts";

/** SHA-256 of an agent and its input: a payment buys what it was first used for. */
export function digestOfInput(agentId: AgentId, input: Input): Buffer {
  const values = Object.entries(input.values).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([agentId, values, input.extraInstructions ?? null]), "buffer");
}

/**
 * What is asked, as the version of the agent read it that the payment was first used for; a debt where that ran on another
 * connector, so that what there is now is not what was bought.
 */
export async function asBought(
  versions: Versions,
  asked: Asked,
  { product, agentVersion, transaction, output, ...call }: PaidCall,
): Promise<Asked | DebtOutcome> {
  const { bought } = asked;
  const input = bought.kind === "run" ? bought.asked : undefined;
  if (!input || product !== bought.product || agentVersion === null || agentVersion === input.agent.version.number) {
    return asked;
  }
  const digest = await digestAsOf(versions, input, agentVersion);
  if (digest && call.digest.equals(digest)) return { ...asked, bought: { ...bought, digest } };
  if (digest || transaction === null || output !== null) return asked;
  return debtOutcome(asked.payload, input.agent.address, asked.id, { ...call, transaction });
}

/**
 * The digest that the same post had at an earlier version of the agent; undefined when that version ran on another connector, so
 * that what there is now is not what was bought.
 */
async function digestAsOf(
  versions: Versions,
  { agent, given }: AgentInput,
  version: number,
): Promise<Buffer | undefined> {
  if (version === agent.version.number) return digestOfInput(agent.id, agent.version.contract.read(given));
  const then = await versions.load(agent.id, version).catch(() => undefined);
  if (then?.connector !== agent.version.connector) return undefined;
  try {
    return digestOfInput(agent.id, then.contract.read(given));
  } catch {
    // It was not for this input.
    return Buffer.alloc(0);
  }
}
