import { z } from "zod";
import type { AccountId } from "../../ids.ts";
import { ConnectorFailure, type PublishTools } from "../connector.ts";
import { EndpointSilent } from "../endpoint.ts";
import type { Hedera } from "./hedera.ts";
import type { Operator } from "./operator.ts";

/** Settings that agents on a ledger share. */
export const networkSetting = z.string().regex(/^hedera:(mainnet|testnet|previewnet)$/, "must be hedera:<network>");
export const entitySetting = z.string().regex(/^0\.0\.[1-9]\d{0,9}$/, "must be an id such as 0.0.1234");
/** A whole number of base units, as text: no ledger amount fits a JSON number for sure. */
export const unitsSetting = z.string().regex(/^[1-9]\d{0,18}$/, "must be a whole number of base units, as text");

/** What an agent on a ledger stands on: the network, the operator, and the creator's own wallet there. */
export interface Ground {
  readonly hedera: Hedera;
  readonly operator: Operator;
  /** The creator's checked payout wallet: an agent touches nothing of anybody else's. */
  readonly wallet: string;
}

/**
 * The ground of an agent of `ownerId` on a network, or a sentence saying what it lacks. Publishing asks, and every run
 * asks again, since all of it can change in between.
 */
export async function groundFor(
  { hedera, people }: Pick<PublishTools, "hedera" | "people">,
  network: string,
  ownerId: AccountId,
): Promise<Ground | string> {
  if (hedera?.network !== network) return `"settings.network": ${network} is not available here.`;
  if (!hedera.operator) return "This marketplace has no ledger account to act with.";
  const wallet = await people.wallet(ownerId, network);
  if (!wallet) return `The creator has no checked payout wallet on ${network}.`;
  if (wallet === hedera.operator.accountId) return "The creator's wallet is the marketplace's own.";
  return { hedera, operator: hedera.operator, wallet };
}

/** The same for a run, which fails without it. `check` answers what else is missing, as publishing says it. */
export async function standOn(
  tools: Pick<PublishTools, "hedera" | "people">,
  network: string,
  ownerId: AccountId,
  check: (ground: Ground) => Promise<string[]>,
): Promise<Ground> {
  const ground = await groundFor(tools, network, ownerId);
  const problems = typeof ground === "string" ? [ground] : await check(ground).catch(asFailure);
  if (typeof ground !== "string" && problems.length === 0) return ground;
  throw new ConnectorFailure("The agent is not set up on the ledger any more; its creator has to see to it.", {
    reason: problems[0],
  });
}

/** What keeps settings on this network from being published. */
export async function groundProblems(
  tools: PublishTools,
  network: string,
  ownerId: AccountId,
  check: (ground: Ground) => Promise<string[]>,
): Promise<string[]> {
  const ground = await groundFor(tools, network, ownerId);
  if (typeof ground === "string") return [ground];
  try {
    return await check(ground);
  } catch (error) {
    if (!(error instanceof EndpointSilent)) throw error;
    return ["The ledger's mirror does not answer; try again shortly."];
  }
}

/** A mirror that is silent fails a run before anything was sent. */
export function asFailure(error: unknown): never {
  if (!(error instanceof EndpointSilent)) throw error;
  throw new ConnectorFailure("The ledger's mirror does not answer; try again shortly.", { reason: error.message });
}
