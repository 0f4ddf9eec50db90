import { ApiError } from "../../../shared/errors.ts";
import { canonicalAccount } from "../../../shared/networks.ts";
import type { PaymentRequirements, SupportedResponse } from "../../../shared/x402.ts";
import { stablecoinOn } from "../../stablecoins.ts";
import { maxTimeoutSeconds } from "../../time-limits.ts";
import type { FacilitatorClient } from "../facilitator/client.ts";
import type { Paid, PaymentPayload } from "../payment-payload.ts";
import type { PricedOffer } from "./offer.ts";

/**
 * What a quote names: how the offer can be paid now, one entry per chain on which its seller has a wallet and the
 * facilitator settles at the moment. 503 when there is none, or when the facilitator cannot be asked.
 */
export async function quotedRequirements(context: Needs, offer: PricedOffer): Promise<readonly PaymentRequirements[]> {
  const { facilitator } = context;
  const requirements = await allRequirements(context, offer);
  const settles = await Promise.all(requirements.map(({ network }) => facilitator.settlesOn(network)));
  const quoted = requirements.filter((_entry, index) => settles[index]);
  if (quoted.length > 0) return quoted;
  const networks = requirements.map(({ network }) => network).join(" and ");
  throw new ApiError("unavailable", `Payments on ${networks} cannot be settled at the moment.`, {
    headers: { "retry-after": String(facilitator.retryAfterSeconds) },
  });
}

/** All entries of the offer, also for chains on which nothing is settled at the moment: what was settled there before is still good. */
async function allRequirements(context: Needs, offer: PricedOffer): Promise<readonly PaymentRequirements[]> {
  const wallets = offer.wallets();
  const supported = await askSupported(context);
  const amount = offer.amount.toString();
  const requirements = wallets.flatMap(
    ({ network, address }) => entryFor(supported.kinds, network, address, amount) ?? [],
  );
  if (requirements.length === 0) throw new ApiError("unavailable", "This cannot be paid per call at the moment.");
  return requirements;
}

/**
 * The requirements that a payment presented now must meet: ours, not the buyer's. Undefined where its chain is not offered. They
 * name no quote (see paid-calls/authority.ts).
 */
export async function requirementsFor(
  context: Needs,
  offer: PricedOffer,
  payload: PaymentPayload,
): Promise<PaymentRequirements | undefined> {
  const own = (await allRequirements(context, offer)).find(({ network }) => network === payload.network);
  return own && requirementsPaying(context, payload, own);
}

/**
 * The requirements on the payment's chain that ask for this amount to this wallet. They name the payment's own fee payer: which one
 * a quote names can change between quote and payment, and the facilitator refuses one that is not its own unless it settled the payment
 * before. Undefined where the facilitator does not settle.
 */
export async function requirementsPaying(
  context: Needs,
  { network, accepted, payment }: PaymentPayload,
  { payTo, amount }: Paid,
): Promise<PaymentRequirements | undefined> {
  const { kinds } = await askSupported(context);
  const own = entryFor(kinds, network, payTo, amount);
  const named = (accepted.extra as { feePayer?: unknown } | undefined)?.feePayer ?? payment?.feePayer;
  if (!own || typeof named !== "string" || own.extra?.feePayer === undefined) return own;
  return { ...own, extra: { ...own.extra, feePayer: named } };
}

export function isPaying(paid: Paid, { network, payTo, amount }: PaymentRequirements): boolean {
  return paid.amount === amount && isSameWallet(network, paid.payTo, payTo);
}

export function isSameWallet(network: string, one: string, other: string): boolean {
  return canonicalAccount(network, one) === canonicalAccount(network, other);
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

interface Needs {
  readonly facilitator: FacilitatorClient;
}

async function askSupported({ facilitator }: Needs): Promise<SupportedResponse> {
  return facilitator.supported().catch((cause) => {
    throw new ApiError("unavailable", "Payments cannot be taken at the moment; try again shortly.", { cause });
  });
}
