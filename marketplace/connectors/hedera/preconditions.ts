import { z } from "zod";
import type { AccountId } from "../../ids.ts";
import type { PublishTools } from "../connector.ts";
import { EndpointSilentError } from "../endpoint.ts";
import { misconfigured, notNow } from "../refusal.ts";
import type { Hedera } from "./hedera.ts";
import { type Operator, transactionFeeMax } from "./operator.ts";

/** Settings that agents on Hedera share. */
export const networkSetting = z.string().regex(/^hedera:(mainnet|testnet|previewnet)$/, "must be hedera:<network>");
export const entitySetting = z.string().regex(/^0\.0\.[1-9]\d{0,9}$/, "must be an id such as 0.0.1234");
/** A whole number of base units, as text: a JSON number cannot hold every amount on Hedera. */
export const unitsSetting = z.string().regex(/^[1-9]\d{0,18}$/, "must be a whole number of base units, as text");

/** What an agent that writes to Hedera acts with: the network, the operator, and the creator's own wallet there. */
export interface Preconditions {
  readonly hedera: Hedera;
  readonly operator: Operator;
  /** The creator's checked payout wallet; the agent touches no other wallet. */
  readonly wallet: string;
}

/**
 * The preconditions of an agent of `ownerId` on a network, or a sentence saying which one is not met. Publishing asks,
 * and every run asks again, since all of it can change in between.
 */
export async function findPreconditions(
  { hedera, accounts }: Pick<PublishTools, "hedera" | "accounts">,
  network: string,
  ownerId: AccountId,
): Promise<Preconditions | string> {
  if (hedera?.network !== network) return `"settings.network": ${network} is not available here.`;
  if (!hedera.operator) return "This marketplace has no account on Hedera to act with.";
  const wallet = await accounts.wallet(ownerId, network);
  if (!wallet) return `The creator has no checked payout wallet on ${network}.`;
  if (wallet === hedera.operator.accountId) return "The creator's wallet is the marketplace's own.";
  return { hedera, operator: hedera.operator, wallet };
}

/**
 * The same for a call; throws RefusalError when one is not met. `check` answers what else is missing, as publishing says
 * it. The operator must be able to pay for the transaction. It must be no fee payer: any payment could spend the allowances
 * granted to a fee payer.
 */
export async function requirePreconditions(
  tools: Pick<PublishTools, "hedera" | "accounts">,
  network: string,
  ownerId: AccountId,
  check: (preconditions: Preconditions) => Promise<string[]>,
): Promise<Preconditions> {
  const preconditions = await findPreconditions(tools, network, ownerId);
  if (typeof preconditions === "string") throw misconfigured(preconditions);
  const { hedera, operator } = preconditions;
  const [[problem], account, isFeePayer] = await Promise.all([
    check(preconditions),
    hedera.mirror.account(operator.accountId),
    hedera.operatorIsFeePayer(),
  ]).catch(refuseSilence);
  if (isFeePayer) throw misconfigured("the operator is a fee payer");
  if (problem !== undefined) throw misconfigured(problem);
  if ((account?.balance.balance ?? 0) < Number(transactionFeeMax)) {
    throw notNow("The marketplace cannot pay for the chain's transaction at the moment.", 300);
  }
  return preconditions;
}

/** What keeps settings on this network from being published. */
export async function preconditionProblems(
  tools: PublishTools,
  network: string,
  ownerId: AccountId,
  check: (preconditions: Preconditions) => Promise<string[]>,
): Promise<string[]> {
  const preconditions = await findPreconditions(tools, network, ownerId);
  if (typeof preconditions === "string") return [preconditions];
  try {
    return await check(preconditions);
  } catch (error) {
    if (!(error instanceof EndpointSilentError)) throw error;
    return ["The chain's mirror does not answer; try again shortly."];
  }
}

/** A mirror that is silent ends a call before anything was sent. */
export function refuseSilence(error: unknown): never {
  if (!(error instanceof EndpointSilentError)) throw error;
  throw notNow("The chain's mirror does not answer; try again shortly.", 5, error.message);
}
