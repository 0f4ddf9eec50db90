import type { Request, Response } from "express";
import { ApiError, statusByCode } from "../../shared/errors.ts";
import { pendingBody } from "../../shared/request-body.ts";
import { findAgentSoldPerCall } from "../agents/find.ts";
import { type FreeRunNeeds, runFree } from "../runs/free-run.ts";
import { type PreparedRun, prepareAgent } from "../runs/prepare.ts";
import { sendAnswer } from "../runs/send-answer.ts";
import { agentOffer, agentWork, requireModelFunds } from "./agent-call.ts";
import { refuseFreeRunToForeignPage } from "./cross-origin.ts";
import { releaseSpeculative, type SpeculativeVerification } from "./facilitator/speculative-verification.ts";
import {
  answerDebt,
  answerPayment,
  answerQuote,
  digestOfBody,
  type Exchange,
  type PaymentNeeds,
} from "./http-transport.ts";
import { debtInstead, quotedUrl, type ShownPayment } from "./paid-calls/debt-of-call.ts";
import { type PaymentPayload, paidCallIdOf, readPaymentHeader } from "./payment-payload.ts";
import { withCharge } from "./refused-input.ts";
import { findWaitingResult } from "./waiting-result.ts";
import { findPaidFor, owes, type WithdrawnNeeds } from "./withdrawn-agent.ts";

/** Answers with the agent's result for a payment to its creator. A free agent simply answers. */
export async function payAgent(context: PayAgentNeeds, request: Request, response: Response): Promise<void> {
  const address = `${request.params.handle}/${request.params.slug}`;
  const payload = readPaymentHeader(request.headers);
  const exchange = { request, response };
  await callAgent(context, exchange, address, payload).catch(async (error: unknown) => {
    if (response.headersSent) throw error;
    if (await answerWaiting(context, exchange, address, payload).catch(() => false)) return;
    answerDebt(response, await debtInstead(context, shownIn(exchange, payload), address, error));
  });
}

/** Answers with the result that waits for the buyer of this payment; false where there is none. */
async function answerWaiting(
  context: PayAgentNeeds,
  exchange: Exchange,
  address: string,
  payload: PaymentPayload | string | undefined,
): Promise<boolean> {
  if (typeof payload !== "object") return false;
  const given = inputIn(await pendingBody(exchange.response).json());
  const waiting = await findWaitingResult(context, address, payload, given);
  if (waiting) await answerPayment(context, exchange, waiting, { payload });
  return waiting !== undefined;
}

/** Finding the agent, answering for nothing, for a payment, or with the debt of one. */
export type PayAgentNeeds = FreeRunNeeds &
  PaymentNeeds &
  WithdrawnNeeds & { readonly speculativeVerification: SpeculativeVerification };

function shownIn(
  { request, response }: Exchange,
  payload: PaymentPayload | string | undefined,
): ShownPayment | undefined {
  if (typeof payload !== "object") return undefined;
  return { payload, bodyDigest: digestOfBody(response), from: request.ip ?? "" };
}

async function callAgent(
  context: PayAgentNeeds,
  exchange: Exchange,
  address: string,
  payload: PaymentPayload | string | undefined,
): Promise<void> {
  const { request, response } = exchange;
  const body = pendingBody(response);
  const from = request.ip ?? "";
  let speculative: ReturnType<SpeculativeVerification["verify"]> | undefined;
  let isRedeemed = false;
  try {
    if (typeof payload === "object") {
      await body.json();
      speculative = context.speculativeVerification.verify(address, payload, from);
    }
    let isWithdrawn = false;
    const agent = await findAgentSoldPerCall(context, address).catch((error) => {
      isWithdrawn = true;
      context.speculativeVerification.forget(address);
      return findPaidFor(context, shownIn(exchange, payload), address, error);
    });
    if (agent.version.priceCredits === 0n) {
      context.speculativeVerification.forget(address);
      if (typeof payload === "object") await context.speculativeVerification.giveUp(speculative, payload, from);
      // Answers a payment from before the agent became free.
      if (await answerWaiting(context, exchange, address, payload)) return;
      if (!(await owes(context, shownIn(exchange, payload), agent, address))) {
        refuseFreeRunToForeignPage(request, context.config);
        await context.anonymousLimits.admitFreeCall(from, agent.id);
        return await answerFree(context, prepareAgent(agent, inputIn(await body.json())), exchange);
      }
      isWithdrawn = true;
    }
    await requireModelFunds(context, agent, typeof payload === "object" ? paidCallIdOf(payload) : "none");
    const offer = isWithdrawn
      ? { ...agentOffer(context, agent), url: quotedUrl(context, address, agent.address), isWithdrawn }
      : agentOffer(context, agent);
    if (!isWithdrawn) context.speculativeVerification.note(address, offer);
    if (typeof payload !== "object") {
      await body.drain();
      return await answerQuote(context, exchange, offer, payload);
    }
    const work = agentWork(agent, inputIn(await body.json()));
    isRedeemed = true;
    return await answerPayment(context, exchange, { offer, work }, { payload, speculative });
  } catch (error) {
    const isRefused = error instanceof ApiError && error.status < 500;
    if (typeof payload !== "object") throw await withCharge(context, error, { payload, from });
    if (isRefused && !isRedeemed) await context.speculativeVerification.giveUp(speculative, payload, from);
    else await releaseSpeculative(context, speculative);
    throw isRedeemed ? error : await withCharge(context, error, { payload, from, speculative });
  }
}

function inputIn(body: unknown = {}): Record<string, unknown> {
  if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw new ApiError("bad_request", "The body must be a JSON object of the agent's input fields.");
}

async function answerFree(
  context: PayAgentNeeds,
  prepared: PreparedRun,
  { request, response }: Exchange,
): Promise<void> {
  const { runId, outcome } = await runFree(context, prepared, request.ip ?? "");
  if (outcome.success) {
    sendAnswer(response, { success: true, run_id: runId, output: outcome.output, receipt: outcome.receipt ?? null });
  } else {
    response.status(statusByCode.internal).json({ success: false, run_id: runId, error: outcome.error });
  }
}
