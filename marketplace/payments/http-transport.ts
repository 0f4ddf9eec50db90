import { hash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { statusByCode } from "../../shared/errors.ts";
import { paymentHeaders, type SettleResponse } from "../../shared/x402.ts";
import type { AnonymousLimits } from "../anonymous-limits.ts";
import type { Config } from "../config.ts";
import { sendAnswer } from "../runs/send-answer.ts";
import type { FacilitatorClient } from "./facilitator/client.ts";
import type { PaymentRecordCache } from "./facilitator/payment-record-cache.ts";
import { isMalformed } from "./facilitator/refusal-reasons.ts";
import type { SpeculativeVerdict } from "./facilitator/speculative-verification.ts";
import { type Answer, answerTo } from "./paid-calls/answers.ts";
import { deliver } from "./paid-calls/deliver.ts";
import { type RedeemNeeds, redeem } from "./paid-calls/redeem.ts";
import type { DebtOutcome, PaidWork } from "./paid-calls/redemption.ts";
import { encodeHeader, type PaymentPayload } from "./payment-payload.ts";
import type { Offer } from "./quotes/offer.ts";
import { paymentRequired } from "./quotes/payment-required.ts";
import { quotedRequirements } from "./quotes/payment-requirements.ts";
import type { QuoteIds } from "./quotes/quote-id.ts";
import { type SignInRequest, signInHeader } from "./sign-in-with-x.ts";

/** 402 with a quote, for a request without a payment; `unreadable` says why a payment that came cannot be read. */
export async function answerQuote(
  context: QuoteNeeds,
  exchange: Exchange,
  offer: Offer,
  unreadable: string | undefined,
): Promise<void> {
  await context.anonymousLimits.admitQuote(exchange.request.ip ?? "", offer.url);
  const error = unreadable ?? "Payment is required.";
  await sendQuote(context, exchange, offer, { error, isMalformed: unreadable !== undefined });
}

/**
 * Answers with what the payment buys, or why it buys nothing. The caller has read `work` from the input before: bad input is
 * refused before the payment is used, so that no refusal costs anything.
 */
export async function answerPayment(
  context: PaymentNeeds,
  exchange: Exchange,
  { offer, work }: { readonly offer: Offer; readonly work: PaidWork },
  { payload, speculative }: Paid,
): Promise<void> {
  const { request, response } = exchange;
  const redemption = await redeem(context, work, {
    payload,
    offer,
    bodyDigest: digestOfBody(response),
    signIn: request.headers[signInHeader.toLowerCase()],
    from: request.ip ?? "",
    receivedAt: response.locals.receivedAt,
    ...(speculative && { speculative }),
  });
  switch (redemption.outcome) {
    case "delivered": {
      const present = work.kind === "run" ? work.present : undefined;
      const send = await deliver(context, response, redemption, async ({ runId, output, receipt }) => {
        const presented = await present?.(output);
        if (presented) return () => response.json(presented);
        return () => sendAnswer(response, { success: true, run_id: runId, output, receipt });
      });
      setSettlementHeaders(response, redemption.result.settlement);
      send();
      return;
    }
    case "refused": {
      const { reason, message, signIn, settlement } = redemption;
      if (settlement) setSettlementHeaders(response, settlement);
      const error = `${reason}: ${message}`;
      return sendQuote(context, exchange, offer, { error, signIn, isMalformed: isMalformed(reason) });
    }
    default:
      send(response, answerTo(redemption, replay));
  }
}

/** 410: what was paid for is not there any more. */
export function answerDebt(response: Response, debt: DebtOutcome): void {
  send(response, answerTo(debt, replay));
}

/** Notes when a post of a payment came in, before its body is awaited. */
export const noteArrival: RequestHandler = (_request, response, next) => {
  response.locals.receivedAt = new Date();
  next();
};

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

/** The payment as it was read, and what the facilitator was asked about it ahead. */
interface Paid {
  readonly payload: PaymentPayload;
  readonly speculative?: Promise<SpeculativeVerdict | undefined> | undefined;
}

interface QuoteNeeds {
  readonly config: Pick<Config, "publicUrl">;
  readonly anonymousLimits: AnonymousLimits;
  readonly facilitator: FacilitatorClient;
  readonly quoteIds: QuoteIds;
}

/** What answering a post with or without a payment takes. */
export type PaymentNeeds = QuoteNeeds & RedeemNeeds & { readonly paymentRecords: PaymentRecordCache };

const replay = "Post the same proof";

async function sendQuote(
  context: QuoteNeeds,
  { request, response }: Exchange,
  offer: Offer,
  refused: { readonly error: string; readonly signIn?: SignInRequest | undefined; readonly isMalformed: boolean },
): Promise<void> {
  const { publicUrl } = context.config;
  const v1Names = request.query.x402Version === "1";
  const why = { ...refused, bodyDigest: digestOfBody(response), v1Names, publicUrl };
  const { body, header } = paymentRequired(context.quoteIds, offer, await quotedRequirements(context, offer), why);
  response.status(statusByCode.payment_required).setHeader(paymentHeaders.requiredV2, header).json(body);
}

/** SHA-256 of the body's bytes. */
export function digestOfBody(response: Response): Buffer {
  return response.locals.bodyDigest ?? digestOfNothing;
}

const digestOfNothing = hash("sha256", "", "buffer");

function send(response: Response, { status, headers, body, settlement }: Answer): void {
  if (settlement) setSettlementHeaders(response, settlement);
  response.status(status).set(headers).json(body);
}

function setSettlementHeaders(response: Response, settlement: SettleResponse): void {
  const text = encodeHeader(settlement);
  response.setHeader(paymentHeaders.responseV1, text).setHeader(paymentHeaders.responseV2, text);
}
