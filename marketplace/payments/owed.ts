import { ApiError } from "../../shared/errors.ts";
import type { Queryable } from "../../shared/postgres.ts";
import type { SettleResponse } from "../../shared/x402.ts";
import type { Context } from "../context.ts";
import type { AgentId } from "../ids.ts";
import { noteDebt } from "./debts.ts";
import type { PaidCall, PaidCallId } from "./paid-calls.ts";
import { facilitatorRequest, type Proof, paidCallIdOf } from "./proof.ts";

/** What an agent owes for a payment, to be told to who presents it. */
export interface Debt {
  /** `handle/slug` */
  readonly agent: string;
  readonly network: string;
  readonly transaction: string;
  readonly asset: string;
  /** Base units of the asset. */
  readonly amount: string;
}

export interface Owed {
  readonly outcome: "owed";
  readonly debt: Debt;
  readonly settlement: SettleResponse;
}

export const owedText =
  "The agent that this payment was settled for is not there any more, or is another one now. What it owes stays on record, " +
  "where its creator sees it too: post the same again when the agent is back, or ask the creator for the money.";

/**
 * Instead of `error`, for a call of an agent that cannot be run: the debt, if the payment was settled for this agent and it
 * never gave a result. The facilitator says whether that is so; anybody else is told what everybody is told.
 */
export async function owedInstead(
  context: Context,
  proof: Proof | string | undefined,
  address: string,
  error: unknown,
): Promise<Owed> {
  if (typeof proof !== "object" || !(error instanceof ApiError)) throw error;
  const id = paidCallIdOf(proof);
  const call = id && (await context.paidCalls.find(id));
  const agent = call && (await findOwing(context.db, address, call.product));
  if (!agent || call.output !== null || !isGone(error, agent, call)) throw error;
  const settlement = await settlementOf(context, proof, call);
  if (!settlement) throw error;
  const { transaction, payer = call.payer } = settlement;
  const { asset, amount } = call.requirements;
  await noteDebt(context.db, { id, agentId: agent.id, payer, transaction, terms: { asset, amount } });
  return owedFor(proof, agent.address, id, { ...call, transaction, payer });
}

/** A settled call of an agent that does not sell what it sold. */
export function owedFor(
  proof: Proof,
  agent: string,
  { network }: PaidCallId,
  { transaction, payer, requirements }: Pick<PaidCall, "transaction" | "payer" | "requirements">,
): Owed {
  const { asset, amount } = requirements;
  const settlement: SettleResponse = {
    success: true,
    transaction: transaction ?? "",
    network: String(proof.paymentPayload.network ?? proof.accepted.network),
    ...(payer !== null && { payer }),
  };
  return { outcome: "owed", debt: { agent, network, transaction: transaction ?? "", asset, amount }, settlement };
}

interface Owing {
  readonly id: AgentId;
  readonly address: string;
  readonly liveVersion: number | null;
  readonly ownerState: string;
}

/** The agent at this address, whatever its state, if it is the one that was paid. */
async function findOwing(db: Queryable, address: string, product: string): Promise<Owing | undefined> {
  const [handle = "", slug = ""] = address.toLowerCase().replaceAll("\0", "").split("/");
  const { rows } = await db.query<Owing>(
    `select a.id, a.handle || '/' || a.slug as address, a.live_version as "liveVersion", o.state as "ownerState"
     from agents a join accounts o on o.id = a.account_id
     where a.id = $1 and lower(a.slug) = $3
       and (lower(a.handle) = $2 or exists (select from handles h where h.handle = $2 and h.account_id = a.account_id))`,
    [product, handle, slug],
  );
  return rows[0];
}

function isGone({ code }: ApiError, agent: Owing, call: PaidCall): boolean {
  if (code === "not_found") return true;
  if (code === "unavailable") return agent.ownerState !== "open";
  // The agent may ask for other input than it did.
  const isInput = code === "bad_request" || code === "invalid_value";
  return isInput && agent.liveVersion !== call.agentVersion;
}

/** How the payment was settled; undefined when it was not, or cannot be shown to have been. */
async function settlementOf({ facilitator }: Context, proof: Proof, call: PaidCall) {
  const request = facilitatorRequest(proof, call.requirements);
  const verdict = await facilitator.verify(request);
  if (!verdict) {
    const headers = { "retry-after": String(facilitator.retryAfterSeconds) };
    throw new ApiError("unavailable", "The payment cannot be looked up at the moment; try again.", { headers });
  }
  if (verdict.invalidReason !== "already_settled") return undefined;
  const settlement = await facilitator.settle(request);
  return settlement?.errorReason === "already_settled" && settlement.transaction !== "" ? settlement : undefined;
}
