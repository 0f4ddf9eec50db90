import { z } from "zod";
import type { AccountId } from "../../ids.ts";
import type { PublishTools } from "../connector.ts";
import { EndpointSilent } from "../endpoint.ts";
import { misconfigured, notNow } from "../refusal.ts";
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

/**
 * The same for a call; throws Refusal without it. `check` answers what else is missing, as publishing says it. The
 * operator must be able to pay for the transaction, and be no fee payer, whose allowances any payment could spend.
 */
export async function standOn(
  tools: Pick<PublishTools, "hedera" | "people">,
  network: string,
  ownerId: AccountId,
  check: (ground: Ground) => Promise<string[]>,
): Promise<Ground> {
  const ground = await groundFor(tools, network, ownerId);
  if (typeof ground === "string") throw misconfigured(ground);
  const { hedera, operator } = ground;
  const [[problem], account, isFeePayer] = await Promise.all([
    check(ground),
    hedera.mirror.account(operator.accountId),
    hedera.operatorIsFeePayer(),
  ]).catch(refuseSilence);
  if (isFeePayer) throw misconfigured("the operator is a fee payer");
  if (problem !== undefined) throw misconfigured(problem);
  if ((account?.balance.balance ?? 0) < operatorTinybarsMin) {
    throw notNow("The marketplace cannot pay for the ledger's transaction at the moment.", 300);
  }
  return ground;
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

/** A mirror that is silent ends a call before anything was sent. */
export function refuseSilence(error: unknown): never {
  if (!(error instanceof EndpointSilent)) throw error;
  throw notNow("The ledger's mirror does not answer; try again shortly.", 5, error.message);
}

/** As much as one transaction may cost. */
const operatorTinybarsMin = 200_000_000;
