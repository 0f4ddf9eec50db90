import type { Files } from "../../files/files.ts";
import { type AgentId, newId } from "../../ids.ts";
import type { FacilitatorClient } from "../facilitator/client.ts";
import type { PlaceOfCall, UnsettledCall } from "./paid-call.ts";
import { isOnRecordFor, recordOf } from "./recorded-terms.ts";
import { stateOf } from "./states.ts";
import type { PaidCalls } from "./store.ts";

/**
 * The job that records settlements which nobody lived to record: the copy that had a payment settled ended before it kept the
 * transaction, and the buyer has not come back. From then on it is a sale of its seller, and its result waits for the buyer or is owed
 * (debts.ts). The facilitator's record tells, and only of payments that it had settled for the terms of this call: any other may have
 * bought something else. Each call is asked about once its end is known, by every copy. Where it was not settled, the files of its result
 * are removed: any payer could fill the seller's room with what nobody pays for. Should it be settled after all, its agent runs again.
 */
export function recordSettlements(context: RecordingNeeds): (stopping: AbortSignal) => Promise<void> {
  const waiting: UnsettledCall[] = [];
  let place: PlaceOfCall | undefined;
  return async (stopping) => {
    if (waiting.length < waitingMax) {
      const { calls, next } = await context.paidCalls.findUnsettled(callsPerRound, place);
      waiting.push(...calls);
      place = next;
    }
    for (let asked = Math.min(waiting.length, callsPerRound); asked > 0 && !stopping.aborted; asked -= 1) {
      const call = waiting.shift() as UnsettledCall;
      // Behind the others: one that cannot be looked up keeps none of them waiting.
      const askAgain = () => {
        if (call.begunAt.getTime() > Date.now() - waitsMs) waiting.push(call);
      };
      const isOver = await recordIfSettled(context, call).catch((error: unknown) => {
        askAgain();
        throw error;
      });
      if (!isOver) askAgain();
    }
  };
}

export interface RecordingNeeds {
  readonly facilitator: Pick<FacilitatorClient, "paymentState">;
  readonly paidCalls: PaidCalls;
  readonly tools: { readonly files: Pick<Files, "removeOf"> };
}

/** False while its end is not known. Throws when the facilitator does not answer. */
async function recordIfSettled(context: RecordingNeeds, call: UnsettledCall): Promise<boolean> {
  const { facilitator, paidCalls, tools } = context;
  const { id, requirements } = call;
  const record = await recordOf(facilitator, id);
  if (record === undefined || record.state === "failed") {
    const runId = await paidCalls.dropFiles(id);
    if (runId) await tools.files.removeOf(runId);
    return true;
  }
  if (record.state !== "settled" || record.transaction === null) return false;
  if (!(await isOnRecordFor(facilitator, id, requirements, record))) return true;
  const leased = await paidCalls.acquireLease(id, newId("run"), "recording");
  if (!leased) return !(await paidCalls.find(id))?.leased;
  const { transaction, payer } = record;
  const state = stateOf(leased);
  if (state === "ran") {
    await paidCalls.conclude({ ...leased, transaction, payer }, null);
    return true;
  }
  if (state === "begun") {
    const debtor = call.product.startsWith("agt_") ? (call.product as AgentId) : undefined;
    await paidCalls.keepTransaction(leased, { transaction, payer, debtor, requirements });
  }
  await paidCalls.releaseLease(leased);
  return true;
}

/** A minute. More than a few addresses may present that buy nothing (LIMIT_FAILED_PROOFS_PER_ADDRESS), a tenth of what a facilitator answers. */
const callsPerRound = 300;
const waitingMax = 1_000;
/** From the beginning of the call. A payment whose end is not known for so long is told to its buyer alone. */
const waitsMs = 86_400_000;
