import { z } from "zod";
import { networksOf } from "../../../shared/networks.ts";
import type { AccountId } from "../../ids.ts";
import { type Problem, sentenceOf } from "../../parse.ts";
import type { PublishTools } from "../connector.ts";
import { EndpointSilentError } from "../endpoint.ts";
import { misconfigured, notNow } from "../refusal.ts";
import type { Hedera } from "./hedera.ts";
import { keyText, unitsOf } from "./mirror.ts";
import { type Operator, transactionFeeMax } from "./operator.ts";

/** Settings that agents on Hedera share. */
export const networkSetting = z.string().refine((id) => networksOf("hedera").includes(id), "must be hedera:<network>");
export const entityId = /^0\.0\.[1-9]\d{0,9}$/;
export const entitySetting = z.string().regex(entityId, "must be an id such as 0.0.1234");
const unitsRule = "must be a whole number of base units, 1 or more, as text or as a number";
/** A whole number of base units, kept as text: a JSON number cannot hold every amount on Hedera. */
export const unitsSetting = z.union(
  [
    // Rules between settings count with it, so that they are not asked of what is no number.
    z.string().regex(/^[1-9]\d{0,18}$/, { error: unitsRule, abort: true }),
    z
      .int(unitsRule)
      .min(1, { error: unitsRule, abort: true })
      .transform((units) => String(units)),
  ],
  unitsRule,
);

/** What an agent that writes to Hedera acts with: the network, the operator, and the creator's own wallet there. */
export interface Preconditions {
  readonly hedera: Hedera;
  readonly operator: Operator;
  /** The creator's checked payout wallet; the agent touches no other wallet. */
  readonly wallet: string;
  /** The key with which it proved itself, where that is known. */
  readonly provedKey: string | undefined;
}

/**
 * The preconditions of an agent of `ownerId` on a network, or which one is not met. Publishing asks, and every run asks
 * again, since all of it can change in between.
 */
async function findPreconditions(
  { hedera, accounts }: Pick<PublishTools, "hedera" | "accounts">,
  network: string,
  ownerId: AccountId,
): Promise<Preconditions | Problem> {
  const wrong = (message: string): Problem => ({ path: ["network"], message });
  if (!hedera) return wrong("cannot be served: no agent acts on Hedera here");
  if (hedera.network !== network) return wrong(`must be ${hedera.network}, where agents act here`);
  if (!hedera.operator) return wrong("cannot be served: this marketplace has no account on Hedera to act with");
  const own = await accounts.wallet(ownerId, network);
  if (!own)
    return {
      ...wrong(`is one on which you have no checked payout wallet: add yours on ${network}`),
      remedy: "wallets",
    };
  const { address: wallet, provedKey } = own;
  if (wallet === hedera.operator.accountId) return wrong("is one on which your payout wallet is the marketplace's own");
  return { hedera, operator: hedera.operator, wallet, provedKey };
}

/**
 * What `check` finds missing, unless the wallet has another key than the one that proved it: then what it allows and owns may be
 * somebody else's by now.
 */
async function missing(preconditions: Preconditions, check: Check): Promise<readonly Problem[]> {
  const { hedera, wallet, provedKey } = preconditions;
  const [account, problems] = await Promise.all([
    provedKey === undefined ? undefined : hedera.mirror.account(wallet),
    check(preconditions),
  ]);
  if (provedKey === undefined || (account?.key && keyText(account.key) === provedKey)) return problems;
  const message = `is one on which your wallet ${wallet} has another key than the one that signed for it: add it again`;
  return [{ path: ["network"], message, remedy: "wallets" }];
}

type Check = (preconditions: Preconditions) => Promise<readonly Problem[]>;

/**
 * The preconditions, for a call; throws RefusalError when one is not met. `check` answers what else is missing, in the
 * words of publishing. The operator must be able to pay for the transaction. It must be no fee payer: any payment could
 * spend the allowances granted to a fee payer.
 */
export async function requirePreconditions(
  tools: Pick<PublishTools, "hedera" | "accounts">,
  network: string,
  ownerId: AccountId,
  check: Check,
): Promise<Preconditions> {
  const preconditions = await findPreconditions(tools, network, ownerId);
  if ("path" in preconditions) throw misconfigured(saidOf(preconditions));
  const { hedera, operator } = preconditions;
  const [[problem], account, isFeePayer] = await Promise.all([
    missing(preconditions, check),
    hedera.mirror.account(operator.accountId),
    hedera.operatorIsFeePayer(),
  ]).catch(refuseSilence);
  if (isFeePayer) throw misconfigured("the operator is a fee payer");
  if (problem !== undefined) throw misconfigured(saidOf(problem));
  if (unitsOf(account?.balance.balance ?? 0) < transactionFeeMax) {
    throw notNow("The marketplace cannot pay for the chain's transaction at the moment.", 300);
  }
  return preconditions;
}

/** What keeps settings on this network from being published. */
export async function preconditionProblems(
  tools: PublishTools,
  network: string,
  ownerId: AccountId,
  check: Check,
): Promise<readonly Problem[]> {
  const preconditions = await findPreconditions(tools, network, ownerId);
  if ("path" in preconditions) return [preconditions];
  try {
    return await missing(preconditions, check);
  } catch (error) {
    if (!(error instanceof EndpointSilentError)) throw error;
    return [
      { path: ["network"], message: "cannot be asked now: the chain's mirror does not answer; try again shortly" },
    ];
  }
}

const saidOf = (problem: Problem) => sentenceOf(problem, "The agent");

/** A mirror that is silent ends a call before anything was sent. */
export function refuseSilence(error: unknown): never {
  if (!(error instanceof EndpointSilentError)) throw error;
  throw notNow("The chain's mirror does not answer; try again shortly.", 5, error.message);
}
