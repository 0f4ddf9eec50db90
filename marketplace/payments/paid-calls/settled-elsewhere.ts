import { ApiError } from "../../../shared/errors.ts";
import type { Queryable } from "../../../shared/postgres.ts";
import { publicUrl, recordedResource, type SettleResponse } from "../../../shared/x402.ts";
import { findAgentInAnyState } from "../../agents/find.ts";
import { addressOfTool } from "../../agents/scope.ts";
import type { FacilitatorClient } from "../facilitator/client.ts";
import type { Offer } from "../quotes/offer.ts";
import type { Asked } from "./redemption.ts";

/**
 * Whether a payment that was settled for no quote of ours bought something else, or may have: anything but this URL, as the
 * facilitator's record says, or something so long ago that it cannot have been meant for this. Otherwise its payer could have it
 * twice. What the record does not have was settled by no caller of this facilitator, or is not known any more: a payer who shows the
 * wallet does not lose it for that. Throws ApiError 503 while it cannot be asked.
 */
export async function isSettledElsewhere(
  { facilitator, db }: RecordNeeds,
  { payment, id, presented, bought }: Paid,
  { landedByAnother }: SettleResponse,
): Promise<boolean> {
  if (payment.expiresAt.getTime() < Date.now() - unquotedGoodForDays * 86_400_000) return true;
  // Said of a payment that this service was the first to ask the facilitator about.
  if (landedByAnother) return false;
  const resource = await facilitator.paidResource(id).catch((cause) => {
    throw recordAway(cause);
  });
  if (resource === undefined) return false;
  if (resource === null) return true;
  const own = publicUrl(presented.offer.url);
  const isOwn = resource === own || resource === recordedResource(presented.offer.resource);
  return !isOwn && (await formerlyOf(db, resource, presented.offer)) !== bought.product;
}

/** 503: the facilitator's record of the payment cannot be asked. */
export function recordAway(cause: unknown): ApiError {
  const message = "What this payment was settled for cannot be looked up at the moment; try again shortly.";
  return new ApiError("unavailable", message, { cause, headers: { "retry-after": "5" } });
}

/** The agent that a resource was under a handle that its creator had; where a tool is offered, the one that had this name as a tool. */
async function formerlyOf(
  db: Queryable,
  resource: string,
  { url, resource: offered }: Offer,
): Promise<string | undefined> {
  if (resource.startsWith(toolUrl) && offered?.startsWith(toolUrl)) {
    const address = await addressOfTool(db, resource.slice(toolUrl.length), "any");
    return address && (await findAgentInAnyState(db, address))?.id;
  }
  const own = publicUrl(url) ?? "";
  const [before] = own.split(agentPath);
  if (before === own || !resource.startsWith(`${before}${agentPath}`)) return undefined;
  return (await findAgentInAnyState(db, resource.slice(`${before}${agentPath}`.length)))?.id;
}

const agentPath = "/api/agent/";
/** What a tool is sold as begins so: `mcp://tool/<name>`. */
export const toolUrl = "mcp://tool/";

/** After the end of its validity, for a payment that was settled for no quote of ours. */
export const unquotedGoodForDays = 7;

type Paid = Pick<Asked, "payment" | "id" | "bought"> & { readonly presented: Pick<Asked["presented"], "offer"> };

export interface RecordNeeds {
  readonly facilitator: Pick<FacilitatorClient, "paidResource">;
  readonly db: Queryable;
}
