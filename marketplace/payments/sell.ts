import { hash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { paymentHeaders, type SettleResponse } from "../../shared/x402.ts";
import type { Context } from "../context.ts";
import { answerOf } from "../runs/precheck.ts";
import { adviceFor } from "./advice.ts";
import { handOut } from "./hand-out.ts";
import type { EarlyVerdict } from "./head-start.ts";
import type { Offer, PaidWork } from "./offer.ts";
import { type Owed, owedText } from "./owed.ts";
import { encodeHeader, type Proof, readProof } from "./proof.ts";
import { quoteOf } from "./quote.ts";
import { redeem } from "./redeem.ts";
import type { Failed, Redemption } from "./redemption.ts";
import { type SignInTerms, signInHeader } from "./sign-in-with-x.ts";
import { quotedTerms } from "./terms.ts";

/**
 * The door of everything that is paid per call: without a proof of payment a 402 with the quote, with one the result.
 * `prepare` reads the input and refuses what is wrong with it before the payment is used, so that no refusal costs
 * anything. What was done ahead need not be done again.
 */
export async function sell(
  context: Context,
  request: Request,
  response: Response,
  offer: Offer,
  prepare: () => Promise<PaidWork>,
  { proof = readProof(request.headers), early }: Ahead = {},
): Promise<void> {
  const digestNow = () => response.locals.bodyDigest ?? emptyDigest;
  const quote = async (error: string, signIn?: SignInTerms) => {
    const why = { error, signIn, bodyDigest: digestNow(), v1Names: request.query.x402Version === "1" };
    const { body, header } = quoteOf(context.quoteIds, offer, await quotedTerms(context, offer), why);
    response.status(402).setHeader(paymentHeaders.quoteV2, header).json(body);
  };
  if (proof === undefined || typeof proof === "string") {
    await context.anonymousLimits.admitQuote(request.ip ?? "", offer.url);
    return quote(proof ?? "Payment is required.");
  }
  const work = await prepare();
  const redemption = await redeem(context, work, {
    proof,
    offer,
    bodyDigest: digestNow(),
    signIn: request.headers[signInHeader.toLowerCase()],
    from: request.ip ?? "",
    receivedAt: response.locals.receivedAt,
    ...(early && { early }),
  });
  if (redemption.outcome !== "refused") return answer(context, response, redemption, work);
  if (redemption.settlement) setSettlementHeaders(response, redemption.settlement);
  return quote(`${redemption.reason}: ${redemption.message}`, redemption.signIn);
}

/** Of a request without a body. */
const emptyDigest = hash("sha256", "", "buffer");

/** The proof as read, and what the facilitator was asked about it. */
interface Ahead {
  readonly proof?: Proof | string | undefined;
  readonly early?: Promise<EarlyVerdict | undefined> | undefined;
}

/** Notes when a post of a payment came in, before its body is awaited. */
export const noteArrival: RequestHandler = (_request, response, next) => {
  response.locals.receivedAt = new Date();
  next();
};

async function answer(
  context: Context,
  response: Response,
  redemption: Exclude<Redemption, { outcome: "refused" }>,
  { present }: PaidWork,
): Promise<void> {
  switch (redemption.outcome) {
    case "delivered": {
      const body = await handOut(context, response, redemption, ({ runId, output, receipt }) =>
        present ? present(output) : { success: true, run_id: runId, output, receipt },
      );
      setSettlementHeaders(response, redemption.result.settlement);
      response.json(body);
      return;
    }
    case "failed":
      return answerFailed(response, redemption);
    case "owed":
      return answerOwed(response, redemption);
    case "unknown":
      response.status(503).setHeader("retry-after", "5").json({ error: redemption.message });
  }
}

function answerFailed(response: Response, { error, runId, settlement, remedy, refusal }: Failed): void {
  const charged = settlement !== undefined;
  if (settlement) setSettlementHeaders(response, settlement);
  const advice = charged ? adviceFor(remedy, "Post the same proof") : "Nothing was charged.";
  if (!refusal) {
    response.status(500).json({ success: false, run_id: runId, error, charged, advice });
    return;
  }
  const { status, headers, body } = answerOf(refusal);
  response
    .status(status)
    .set(headers)
    .json({ error, ...body, charged, advice });
}

/** 410: what was paid for is not there, and owed. */
export function answerOwed(response: Response, { debt, settlement }: Owed): void {
  setSettlementHeaders(response, settlement);
  response.status(410).json({ error: owedText, charged: true, debt });
}

function setSettlementHeaders(response: Response, settlement: SettleResponse): void {
  const text = encodeHeader(settlement);
  response.setHeader(paymentHeaders.resultV1, text).setHeader(paymentHeaders.resultV2, text);
}
