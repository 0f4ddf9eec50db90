import type { Request, RequestHandler, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import { pendingBody } from "../../shared/request-body.ts";
import { findAgentSoldPerCall, findWithdrawnAgent, type LiveAgent } from "../agents/find.ts";
import type { Context } from "../context.ts";
import { type PreparedRun, prepareAgent } from "../runs/prepare.ts";
import { agentOffer, agentWork, requireModelFunds } from "./agent-call.ts";
import { holdsQuote } from "./authority.ts";
import { runFree } from "./free-run.ts";
import { giveUp } from "./head-start.ts";
import { owedInstead } from "./owed.ts";
import { type Proof, paidCallIdOf, readProof } from "./proof.ts";
import { answerOwed, sell } from "./sell.ts";

/** POST /api/agent/{handle}/{slug}: the agent's result for a payment to its creator. A free agent simply answers. */
export function postPaidCall(context: Context): RequestHandler {
  return async (request, response) => {
    const address = `${request.params.handle}/${request.params.slug}`;
    const proof = readProof(request.headers);
    await callAgent(context, request, response, address, proof).catch(async (error: unknown) =>
      answerOwed(response, await owedInstead(context, proof, address, error)),
    );
  };
}

async function callAgent(
  context: Context,
  request: Request,
  response: Response,
  address: string,
  proof: Proof | string | undefined,
): Promise<void> {
  const body = pendingBody(response);
  if (typeof proof === "object") await body.json();
  const from = request.ip ?? "";
  const early = typeof proof === "object" ? context.headStart.verify(address, proof, from) : undefined;
  try {
    let isWithdrawn = false;
    const agent = await findAgentSoldPerCall(context, address).catch((error) => {
      isWithdrawn = true;
      return findPaidFor(context, proof, address, error);
    });
    if (agent.version.priceCredits === 0n) {
      await context.anonymousLimits.admitFreeCall(from, agent.id);
      return await answerFree(context, prepareAgent(agent, inputIn(await body.json())), response);
    }
    await requireModelFunds(context, agent, proof);
    const offer = { ...agentOffer(context, agent), isWithdrawn };
    if (!isWithdrawn) context.headStart.note(address, offer);
    if (typeof proof !== "object") await body.drain();
    const work = async () => {
      const given = inputIn(await body.json());
      return agentWork(context, prepareAgent(agent, given), given);
    };
    return await sell(context, request, response, offer, work, { proof, early });
  } catch (error) {
    await giveUp(context, early);
    throw error;
  }
}

/** An agent that is off the market still owes what was paid for before; for everybody else it is not there. */
async function findPaidFor(
  context: Context,
  proof: Proof | string | undefined,
  address: string,
  error: unknown,
): Promise<LiveAgent> {
  const isGone = error instanceof ApiError && error.code === "not_found";
  if (!isGone || typeof proof !== "object") throw error;
  const id = paidCallIdOf(proof);
  const [agent, call] = await Promise.all([findWithdrawnAgent(context, address), id && context.paidCalls.find(id)]);
  if (!agent || !(call?.product === agent.id || holdsQuote(context, proof, agent.id))) throw error;
  return agent;
}

function inputIn(body: unknown = {}): Record<string, unknown> {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new ApiError("bad_request", "The body must be a JSON object of the agent's input fields.");
}

async function answerFree(context: Context, prepared: PreparedRun, response: Response): Promise<void> {
  const { runId, outcome } = await runFree(context, prepared);
  if (outcome.success) {
    response.json({ success: true, run_id: runId, output: outcome.output, receipt: outcome.receipt ?? null });
  } else {
    response.status(500).json({ success: false, run_id: runId, error: outcome.error });
  }
}
