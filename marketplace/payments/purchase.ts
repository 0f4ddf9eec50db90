import { createHash } from "node:crypto";
import type { RequestHandler } from "express";
import { z } from "zod";
import { pendingBody } from "../../shared/request-body.ts";
import { startRounds } from "../../shared/rounds.ts";
import { credits, toSafeNumber } from "../../shared/units.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Context } from "../context.ts";
import { grant } from "../credits/ledger.ts";
import type { AccountId } from "../ids.ts";
import { parse } from "../parse.ts";
import { atomicPerCredit, type Offer, type PaidWork } from "./offer.ts";
import { goOn } from "./redeem.ts";
import { sell } from "./sell.ts";

const purchaseMax = 1_000_000;
export const purchaseBody = z.object({ credits: z.int().min(1).max(purchaseMax) });

/** POST /api/v1/credits/purchase {credits}: credits for a payment to the platform, credited exactly once. */
export function postPurchase(context: Context): RequestHandler {
  return async (request, response) => {
    const { accountId } = callerOf(response);
    const { credits: bought } = parse(purchaseBody, (await pendingBody(response).json()) ?? {}, "bad_request");
    return sell(context, request, response, purchaseOffer(context, accountId, bought), async () =>
      purchaseWork(context, accountId, bought),
    );
  };
}

/**
 * Credits what was paid for by buyers who did not come back, at start and then every few seconds: between the
 * settlement and the crediting anything may have happened.
 */
export function startCrediting(context: Context): { stop(): Promise<void> } {
  const credit = async () => {
    for (const call of await context.paidCalls.toGoOn(20)) {
      const [, accountId, bought] = call.product.split(":") as [string, AccountId, string];
      await goOn(context, purchaseWork(context, accountId, Number(bought)), call);
    }
  };
  return startRounds(credit, everyMs, (error) => {
    context.log.warn({ err: error }, "bought credits could not be credited yet; it will be tried again");
  });
}

const everyMs = 5_000;

function purchaseOffer({ config }: Context, accountId: AccountId, bought: number): Offer {
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

/** Crediting cannot be undone and needs nothing but the settled payment, whose key makes it happen once. */
function purchaseWork(context: Context, accountId: AccountId, bought: number): PaidWork {
  const product = productOf(accountId, bought);
  return {
    product,
    digest: createHash("sha256").update(product).digest(),
    permanent: true,
    goesOn: true,
    run: async ({ id }) => {
      const reference = `purchase ${id.network} ${id.key}`;
      await grant(context.db, { kind: "purchase", accountId, credits: credits(BigInt(bought)), reference });
      const { credits: remaining } = await context.lookups.balance(accountId);
      const data = { credits: bought, credits_remaining: toSafeNumber(remaining) };
      return { success: true, output: { kind: "json", data } };
    },
  };
}
