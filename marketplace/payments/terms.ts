import { ApiError } from "../../shared/errors.ts";
import type { PaymentRequirements, SupportedResponse } from "../../shared/x402.ts";
import type { Context } from "../context.ts";
import type { Offer } from "./offer.ts";
import type { Paid } from "./payment-id.ts";
import type { Proof } from "./proof.ts";
import { stablecoinOn } from "./stablecoins.ts";

/** How long a payment must be good for, seconds; as long as a Hedera transaction can be. */
export const maxTimeoutSeconds = 180;

/**
 * What a quote names: how the offer can be paid now, one entry per chain on which its seller has a wallet and the
 * facilitator settles at the moment. 503 when there is none, or when the facilitator cannot be asked.
 */
export async function quotedTerms(context: Needs, offer: Offer): Promise<readonly PaymentRequirements[]> {
  const { facilitator } = context;
  const terms = await termsOf(context, offer);
  const settles = await Promise.all(terms.map(({ network }) => facilitator.settlesOn(network)));
  const quoted = terms.filter((_entry, index) => settles[index]);
  if (quoted.length > 0) return quoted;
  const networks = terms.map(({ network }) => network).join(" and ");
  throw new ApiError("unavailable", `Payments on ${networks} cannot be settled at the moment; nothing was charged.`, {
    headers: { "retry-after": String(facilitator.retryAfterSeconds) },
  });
}

/** The same with the chains on which nothing is settled at the moment: what was settled there before is still good. */
async function termsOf(context: Needs, offer: Offer): Promise<readonly PaymentRequirements[]> {
  const wallets = offer.wallets();
  const supported = await askSupported(context);
  const amount = offer.amount.toString();
  const terms = wallets.flatMap(({ network, address }) => entryFor(supported.kinds, network, address, amount) ?? []);
  if (terms.length === 0) throw new ApiError("unavailable", "This cannot be paid per call at the moment.");
  return terms;
}

/**
 * The terms a payment presented now is held against: ours, not the buyer's. Undefined where its chain is not offered. They
 * name no quote (see authority.ts).
 */
export async function termsFor(context: Needs, offer: Offer, proof: Proof): Promise<PaymentRequirements | undefined> {
  const own = (await termsOf(context, offer)).find(({ network }) => network === proof.network);
  return own && termsPaying(context, proof, own);
}

/**
 * Terms on the proof's chain that pay this. Only the fee payer may be another of the facilitator's than a quote would name
 * now, since it can change between quote and payment. Undefined where the facilitator does not settle.
 */
export async function termsPaying(
  context: Needs,
  { network, accepted, payment }: Proof,
  { payTo, amount }: Paid,
): Promise<PaymentRequirements | undefined> {
  const { kinds, signers } = await askSupported(context);
  const own = entryFor(kinds, network, payTo, amount);
  const named = (accepted.extra as { feePayer?: unknown } | undefined)?.feePayer ?? payment?.feePayer;
  if (!own || typeof named !== "string" || own.extra?.feePayer === undefined) return own;
  const ours = Object.values(signers).some((accounts) => accounts.includes(named));
  return ours ? { ...own, extra: { ...own.extra, feePayer: named } } : own;
}

function entryFor(
  kinds: SupportedResponse["kinds"],
  network: string,
  payTo: string,
  amount: string,
): PaymentRequirements | undefined {
  const coin = stablecoinOn(network);
  const kind = kinds.find((one) => one.x402Version === 2 && one.scheme === "exact" && one.network === network);
  if (!coin || !kind) return undefined;
  const { asset, domain } = coin;
  return { scheme: "exact", network, amount, asset, payTo, maxTimeoutSeconds, extra: { ...kind.extra, ...domain } };
}

type Needs = Pick<Context, "facilitator">;

async function askSupported({ facilitator }: Needs): Promise<SupportedResponse> {
  return facilitator.supported().catch((cause) => {
    throw new ApiError("unavailable", "Payments cannot be taken at the moment; try again shortly.", { cause });
  });
}
