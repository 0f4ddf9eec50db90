import { hash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../shared/errors.ts";
import type { PaymentRequirements, SettleResponse } from "../../shared/x402.ts";
import type { Context } from "../context.ts";
import { isPaidBy } from "./offer.ts";
import type { PaidCall } from "./paid-calls.ts";
import type { Paid } from "./payment-id.ts";
import { digestOf, facilitatorRequest, type Proof, type SettleTerms } from "./proof.ts";
import { isHeldSecret, type QuotedId, unquotedId } from "./quote-id.ts";
import { type Presented, type Refused, refusalOf, type Unknown, type Work } from "./redemption.ts";
import { refusalOfSignIn } from "./sign-in-with-x.ts";
import { stablecoinOn } from "./stablecoins.ts";
import { termsPaying } from "./terms.ts";

/*
 * Who may redeem a payment. One that is not settled yet is known to who signed it and to whom they gave it. One that is
 * settled lies on a public chain with its signature: to present it proves nothing. It takes
 *
 * - our quote: the facilitator says that the payment was settled under terms with an id that nobody else can know (or, in
 *   version 1, that only a quote for this very body has: it then buys that body, and makes nobody its holder);
 * - or the wallet that paid, shown by a signature for this payment and this input (sign-in-with-x.ts).
 */

/** What a proof says it pays; undefined when it does not say. The facilitator holds the payment to it. */
export function paidIn({ version, accepted, payment }: Proof): Paid | undefined {
  if (version === 1) return payment?.pays;
  const { payTo, amount } = accepted;
  return typeof payTo === "string" && typeof amount === "string" ? { payTo, amount } : undefined;
}

export function isPaying(paid: Paid, { network, payTo, amount }: PaymentRequirements): boolean {
  return paid.amount === amount && isSameWallet(network, paid.payTo, payTo);
}

/**
 * The terms that a payment which nobody settled yet is settled for: named by the quote it carries if that is ours, and else
 * by an id made now, by which the facilitator can tell later that it was us who had it settled.
 */
export function namedTerms({ quoteIds }: Needs, asked: Asked, terms: PaymentRequirements): SettleTerms {
  const { proof, presented, product } = asked;
  const quoted = { ...terms, product };
  const echoed = echoedId(proof);
  if (quoteIds.endOf(quoted, echoed)) return named(asked, terms, echoed as string);
  return named(asked, terms, proof.version === 1 ? quoteIds.ofBody(quoted, presented.bodyDigest) : unquotedId());
}

/** Whether a proof carries a quote of ours for this, be it settled or not. */
export function holdsQuote({ quoteIds }: Pick<Context, "quoteIds">, proof: Proof, product: string): boolean {
  const { network } = proof;
  const { payTo, amount } = paidIn(proof) ?? {};
  const asset = stablecoinOn(network)?.asset;
  if (asset === undefined || payTo === undefined || amount === undefined) return false;
  return quoteIds.endOf({ product, network, asset, payTo, amount }, echoedId(proof)) !== undefined;
}

/** A payment that was settled before it came here, on the terms it may be redeemed under; or why it may not. */
export async function claimSettled(context: Needs, asked: Asked): Promise<Claimed | Refused | Unknown> {
  const { proof, presented } = asked;
  const paid = paidIn(proof);
  const terms = paid && (await termsPaying(context, proof, paid));
  if (!terms) return notForThis;
  const isEnough = isPaidBy(presented.offer, terms.amount);
  const { isOurs, ...quoted } = quotesOf(context, asked, terms);
  const quotes = quoted.quotes.filter(({ end }) => isEnough || end >= presented.receivedAt);
  let last: SettleResponse | undefined;
  for (const { id } of quotes) {
    const requirements = named(asked, terms, id);
    const settlement = await askSettled(context, proof, requirements);
    if ("outcome" in settlement) return settlement;
    if (isProof(proof, requirements, settlement)) return { requirements, settlement, isHolder: isHeldSecret(id) };
    last = settlement;
  }
  const isQuoted = isOurs && quotes.length > 0;
  if (!isQuoted && !(isEnough && presented.offer.wallets().some((wallet) => isOn(terms, wallet)))) return notForThis;
  const requirements = named(asked, terms, unquotedId());
  const settlement = last ?? (await askSettled(context, proof, requirements));
  if ("outcome" in settlement) return settlement;
  if (await isSpentElsewhere(context, asked, settlement)) return notForThis;
  const refusal = await refusalWithoutWallet(context, asked, settlement.payer ?? null);
  return refusal ?? { requirements, settlement, isHolder: true };
}

/**
 * Whether a payment that was not settled for a quote of ours bought something else from the same wallet: another shop's
 * resource, or something so long ago that it cannot have been meant for this. Otherwise its payer could have it twice.
 */
async function isSpentElsewhere(
  { facilitator }: Needs,
  { payment, id, presented }: Asked,
  { transaction }: SettleResponse,
): Promise<boolean> {
  if (payment.expiresAt.getTime() < Date.now() - unquotedGoodForMs) return true;
  const resource = await facilitator.paidResource(id.network, transaction).catch((cause) => {
    const message = "What this payment was settled for cannot be looked up at the moment; try again shortly.";
    throw new ApiError("unavailable", message, { cause, headers: { "retry-after": "5" } });
  });
  if (resource === undefined || !URL.canParse(resource)) return false;
  const [paid, own] = [new URL(resource), new URL(presented.offer.url)];
  return paid.origin !== own.origin && paid.pathname.toLowerCase() !== own.pathname.toLowerCase();
}

export interface Claimed {
  readonly requirements: SettleTerms;
  readonly settlement: SettleResponse;
  readonly isHolder: boolean;
}

/**
 * Whether who presents a payment that was used before is its holder. Refused where only its holder may go on: with another
 * input, and with the same when the payment came with a quote that only its holder knows. Without one the same input is enough
 * to go on, and for a copy of a result that was not handed out.
 */
export async function holderOf(context: Needs, asked: Asked, call: PaidCall): Promise<{ isHolder: boolean } | Refused> {
  const id = call.requirements.extra?.quoteId;
  const isSecret = typeof id === "string" && isHeldSecret(id);
  if (isSecret && isSameId(echoedId(asked.proof), id)) return { isHolder: true };
  if (asked.presented.signIn === undefined && !isSecret && call.digest.equals(asked.digest)) return { isHolder: false };
  return (await refusalWithoutWallet(context, asked, call.payer)) ?? { isHolder: true };
}

/** Undefined for who shows the payer's wallet; else the refusal, which says how to. */
export async function refusalWithoutWallet(
  context: Needs,
  { presented, id }: Pick<Asked, "id" | "presented">,
  payer: string | null,
): Promise<Refused | undefined> {
  const { offer, bodyDigest, signIn: shown } = presented;
  const { url, accountId } = offer;
  const signIn = { url, network: id.network, paymentKey: id.key, bodyDigest, accountId };
  const refused = { outcome: "refused", reason: "wallet_proof_required", signIn } as const;
  if (shown === undefined || payer === null) return { ...refused, message: signInAdvice };
  const problem = await refusalOfSignIn(context, shown, signIn, payer);
  return problem === undefined ? undefined : { ...refused, reason: "invalid_wallet_proof", message: problem };
}

/**
 * Whether a payment that was presented here before it was settled was then settled by other hands: under other terms, or in
 * a transaction that is not the facilitator's. Nobody knows then whether who presented it is who signed it.
 */
export function isByOthers({ proof, requirements }: Work, settlement: SettleResponse): boolean {
  return settlement.landedByAnother === true || (!settlement.success && !isProof(proof, requirements, settlement));
}

/** A payment on its way to terms. */
export type Asked = Omit<Work, "requirements" | "isHolder" | "presented"> & {
  readonly presented: Presented;
  /** What the facilitator holds of the buyer's money for the verdicts that this post got; noted as they come. */
  readonly holdIds: string[];
};

type Needs = Pick<Context, "facilitator" | "quoteIds" | "db" | "tools">;

/** The ids that the quote paid here may have had; and whether it is ours for certain. */
function quotesOf({ quoteIds }: Needs, asked: Asked, terms: PaymentRequirements): Quotes {
  const { proof, payment, presented, product } = asked;
  const quoted = { ...terms, product };
  const echoed = echoedId(proof);
  const end = quoteIds.endOf(quoted, echoed);
  if (end) return { quotes: [{ id: echoed as string, end }], isOurs: true };
  return { quotes: quoteIds.ofBodyBefore(quoted, presented.bodyDigest, payment.expiresAt), isOurs: false };
}

interface Quotes {
  readonly quotes: readonly QuotedId[];
  readonly isOurs: boolean;
}

/** Success is told to one caller, whoever it is; to everybody after, whether these are the terms. */
async function askSettled({ facilitator }: Needs, proof: Proof, terms: SettleTerms) {
  const request = facilitatorRequest(proof, terms);
  const first = await facilitator.settle(request);
  const settlement = first?.success ? await facilitator.settle(request) : first;
  return settlement?.errorReason === "already_settled" ? settlement : refusalOf(settlement);
}

function isProof(proof: Proof, terms: SettleTerms, { termsDigest }: SettleResponse): boolean {
  const own = digestOf(proof, terms);
  // A call that began before terms were named has its row for a proof.
  return own === undefined || termsDigest === own;
}

function named({ proof, presented }: Asked, terms: PaymentRequirements, quoteId: string): SettleTerms {
  const extra = { ...terms.extra, quoteId };
  return { ...terms, extra, ...(proof.version === 1 && { resource: presented.offer.url }) };
}

const echoedId = ({ accepted }: Proof) => (accepted.extra as { quoteId?: unknown } | null | undefined)?.quoteId;

/** In a time that tells nothing of where they differ. */
const isSameId = (shown: unknown, id: string) =>
  typeof shown === "string" && timingSafeEqual(hash("sha256", shown, "buffer"), hash("sha256", id, "buffer"));

const isOn = (terms: PaymentRequirements, wallet: { network: string; address: string }) =>
  wallet.network === terms.network && isSameWallet(terms.network, wallet.address, terms.payTo);

const isSameWallet = (network: string, one: string, other: string) =>
  network.startsWith("eip155:") ? one.toLowerCase() === other.toLowerCase() : one === other;

const unquotedGoodForMs = 7 * 86_400_000;

const notForThis: Refused = {
  outcome: "refused",
  reason: "payment_for_something_else",
  message: "What was paid is not what this costs, or was not paid to who sells it.",
};

const signInAdvice =
  "A settled payment is public, so presenting it does not show that it is yours. Send the quote it was settled for with it " +
  "(`accepted`, whole), or sign what `extensions.sign-in-with-x` says with the wallet that paid, and post it in the " +
  "SIGN-IN-WITH-X header beside the same payment. Do not pay anew.";
