import { ApiError } from "../../../shared/errors.ts";
import type { Queryable } from "../../../shared/postgres.ts";
import type { SettleResponse, VerifyResponse } from "../../../shared/x402.ts";
import type { Config } from "../../config.ts";
import type { AgentId } from "../../ids.ts";
import { upsertDebt } from "../debts.ts";
import { reasonOf } from "../facilitator/refusal-reasons.ts";
import { facilitatorRequest, type PaidCallId, type PaymentPayload, paidCallIdOf, paidIn } from "../payment-payload.ts";
import { requirementsPaying } from "../quotes/payment-requirements.ts";
import { type ClaimNeeds, claimQuoted, holdsQuote, isSettledFor } from "./authority.ts";
import type { PaidCall } from "./paid-call.ts";
import { type DebtOutcome, isSettled, outcomeUnknown } from "./redemption.ts";
import type { PaidCalls } from "./store.ts";

export const debtText =
  "The agent that this payment was settled for is not there any more, or is another one now. What it owes stays on record, " +
  "where its creator sees it too: post the same again when the agent is back, or ask the creator for the money.";

/**
 * Instead of `error`, for a call of an agent that cannot be run: the debt, if the payment was settled for this agent and it
 * never gave a result. The facilitator says whether that is so; every other caller is told the error.
 */
export async function debtInstead(
  context: DebtNeeds,
  shown: ShownPayment | undefined,
  address: string,
  error: unknown,
): Promise<DebtOutcome> {
  if (!shown || !(error instanceof ApiError)) throw error;
  const { payload } = shown;
  const id = paidCallIdOf(payload);
  const call = id && (await context.paidCalls.find(id));
  const agent = id && (await findOwing(context.db, address, call?.product));
  if (!agent || (call && call.output !== null) || !isGone(error, agent, call)) throw error;
  const settled = call
    ? await settlementOf(context, shown, call)
    : await settledByQuote(context, shown, { id: agent.id, url: quotedUrl(context, address, agent.address) });
  if (!settled) throw error;
  const { requirements, settlement } = settled;
  const { transaction, payer = call?.payer ?? null } = settlement;
  const { asset, amount } = requirements;
  await upsertDebt(context.db, { id, agentId: agent.id, payer, transaction, requirements: { asset, amount } });
  return debtOutcome(payload, agent.address, id, { requirements, transaction, payer });
}

export interface DebtNeeds extends ClaimNeeds {
  readonly config: Pick<Config, "publicUrl">;
  readonly paidCalls: PaidCalls;
}

/** A payment presented for an agent that cannot be run. */
export interface ShownPayment {
  readonly payload: PaymentPayload;
  /** SHA-256 of what was posted beside it, as a quote has it. */
  readonly bodyDigest: Buffer;
  /** The network address it came from. */
  readonly from: string;
  /** What its quotes name, where that is not the agent's route. */
  readonly resource?: string | undefined;
}

/**
 * How a payment that never came here before was settled for this agent, as a quote of ours shows: the one it carries, or in
 * version 1 one for what was posted beside it. Undefined when none does. Throws ApiError 429 and 503.
 */
export async function settledByQuote(
  context: DebtNeeds,
  { payload, bodyDigest, from, resource }: ShownPayment,
  agent: { readonly id: AgentId; readonly url: string },
) {
  const { payment, version } = payload;
  const paid = paidIn(payload);
  if (!payment || !paid || (version === 2 && !holdsQuote(context, payload, agent.id))) return undefined;
  const unnamed = await requirementsPaying(context, payload, paid);
  if (!unnamed) return undefined;
  context.failedPayments.refuseOverBound(from, payment.payer);
  const verdict = await askVerdict(context, facilitatorRequest(payload, unnamed));
  const presented = { bodyDigest, from, offer: { url: agent.url, resource } };
  const claimed = isSettled(verdict)
    ? await claimQuoted(context, { payload, payment, bought: { product: agent.id }, presented })
    : undefined;
  if (claimed && !("outcome" in claimed)) return claimed;
  if (claimed?.outcome === "unknown") throw new ApiError("unavailable", outcomeUnknown.message, retrySoon);
  context.failedPayments.note(from, payment, reasonOf(verdict));
  return undefined;
}

/** The agent's route as a quote named it for this address: that of now, or of a former handle. */
export function quotedUrl({ config }: Pick<DebtNeeds, "config">, address: string, now: string): string {
  return `${config.publicUrl}/api/agent/${address.toLowerCase() === now.toLowerCase() ? now : address}`;
}

/** A settled call of an agent that does not sell what it sold. */
export function debtOutcome(
  payload: PaymentPayload,
  agent: string,
  { network }: PaidCallId,
  { transaction, payer, requirements }: Pick<PaidCall, "transaction" | "payer" | "requirements">,
): DebtOutcome {
  const { asset, amount } = requirements;
  const settlement: SettleResponse = {
    success: true,
    transaction: transaction ?? "",
    network: payload.networkAsGiven,
    ...(payer !== null && { payer }),
  };
  return { outcome: "debt", debt: { agent, network, transaction: transaction ?? "", asset, amount }, settlement };
}

interface Owing {
  readonly id: AgentId;
  readonly address: string;
  readonly liveVersion: number | null;
  readonly ownerState: string;
}

/** The agent at this address or a former one, whatever its state; if it is known which was paid, only that one. */
async function findOwing(db: Queryable, address: string, product: string | undefined): Promise<Owing | undefined> {
  const [handle = "", slug = ""] = address.toLowerCase().replaceAll("\0", "").split("/");
  const { rows } = await db.query<Owing>(
    `select a.id, a.handle || '/' || a.slug as address, a.live_version as "liveVersion", o.state as "ownerState"
     from handles h join accounts o on o.id = h.account_id join agents a on a.account_id = o.id
     where h.handle = $1 and lower(a.slug) = $2 and a.id = coalesce($3, a.id)`,
    [handle, slug, product],
  );
  return rows[0];
}

function isGone({ code }: ApiError, agent: Owing, call: PaidCall | undefined): boolean {
  if (code === "not_found") return true;
  if (code === "unavailable") return agent.ownerState !== "open";
  // The agent may ask for other input than it did.
  const isInput = code === "bad_request" || code === "invalid_value";
  return isInput && call !== undefined && agent.liveVersion !== call.agentVersion;
}

/** How the payment was settled; undefined when it was not, or cannot be shown to have been. */
async function settlementOf(
  context: DebtNeeds,
  { payload, from }: ShownPayment,
  { requirements, transaction, payer }: PaidCall,
) {
  context.failedPayments.refuseOverBound(from, payload.payment?.payer);
  const request = facilitatorRequest(payload, requirements);
  const verdict = await askVerdict(context, request);
  context.failedPayments.note(from, payload.payment, reasonOf(verdict));
  if (verdict.invalidReason !== "already_settled") return undefined;
  if (transaction !== null) return { requirements, settlement: { transaction, ...(payer !== null && { payer }) } };
  const settlement = await context.facilitator.settle(request);
  const isKnown = settlement?.errorReason === "already_settled" && settlement.transaction !== "";
  return isKnown && isSettledFor(payload, requirements, settlement) ? { requirements, settlement } : undefined;
}

/** The facilitator's verdict, by which nothing of the payer's money stays held. 503 when there is none. */
async function askVerdict({ facilitator }: DebtNeeds, request: string): Promise<VerifyResponse> {
  const verdict = await facilitator.verify(request);
  if (!verdict) {
    const headers = { "retry-after": String(facilitator.retryAfterSeconds) };
    throw new ApiError("unavailable", "The payment cannot be looked up at the moment; try again.", { headers });
  }
  if (verdict.holdId !== undefined) await facilitator.release([verdict.holdId]);
  return verdict;
}

const retrySoon = { headers: { "retry-after": "5" } };
