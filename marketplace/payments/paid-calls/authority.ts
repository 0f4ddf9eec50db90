import { hash, timingSafeEqual } from "node:crypto";
import type { Database } from "../../../shared/postgres.ts";
import type { PaymentRequirements, SettleResponse } from "../../../shared/x402.ts";
import type { Chains } from "../../accounts/wallet-proof.ts";
import { stablecoinOn } from "../../stablecoins.ts";
import { maxTimeoutSeconds } from "../../time-limits.ts";
import type { FacilitatorClient } from "../facilitator/client.ts";
import type { FailedPayments } from "../facilitator/failed-payments.ts";
import {
  facilitatorRequest,
  type PaymentPayload,
  paidIn,
  type SettleRequirements,
  termsDigestOf,
} from "../payment-payload.ts";
import { isPaidBy, type Offer } from "../quotes/offer.ts";
import { isSameWallet, requirementsPaying } from "../quotes/payment-requirements.ts";
import { isHeldSecret, type QuotedId, type QuoteIds } from "../quotes/quote-id.ts";
import { howToShowWallet, refusalOfSignIn, type SignInRequest } from "../sign-in-with-x.ts";
import type { PaidCall } from "./paid-call.ts";
import { type Asked, type Presented, type Refused, refusalOf, type Unknown, type Work } from "./redemption.ts";
import { isSettledElsewhere } from "./settled-elsewhere.ts";

/*
 * Who may redeem a payment. One that is not settled yet is known only to its signer and to those whom the signer gave it. One
 * that is settled lies on a public chain with its signature: to present it proves nothing. The presenter must have
 *
 * - our quote: the facilitator says that the payment was settled for requirements with an id that only the quote's holder knows
 *   (or, in version 1, that only a quote for this very body has: the payment then buys that body, and has no holder);
 * - or the wallet that paid, shown by a signature for this payment and this input (sign-in-with-x.ts), for a payment that the
 *   facilitator does not know to have been settled for something else (settled-elsewhere.ts).
 */

/**
 * The requirements that a payment which is not settled yet is settled for: with the id of the quote it carries if that is ours,
 * and else with one of the payment's own, by which the facilitator can tell later that this service had it settled.
 */
export function namedRequirements({ quoteIds }: Needs, asked: Asked, unnamed: PaymentRequirements): SettleRequirements {
  const { payload, payment, presented, bought } = asked;
  const quoted = { ...unnamed, product: bought.product };
  const echoed = echoedId(payload);
  if (quoteIds.endOf(quoted, echoed)) return withQuoteId(asked, unnamed, echoed as string);
  const id =
    payload.version === 1 ? quoteIds.ofBody(quoted, presented.bodyDigest) : quoteIds.ofPayment(quoted, payment);
  return withQuoteId(asked, unnamed, id);
}

/** Whether a payment carries a quote of ours for this product, be it settled or not. */
export function holdsQuote({ quoteIds }: Pick<Needs, "quoteIds">, payload: PaymentPayload, product: string): boolean {
  const { network } = payload;
  const { payTo, amount } = paidIn(payload) ?? {};
  const asset = stablecoinOn(network)?.asset;
  if (asset === undefined || payTo === undefined || amount === undefined) return false;
  return quoteIds.endOf({ product, network, asset, payTo, amount }, echoedId(payload)) !== undefined;
}

/** The requirements under which a payment that was settled before it came here may be redeemed; or why it may not. */
export async function claimSettled(context: ClaimNeeds, asked: Asked): Promise<Claimed | Refused | Unknown> {
  const { payload, presented } = asked;
  const paid = paidIn(payload);
  const unnamed = paid && (await requirementsPaying(context, payload, paid));
  if (!unnamed) return notForThis;
  const isEnough = isPaidBy(presented.offer, unnamed.amount);
  const { isOurs, ...quoted } = quotesOf(context, asked, unnamed);
  const quotes = quoted.quotes.filter(({ end }) => isEnough || wasSignedBefore(end, asked));
  const claimed = await claimFor(context, asked, unnamed, quotes);
  if (claimed && !("unquoted" in claimed)) return claimed;
  const isQuoted = isOurs && quotes.length > 0;
  if (!isQuoted && !(isEnough && presented.offer.wallets().some((wallet) => isOn(unnamed, wallet)))) return notForThis;
  const id = context.quoteIds.ofPayment({ ...unnamed, product: asked.bought.product }, asked.payment);
  const requirements = withQuoteId(asked, unnamed, id);
  const isOutbid = claimed?.unquoted.landedByAnother === true;
  const settlement = isOutbid ? claimed.unquoted : await askSettled(context, payload, requirements);
  if ("outcome" in settlement) return settlement;
  const refusal = await refusalOfUnquoted(context, asked, settlement, settlement.payer ?? null);
  return refusal ?? { requirements, settlement, isHolder: true };
}

/** Claims a payment by a quote of ours alone, however old; undefined when it was settled for none. */
export async function claimQuoted(context: ClaimNeeds, shown: Shown): Promise<Claimed | Refused | Unknown | undefined> {
  const { payload } = shown;
  const paid = paidIn(payload);
  const unnamed = paid && (await requirementsPaying(context, payload, paid));
  if (!unnamed) return undefined;
  const claimed = await claimFor(context, shown, unnamed, quotesOf(context, shown, unnamed).quotes);
  return claimed && "unquoted" in claimed ? undefined : claimed;
}

/**
 * Asks the facilitator about each of these quotes whether the payment was settled for it. `unquoted`: it was settled, and for none of
 * them, or by another for one of them. Undefined without a quote to ask about.
 */
async function claimFor(
  context: ClaimNeeds,
  shown: Shown,
  unnamed: PaymentRequirements,
  quotes: readonly QuotedId[],
): Promise<Claimed | Refused | Unknown | { readonly unquoted: SettleResponse } | undefined> {
  let unquoted: SettleResponse | undefined;
  for (const { id } of quotes) {
    const requirements = withQuoteId(shown, unnamed, id);
    const settlement = await askSettled(context, shown.payload, requirements);
    if ("outcome" in settlement) return settlement;
    if (isSettledFor(shown.payload, requirements, settlement)) {
      return { requirements, settlement, isHolder: isHeldSecret(id) };
    }
    if (!unquoted?.landedByAnother) unquoted = settlement;
    context.failedPayments.noteSettleQuestion(shown.presented.from);
  }
  return unquoted && { unquoted };
}

/** A payment, and what a quote that it was settled for is recognised by. */
export interface Shown extends Pick<Asked, "payload" | "payment"> {
  readonly bought: { readonly product: string };
  readonly presented: Pick<Presented, "bodyDigest" | "from"> & { readonly offer: Pick<Offer, "url" | "resource"> };
}

/**
 * Why a settled payment that was not settled for a quote of ours gives this presenter nothing: it bought something else, or nothing
 * shows the wallet that paid. Undefined when it is theirs, and for this. Every way to a result of such a payment asks this.
 */
export async function refusalOfUnquoted(
  context: Needs,
  asked: Asked & Pick<Work, "isWalletShown">,
  settlement: SettleResponse,
  payer: string | null,
): Promise<Refused | undefined> {
  if (await isSettledElsewhere(context, asked, settlement)) {
    const message =
      "This payment was settled for something else: without a quote of ours a payment is for this call where the facilitator's " +
      `record names ${asked.presented.offer.resource ?? asked.presented.offer.url} as its resource.`;
    return { ...notForThis, message };
  }
  return asked.isWalletShown ? undefined : refusalWithoutWallet(context, asked, payer);
}

export interface Claimed {
  readonly requirements: SettleRequirements;
  readonly settlement: SettleResponse;
  readonly isHolder: boolean;
}

/**
 * Whether the presenter of a payment that was used before is its holder. Refused where only its holder may go on: with another
 * input, and with the same when the payment came with a quote that only its holder knows. Without one the same input is enough
 * to go on, and for a copy of a result that was not delivered. A delivered one takes the wallet, whatever else is shown.
 */
export async function holderOf(context: Needs, asked: Asked, call: PaidCall): Promise<Holder | Refused> {
  const id = call.requirements.extra?.quoteId;
  const isSecret = typeof id === "string" && isHeldSecret(id);
  const takesWallet = call.deliveredAt !== null && asked.presented.signIn !== undefined;
  if (isSecret && !takesWallet && isSameId(echoedId(asked.payload), id)) return { isHolder: true };
  if (asked.presented.signIn === undefined && !isSecret && call.digest.equals(asked.bought.digest))
    return { isHolder: false };
  return (await refusalWithoutWallet(context, asked, call.payer)) ?? { isHolder: true, isWalletShown: true };
}

export type Holder = Pick<Work, "isHolder" | "isWalletShown">;

/** Undefined for a presenter who shows the payer's wallet; else the refusal, which says how to. */
export async function refusalWithoutWallet(
  context: Needs,
  asked: Pick<Asked, "id" | "presented">,
  payer: string | null,
): Promise<Refused | undefined> {
  const shown = asked.presented.signIn;
  const signIn = signInRequestFor(asked);
  const refused = { outcome: "refused", reason: "wallet_proof_required", signIn } as const;
  if (shown === undefined || payer === null) return { ...refused, message: signInAdvice };
  const problem = await refusalOfSignIn(context, shown, signIn, payer);
  return problem === undefined ? undefined : { ...refused, reason: "invalid_wallet_proof", message: problem };
}

/** What the payer's wallet is to sign for this payment and this input. */
export function signInRequestFor({ id, presented }: Pick<Asked, "id" | "presented">): SignInRequest {
  const { offer, bodyDigest } = presented;
  const { url, accountId } = offer;
  return { url, network: id.network, paymentKey: id.key, bodyDigest, accountId };
}

/**
 * Whether a payment that was presented here before it was settled was then settled by others: for other requirements, or in
 * a transaction that is not the facilitator's. It is not known then whether its presenter is its signer, nor whether it is for this.
 */
export function isByOthers({ payload, requirements }: Work, settlement: SettleResponse): boolean {
  return (
    settlement.landedByAnother === true || (!settlement.success && !isSettledFor(payload, requirements, settlement))
  );
}

interface Needs {
  readonly facilitator: FacilitatorClient;
  readonly quoteIds: QuoteIds;
  readonly db: Database;
  readonly tools: Chains;
}

export interface ClaimNeeds extends Needs {
  readonly failedPayments: FailedPayments;
}

/** The ids that the quote paid here may have had; and whether it is ours for certain. */
function quotesOf({ quoteIds }: Needs, shown: Shown, unnamed: PaymentRequirements): Quotes {
  const { payload, payment, presented, bought } = shown;
  const quoted = { ...unnamed, product: bought.product };
  const echoed = echoedId(payload);
  const end = quoteIds.endOf(quoted, echoed);
  if (end) return { quotes: [{ id: echoed as string, end }], isOurs: true };
  return { quotes: quoteIds.ofBodyBefore(quoted, presented.bodyDigest, payment.expiresAt), isOurs: false };
}

interface Quotes {
  readonly quotes: readonly QuotedId[];
  readonly isOurs: boolean;
}

/** The facilitator tells success to the first caller; to all later ones, whether it was settled for these requirements. */
async function askSettled({ facilitator }: Needs, payload: PaymentPayload, requirements: SettleRequirements) {
  const request = facilitatorRequest(payload, requirements);
  const first = await facilitator.settle(request);
  const settlement = first?.success ? await facilitator.settle(request) : first;
  return settlement?.errorReason === "already_settled" ? settlement : refusalOf(settlement);
}

export function isSettledFor(
  payload: PaymentPayload,
  requirements: SettleRequirements,
  { termsDigest }: SettleResponse,
): boolean {
  const own = termsDigestOf(payload, requirements);
  // A call that began before requirements carried an id is proven by its row.
  return own === undefined || termsDigest === own;
}

function withQuoteId({ payload, presented }: Shown, unnamed: PaymentRequirements, quoteId: string): SettleRequirements {
  const { url, resource = url } = presented.offer;
  const extra = { ...unnamed.extra, quoteId };
  return { ...unnamed, extra, ...(payload.version === 1 && { resource }) };
}

const echoedId = ({ accepted }: PaymentPayload) =>
  (accepted.extra as { quoteId?: unknown } | null | undefined)?.quoteId;

/** In a time that tells nothing of where they differ. */
const isSameId = (shown: unknown, id: string) =>
  typeof shown === "string" && timingSafeEqual(hash("sha256", shown, "buffer"), hash("sha256", id, "buffer"));

/**
 * Whether a payment was signed while its quote was good: it was settled at the quoted price then, and buys what was quoted, whenever it
 * is presented.
 */
const wasSignedBefore = (end: Date, { payment, presented }: Asked) =>
  presented.receivedAt <= end || payment.expiresAt.getTime() - maxTimeoutSeconds * 1_000 <= end.getTime();

const isOn = ({ network, payTo }: PaymentRequirements, wallet: { network: string; address: string }) =>
  wallet.network === network && isSameWallet(network, wallet.address, payTo);

const notForThis: Refused = {
  outcome: "refused",
  reason: "payment_for_something_else",
  message: "What was paid is not what this costs, or was not paid to its seller.",
};

const signInAdvice =
  "A settled payment is public, so presenting it does not show that it is yours. Send the quote it was settled for with it " +
  `(\`accepted\`, whole), or ${howToShowWallet} Do not pay anew.`;
