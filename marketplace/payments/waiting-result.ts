import type { Queryable } from "../../shared/postgres.ts";
import { type FindNeeds, findAgentInAnyState } from "../agents/find.ts";
import type { Config } from "../config.ts";
import { agentOffer, keptWork } from "./agent-call.ts";
import { quotedUrl } from "./paid-calls/debt-of-call.ts";
import type { PaidRun } from "./paid-calls/redemption.ts";
import type { PaidCalls } from "./paid-calls/store.ts";
import { type PaymentPayload, paidCallIdOf } from "./payment-payload.ts";
import type { Offer } from "./quotes/offer.ts";

/**
 * What a payment bought whose result is kept for its buyer, as the version of the agent sold it that made the result: whatever
 * became of the agent since, and whatever it costs or asks for now. Undefined where no result is kept for this input.
 */
export async function findWaitingResult(
  context: WaitingNeeds,
  address: string,
  payload: PaymentPayload,
  given: Readonly<Record<string, unknown>>,
): Promise<{ readonly offer: Offer; readonly work: PaidRun } | undefined> {
  const id = paidCallIdOf(payload);
  const call = id && (await context.paidCalls.find(id));
  if (!call || call.output === null || call.agentVersion === null) return undefined;
  const row = await findAgentInAnyState(context.db, address);
  if (row?.id !== call.product) return undefined;
  const version = await context.versions.load(row.id, call.agentVersion);
  // Nothing is run for its creator any more, so it makes no difference what became of their account.
  const owner = { handleLeadsTo: row.ownerId, ownerState: "open" };
  const agent = { ...row, ...owner, address: `${row.handle}/${row.slug}`, version };
  const work = workOf(agent, given);
  if (!work?.digest.equals(call.digest)) return undefined;
  return {
    work,
    offer: { ...agentOffer(context, agent), url: quotedUrl(context, address, agent.address), isWithdrawn: true },
  };
}

export interface WaitingNeeds extends Pick<FindNeeds, "versions"> {
  readonly config: Pick<Config, "publicUrl">;
  readonly db: Queryable;
  readonly paidCalls: PaidCalls;
}

/** Undefined for an input that could not be its. */
function workOf(...asked: Parameters<typeof keptWork>): PaidRun | undefined {
  try {
    return keptWork(...asked);
  } catch {
    return undefined;
  }
}
