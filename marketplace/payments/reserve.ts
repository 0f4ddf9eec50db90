import { Refusal } from "../connectors/refusal.ts";
import type { Context } from "../context.ts";
import { admitOrRefuse } from "../rate-limit.ts";
import { answerOf } from "../runs/precheck.ts";
import type { PaidWork } from "./offer.ts";
import type { Held } from "./paid-calls.ts";

/**
 * Whether what was paid for, or is about to be, can work now; reserves what it will use up. A payment that is not settled
 * yet is as good as new after a refusal, which is thrown as the call's answer; of one that is settled the refusal is the
 * result. Looking things up costs the marketplace something and the payer nothing, so each payer has so many a minute.
 */
export async function reserve(context: Context, work: PaidWork, held: Held): Promise<Refusal | undefined> {
  const { id, runId, payer, transaction } = held;
  try {
    await admitOrRefuse(context.db, `precheck:${payer ?? id.key}`, checksPerMinute);
    await work.reservation?.take({ id, runId });
    return undefined;
  } catch (error) {
    if (transaction === null) await context.paidCalls.forget(held);
    if (!(error instanceof Refusal)) throw error;
    if (transaction === null) throw answerOf(error);
    return error;
  }
}

const checksPerMinute = 120;
