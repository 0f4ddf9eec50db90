import { createHash } from "node:crypto";
import type { Request, Response } from "express";
import { z } from "zod";
import { forEvery } from "../../shared/for-every.ts";
import { pendingBody } from "../../shared/request-body.ts";
import { atomicPerCredit } from "../answers/amounts.ts";
import type { Config } from "../config.ts";
import type { AccountId } from "../ids.ts";
import { parse } from "../parse.ts";
import { answerPayment, answerQuote, type PaymentNeeds } from "./http-transport.ts";
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
 * Credits what was paid for by buyers who did not come back: between the settlement and the crediting anything may have
 * happened.
 */
export async function creditAbandonedPurchases(context: ProcessNeeds): Promise<void> {
  await forEvery(await context.paidCalls.findAbandoned(20), (call) => {
    const [, accountId, bought] = call.product.split(":") as [string, AccountId, string];
    return resume(context, purchaseWork(accountId, Number(bought)), call);
  });
}

/** The same on both routes, with the URL of the one for programs: an offer that a catalogue lists is for those. */
function purchaseOffer({ config }: PurchaseNeeds, accountId: AccountId, bought: number): Offer {
  return {
    product: productOf(accountId, bought),
    accountId,
    url: `${config.publicUrl}/api/v1/credits/purchase`,
    description: "Credits for running agents by API key; one credit is US$0.01.",
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
