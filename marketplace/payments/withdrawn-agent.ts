import { ApiError } from "../../shared/errors.ts";
import { type FindNeeds, findWithdrawnAgent, type LiveAgent } from "../agents/find.ts";
import { holdsQuote } from "./paid-calls/authority.ts";
import { type DebtNeeds, quotedUrl, type ShownPayment, settledByQuote } from "./paid-calls/debt-of-call.ts";
import { paidCallIdOf } from "./payment-payload.ts";

/**
 * An agent that its creator took off the market still owes what was paid for before: the agent, for a caller who shows a payment for it. Throws
 * `error`, why there is no live one, for all other callers.
 */
export async function findPaidFor(
  context: WithdrawnNeeds,
  shown: ShownPayment | undefined,
  address: string,
  error: unknown,
): Promise<LiveAgent> {
  const isGone = error instanceof ApiError && error.code === "not_found";
  if (!isGone || !shown) throw error;
  const { payload } = shown;
  const id = paidCallIdOf(payload);
  const [agent, call] = await Promise.all([findWithdrawnAgent(context, address), id && context.paidCalls.find(id)]);
  if (!agent) throw error;
  if (call?.product === agent.id || holdsQuote(context, payload, agent.id)) return agent;
  // Version 1 carries no quote: whether there was one for this body takes a question.
  const url = quotedUrl(context, address, agent.address);
  if (call || payload.version === 2 || !(await settledByQuote(context, shown, { id: agent.id, url }))) throw error;
  return agent;
}

/** Whether an agent that is free now owes a result for this payment: it was settled for the agent and has bought none yet. */
export async function owes(
  context: WithdrawnNeeds,
  shown: ShownPayment | undefined,
  agent: LiveAgent,
  address: string,
): Promise<boolean> {
  if (!shown) return false;
  const id = paidCallIdOf(shown.payload);
  const call = id && (await context.paidCalls.find(id));
  if (call) return call.product === agent.id && call.transaction !== null && call.output === null;
  const url = quotedUrl(context, address, agent.address);
  return (await settledByQuote(context, shown, { id: agent.id, url })) !== undefined;
}

export type WithdrawnNeeds = FindNeeds & DebtNeeds;
