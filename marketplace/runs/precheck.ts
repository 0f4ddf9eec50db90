import { ApiError } from "../../shared/errors.ts";
import { ConnectorFailure } from "../connectors/connector.ts";
import { notNow, Refusal } from "../connectors/refusal.ts";
import type { Context } from "../context.ts";
import { ModelCharge } from "../models/model-charge.ts";
import type { AskedExecution } from "./execute.ts";

/**
 * What every rail asks of a call whose effect cannot be taken back, when its buyer is known to be good for the price and
 * before any money moves: throws Refusal if it cannot work, and reserves what it will use up until `reservations.end`.
 * An effect under this key that was begun already is not asked about again.
 */
export async function precheck(context: Needs, asked: Omit<AskedExecution, "deadlineMs">): Promise<void> {
  const { runId, prepared, buyerId, effectKey = runId } = asked;
  const { agent, input } = prepared;
  const ask = agent.version.precheck;
  if (!ask) return;
  const { tools, reservations } = context;
  const begun = effectKey === runId ? undefined : await tools.effects.find(effectKey);
  if (begun && begun.state !== "void") return;
  const signal = AbortSignal.timeout(precheckMs);
  const { id, ownerId } = agent;
  const call = {
    ...input,
    signal,
    runId,
    effectKey,
    modelCharge: ModelCharge.free(),
    agent: { id, ownerId },
    ...(buyerId && { buyerId }),
  };
  const spending = await Promise.race([ask(call, tools), overtime(signal)]).catch(asRefusal);
  await reservations.take(effectKey, id, spending);
}

/** For rails that have nothing to put back. */
export function answerRefusal(error: unknown): never {
  throw error instanceof Refusal ? answerOf(error) : error;
}

/** A refusal as the answer of a rail on which nothing was charged. */
export function answerOf({ code, message, field, retryAfterSeconds }: Refusal): ApiError {
  return new ApiError(code, message, {
    body: { ...(field !== undefined && { field }), charged: false },
    headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
  });
}

type Needs = Pick<Context, "tools" | "reservations">;

const precheckMs = 10_000;

function overtime(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(notNow("It could not be checked in time; try again shortly.", 5)));
  });
}

/** Whatever a connector could not find out is no reason to take money. */
function asRefusal(error: unknown): never {
  if (error instanceof Refusal || !(error instanceof ConnectorFailure)) throw error;
  throw notNow(error.message, 30);
}
