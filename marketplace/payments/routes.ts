import type { Request, RequestHandler, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import { type PaymentRequirements, paymentHeaders, type SettleResponse } from "../../shared/x402.ts";
import { findLiveAgent, type LiveAgent, ownerOf } from "../agents/find.ts";
import type { Context } from "../context.ts";
import { newId } from "../ids.ts";
import { executeRun } from "../runs/execute.ts";
import { type PreparedRun, prepareRun } from "../runs/prepare.ts";
import { closeRun, openRun } from "../runs/record.ts";
import { encodeHeader, readProof } from "./proof.ts";
import { quoteOf } from "./quote.ts";
import { type Redemption, redeem } from "./redeem.ts";
import { termsFor, termsOf } from "./terms.ts";

/**
 * POST /api/agent/{handle}/{slug}: without a proof of payment a 402 with the quote, with one the agent's result. Input
 * is read before the payment is looked at, so that no refusal of it costs anything.
 */
export function postPaidCall(context: Context): RequestHandler {
  return async (request, response) => {
    const address = `${request.params.handle}/${request.params.slug}`;
    const agent = await findLiveAgent(context, address);
    const url = `${context.config.publicUrl}/api/agent/${agent.address}`;
    if (agent.version.priceCredits === 0n)
      return answerFree(context, await prepare(context, request, address), response);

    const proof = readProof(request.headers);
    if (proof === undefined || typeof proof === "string") {
      ownerOf(agent);
      return sendQuote(response, agent, url, await termsOf(context, agent), proof ?? "Payment is required.");
    }
    const prepared = await prepare(context, request, address);
    const requirements = await termsFor(context, prepared.agent, proof);
    if (!requirements) {
      const error = `Payment on ${proof.network} is not offered.`;
      return sendQuote(response, agent, url, await termsOf(context, agent), error);
    }
    const redemption = await redeem(context, prepared, proof, requirements, response.locals.receivedAt);
    if (redemption.outcome !== "refused") return answer(response, redemption);
    if (redemption.settlement) setSettlementHeaders(response, redemption.settlement);
    const error = `${redemption.reason}: ${redemption.message}`;
    return sendQuote(response, agent, url, await termsOf(context, agent), error);
  };
}

/** Notes when a post of a payment came in, before its body is awaited. */
export const noteArrival: RequestHandler = (_request, response, next) => {
  response.locals.receivedAt = new Date();
  next();
};

function prepare(context: Context, request: Request, address: string): Promise<PreparedRun> {
  const body: unknown = request.body ?? {};
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError("bad_request", "The body must be a JSON object of the agent's input fields.");
  }
  return prepareRun(context, address, body as Record<string, unknown>);
}

function sendQuote(
  response: Response,
  agent: LiveAgent,
  url: string,
  terms: readonly PaymentRequirements[],
  error: string,
): void {
  const { body, header } = quoteOf({ agent, url, terms, error });
  response.status(402).setHeader(paymentHeaders.quoteV2, header).json(body);
}

async function answer(response: Response, redemption: Exclude<Redemption, { outcome: "refused" }>): Promise<void> {
  switch (redemption.outcome) {
    case "delivered": {
      // The buyer hung up: the same payment fetches the result.
      if (response.socket?.destroyed !== false) return redemption.undelivered();
      const { runId, output, receipt, settlement } = redemption.result;
      setSettlementHeaders(response, settlement);
      response.json({ success: true, run_id: runId, output, receipt });
      return;
    }
    case "failed": {
      const { error, runId, charged } = redemption;
      const advice = charged
        ? "The payment was settled and stays good: post the same proof again to run again without paying."
        : "Nothing was charged.";
      response.status(500).json({ success: false, run_id: runId, error, charged, advice });
      return;
    }
    case "unknown":
      response.status(503).setHeader("retry-after", "5").json({ error: redemption.message });
  }
}

function setSettlementHeaders(response: Response, settlement: SettleResponse): void {
  const text = encodeHeader(settlement);
  response.setHeader(paymentHeaders.resultV1, text).setHeader(paymentHeaders.resultV2, text);
}

/** A free agent simply answers. */
async function answerFree(context: Context, prepared: PreparedRun, response: Response): Promise<void> {
  const { agent } = prepared;
  const id = newId("run");
  await openRun(context.db, {
    id,
    agentId: agent.id,
    agentVersion: agent.version.number,
    priceCredits: 0n,
    leaseMs: context.config.runLeaseMs,
  });
  context.leases.keep(id);
  const work = executeRun(context, { runId: id, prepared }).finally(() => context.leases.end(id));
  const outcome = await context.inFlight.track(work);
  await closeRun(context.db, id, outcome);
  if (outcome.success) {
    response.json({ success: true, run_id: id, output: outcome.output, receipt: outcome.receipt ?? null });
  } else {
    response.status(500).json({ success: false, run_id: id, error: outcome.error });
  }
}
