import type { Response } from "express";
import { onceClosed } from "../../../shared/response-closed.ts";
import type { BackgroundWork } from "../../background-work.ts";
import type { Delivered, PaidResult } from "./redemption.ts";
import type { PaidCalls } from "./store.ts";

/**
 * A call's last change of state, from deliverable to delivered. Returns the result as `ready` puts it, which the transport writes to
 * `response` next. It is recorded as delivered once it has left, and not before: whatever becomes of the buyer or of this process
 * until then, the same payment fetches it. The time that is recorded is that before the writing, so that a buyer who has read it
 * cannot pass for one who was still waiting.
 */
export async function deliver<Body>(
  { backgroundWork, paidCalls }: DeliverNeeds,
  response: Response,
  { result, leased }: Delivered,
  ready: (result: PaidResult) => Body | Promise<Body>,
): Promise<Body> {
  const conclude = async (deliveredAt: Date | null) => {
    if (leased) await paidCalls.conclude(leased.call, leased.isHolder ? deliveredAt : null);
  };
  let body: Body;
  try {
    body = await ready(result);
  } catch (error) {
    await conclude(null);
    throw error;
  }
  if (leased) paidCalls.leaving.note(leased.call.id, { transaction: leased.call.transaction, deliveredAt: null });
  const deliveredAt = new Date();
  onceClosed(response, () => backgroundWork.detach(conclude(response.writableFinished ? deliveredAt : null)));
  return body;
}

interface DeliverNeeds {
  readonly backgroundWork: BackgroundWork;
  readonly paidCalls: PaidCalls;
}
