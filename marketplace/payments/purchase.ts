import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Request, Response } from "express";
import { z } from "zod";
import { forEvery } from "../../shared/for-every.ts";
import { pendingBody } from "../../shared/request-body.ts";
import { atomicPerCredit, creditWorth } from "../answers/amounts.ts";
import type { Config } from "../config.ts";
import type { AccountId } from "../ids.ts";
import { parse } from "../parse.ts";
import { answerPayment, answerQuote, type PaymentNeeds } from "./http-transport.ts";
import type { AbandonedCall } from "./paid-calls/paid-call.ts";
import { type ProcessNeeds, resume } from "./paid-calls/process.ts";
import type { CreditPurchase } from "./paid-calls/redemption.ts";
import { readPaymentHeader } from "./payment-payload.ts";
import type { Offer } from "./quotes/offer.ts";
import { withCharge } from "./refused-input.ts";

export const purchaseMax = 1_000_000;
export const purchaseBody = z.object({ credits: z.int().min(1).max(purchaseMax) });

/** Answers with credits for a payment to the platform, credited to the account exactly once, whichever of its holders posts it. */
export async function purchaseCredits(
  context: PurchaseNeeds,
  accountId: AccountId,
  request: Request,
  response: Response,
): Promise<void> {
  const payload = readPaymentHeader(request.headers);
  const { credits: bought } = await readPurchase(response).catch(async (error: unknown) => {
    throw await withCharge(context, error, { payload, from: request.ip ?? "" });
  });
  const offer = purchaseOffer(context, accountId, bought);
  if (typeof payload !== "object") return answerQuote(context, { request, response }, offer, payload);
  const work = purchaseWork(accountId, bought);
  return answerPayment(context, { request, response }, { offer, work }, { payload });
}

const readPurchase = async (response: Response) =>
  parse(purchaseBody, (await pendingBody(response).json()) ?? {}, "bad_request");

export type PurchaseNeeds = PaymentNeeds & { readonly config: Pick<Config, "publicUrl" | "platformWallets"> };

/**
 * The job that credits what was paid for by buyers who did not come back: between the settlement and the crediting anything may
 * have happened. Networks wait for none of each other: one whose payments take long goes on while the next rounds look after the rest.
 */
export function creditAbandonedPurchases(context: ProcessNeeds): (stopping: AbortSignal) => Promise<void> {
  const busy = new Set<string>();
  const creditAll = async (network: string, calls: readonly AbandonedCall[], stopping: AbortSignal) => {
    busy.add(network);
    try {
      await forEvery(calls.slice(0, callsPerNetwork), (call) => credit(context, call, stopping));
    } finally {
      busy.delete(network);
    }
  };
  return async (stopping) => {
    const waiting = byNetwork(await context.paidCalls.findAbandoned(callsPerRound, [...busy]));
    const free = [...waiting].slice(0, networksAtOnce - busy.size);
    const round = Promise.all(free.map(([network, calls]) => creditAll(network, calls, stopping)));
    const isOver = await Promise.race([round.then(() => true), sleep(roundMs, false, { ref: false })]);
    if (!isOver) context.backgroundWork.detach(round);
  };
}

async function credit(context: ProcessNeeds, call: AbandonedCall, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return;
  const [, accountId, bought] = call.product.split(":") as [string, AccountId, string];
  await resume(context, purchaseWork(accountId, Number(bought)), call);
}

function byNetwork(calls: readonly AbandonedCall[]): ReadonlyMap<string, readonly AbandonedCall[]> {
  const grouped = new Map<string, AbandonedCall[]>();
  for (const call of calls) grouped.set(call.id.network, [...(grouped.get(call.id.network) ?? []), call]);
  return grouped;
}

const callsPerNetwork = 20;
const callsPerRound = 200;
const networksAtOnce = 8;
const roundMs = 5_000;

/** Both routes make this offer, with the URL of the route for programs, since catalogues list offers for programs. */
function purchaseOffer({ config }: PurchaseNeeds, accountId: AccountId, bought: number): Offer {
  return {
    product: productOf(accountId, bought),
    accountId,
    url: `${config.publicUrl}/api/v1/credits/purchase`,
    description: `Credits for running agents by API key; ${creditWorth}.`,
    amount: BigInt(bought) * atomicPerCredit,
    wallets: () => config.platformWallets,
    input: { schema: z.toJSONSchema(purchaseBody, { io: "input" }), example: { credits: bought } },
  };
}

const productOf = (accountId: AccountId, bought: number) => `credits:${accountId}:${bought}`;

function purchaseWork(accountId: AccountId, bought: number): CreditPurchase {
  const product = productOf(accountId, bought);
  const digest = createHash("sha256").update(product).digest();
  return { kind: "credits", product, digest, permanent: true, accountId, credits: bought };
}
