import { ApiError } from "../../shared/errors.ts";
import type { Tools } from "../connectors/connector.ts";
import { notNow, RefusalError } from "../connectors/refusal.ts";
import type { Reservations } from "../connectors/reservations.ts";
import { ConnectorError } from "../connectors/result.ts";
import { ModelCharge } from "../models/model-charge.ts";
import type { AskedExecution } from "./execute.ts";

/**
 * Checks a call whose effect cannot be undone, on every payment method, once its buyer is known to be good for the price and
 * before money moves: throws RefusalError if it cannot work, and reserves what it will use up until `reservations.end`. An effect
 * under this key that was begun already is not checked again.
 */
export async function precheck(context: PrecheckNeeds, asked: Omit<AskedExecution, "deadlineMs">): Promise<void> {
  const { runId, prepared, buyerId, caller = buyerId, effectKey = runId } = asked;
  const { runnable, input } = prepared;
  const ask = runnable.precheck;
  if (!ask) return;
  const { tools, reservations } = context;
  const begun = effectKey === runId ? undefined : await tools.sideEffects.find(effectKey);
  if (begun && begun.state !== "void") return;
  const signal = AbortSignal.timeout(precheckMs);
  const { id, ownerId } = runnable;
  const call = {
    ...input,
    signal,
    runId,
    effectKey,
    modelCharge: ModelCharge.free(),
    agent: { id, ownerId },
    ...(buyerId && { buyerId }),
    ...(caller !== undefined && { caller }),
  };
  const spending = await Promise.race([ask(call, tools), overtime(signal)]).catch(asRefusal);
  await reservations.take(effectKey, id, spending);
}

/** For callers that have nothing to give back. */
export function answerRefusal(error: unknown): never {
  throw error instanceof RefusalError ? answerOf(error) : error;
}

/** A refusal as the answer to a call for which nothing was charged. */
export function answerOf({ code, message, field, retryAfterSeconds }: RefusalError): ApiError {
  return new ApiError(code, message, {
    body: { ...(field !== undefined && { field }), charged: false },
    headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  });
}

export interface PrecheckNeeds {
  readonly tools: Tools;
  readonly reservations: Reservations;
}

const precheckMs = 10_000;

function overtime(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(notNow("It could not be checked in time; try again shortly.", 5)));
  });
}

/** Whatever a connector could not find out is no reason to take money. */
function asRefusal(error: unknown): never {
  if (error instanceof RefusalError || !(error instanceof ConnectorError)) throw error;
  throw notNow(error.message, 30);
}
