import { hash } from "node:crypto";
import type { Queryable } from "../../../shared/postgres.ts";
import type { Contract } from "../../agents/contract.ts";
import { readInputRules } from "../../agents/version.ts";
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
 * The input, as read by the version of the agent that the payment was first used for. A debt where that version ran on
 * another connector: then the agent of now is not what was bought.
 */
export async function asBought(
  db: Queryable,
  asked: Asked,
  { product, agentVersion, transaction, output, ...call }: PaidCall,
): Promise<Asked | DebtOutcome> {
  const { bought } = asked;
  const input = bought.kind === "run" ? bought.asked : undefined;
  if (!input || product !== bought.product || agentVersion === null || agentVersion === input.agent.version.number) {
    return asked;
  }
  const then = await readInputRules(db, input.agent.id, agentVersion);
  const isSold = then?.connector === input.agent.version.connector;
  const digest = then && digestBy(then.contract, input);
  // A result that is there is had, whatever the agent does now.
  if (digest?.equals(call.digest) && (isSold || output !== null)) return { ...asked, bought: { ...bought, digest } };
  if (isSold || transaction === null || output !== null) return asked;
  return debtOutcome(asked.payload, input.agent.address, asked.id, { ...call, transaction });
}

/** Undefined for an input that could not be its. */
function digestBy(contract: Contract, { agent, given }: AgentInput): Buffer | undefined {
  try {
    return digestOfInput(agent.id, contract.read(given));
  } catch {
    return undefined;
  }
}
