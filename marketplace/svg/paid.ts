import type { Request, Response } from "express";
import { z } from "zod";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import { digestOfJson } from "../../shared/json-digest.ts";
import { pendingBody } from "../../shared/request-body.ts";
import { atomicPerCredit } from "../answers/amounts.ts";
import type { Config } from "../config.ts";
import { dollarText } from "../credits/amount.ts";
import { platformAccount } from "../ids.ts";
import { parse } from "../parse.ts";
import { answerPayment, answerQuote, type PaymentNeeds } from "../payments/http-transport.ts";
import type { PaidRun } from "../payments/paid-calls/redemption.ts";
import { type PaymentPayload, paidCallIdOf, readPaymentHeader } from "../payments/payment-payload.ts";
import type { Offer } from "../payments/quotes/offer.ts";
import { withCharge } from "../payments/refused-input.ts";
import { type FreeRunNeeds, runFree } from "../runs/free-run.ts";
import {
  type DrawNeeds,
  isDrawnByMock,
  prepareSvg,
  type SvgOrder,
  type SvgProduct,
  type SvgResult,
  svgProducts,
} from "./products.ts";
import { exampleOrders, generateRequest, paidRequests, vectorizeRequest } from "./request.ts";
import { withMarkup } from "./run-svg.ts";

/** Answers with a drawing for a payment of the product's fixed price to the platform. */
export async function paySvg(
  context: PaidSvgNeeds,
  offer: Offer,
  product: SvgProduct,
  request: Request,
  response: Response,
): Promise<void> {
  const payload = readPaymentHeader(request.headers);
  await answerOrder(context, offer, product, { payload, request, response }).catch(async (error: unknown) => {
    throw await withCharge(context, error, { payload, from: request.ip ?? "" });
  });
}

async function answerOrder(
  context: PaidSvgNeeds,
  offer: Offer,
  product: SvgProduct,
  { payload, request, response }: Posted,
): Promise<void> {
  const body = pendingBody(response);
  const from = request.ip ?? "";
  if (!(await isSold(context, product, payload))) {
    const drawn = await drawUnsold(context, product, await body.json(), from);
    if (drawn) return void response.json(drawn);
  } else if (typeof payload !== "object") await body.drain();
  if (typeof payload !== "object") return answerQuote(context, { request, response }, offer, payload);
  const work = await paidSvgWork(context, product, (await body.json()) ?? {}, from);
  return answerPayment(context, { request, response }, { offer, work }, { payload });
}

interface Posted {
  readonly payload: PaymentPayload | string | undefined;
  readonly request: Request;
  readonly response: Response;
}

/** What answering with a drawing takes, paid for or for nothing. */
export type PaidSvgNeeds = PaymentNeeds &
  FreeRunNeeds &
  DrawNeeds & { readonly config: Pick<Config, "publicUrl" | "platformWallets"> };

/**
 * Whether it is sold at all: not while only a mock model would draw it, unless it was paid for before. Throws ApiError
 * 503 when that cannot be learnt, so that no buyer pays for a price that was told meanwhile.
 */
export async function isSold(
  context: Pick<PaidSvgNeeds, "config" | "tools" | "paidCalls">,
  product: SvgProduct,
  payload: PaymentPayload | string | undefined,
): Promise<boolean> {
  const isPaidBefore = async () => {
    const id = typeof payload === "object" ? paidCallIdOf(payload) : undefined;
    return id !== undefined && (await context.paidCalls.find(id)) !== undefined;
  };
  try {
    return !(await isDrawnByMock(context, product)) || (await isPaidBefore());
  } catch (error) {
    if (await isPaidBefore()) return true;
    throw error;
  }
}

/**
 * Draws a whole order for nothing where a mock model draws: no payment is asked for, and a payment that came is not taken.
 * Undefined for a body that is no order, such as a question for the price. Throws ApiError when the drawing fails.
 */
export async function drawUnsold(
  context: PaidSvgNeeds,
  product: SvgProduct,
  input: unknown,
  from: string,
): Promise<(SvgResult & { svg: string }) | undefined> {
  refuseLimit(product, input);
  const order = readOrNot(product, input ?? {}, from);
  if (!order) return undefined;
  await context.anonymousLimits.admitFreeCall(from, svgProducts[product].id);
  context.tracers.admit(order.party);
  const prepared = prepareSvg(context, order, { free: true });
  const { outcome } = await runFree(context, prepared, from);
  if (outcome.success) return withMarkup(context, outcome.output, prepared.markup());
  throw prepared.failure() ?? new ApiError("upstream_failed", outcome.error);
}

/** The work that one payment of the product's price buys; throws ApiError on bad input. `from` is the buyer's address. */
export async function paidSvgWork(
  context: DrawNeeds,
  product: SvgProduct,
  input: unknown,
  from: string,
): Promise<PaidRun> {
  const order = readPaidOrder(product, input, from);
  context.tracers.admit(order.party);
  const prepared = prepareSvg(context, order, { free: false });
  const digest = await digestOfJson([product, order.request]);
  const { id, permanent } = prepared.runnable;
  return {
    kind: "run",
    product: id,
    digest,
    permanent,
    prepared,
    present: (output) => withMarkup(context, output, prepared.markup()),
  };
}

function readOrNot(product: SvgProduct, input: unknown, from: string): SvgOrder | undefined {
  try {
    return readPaidOrder(product, input, from);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Reads the order of a fixed-price route. Refuses one that costs more to make before the payment is looked at, and says where it can be had. */
function readPaidOrder(product: SvgProduct, input: unknown, from: string): SvgOrder {
  refuseLimit(product, input);
  const customer = { ownerId: platformAccount, party: `from ${clientOf(from)}` };
  if (product === "svg-vectorize") {
    const request = parse(vectorizeRequest, input, "bad_request");
    if (request.layers) throw elsewhere("layers", keyOnly("Object layers are"));
    return { product, request, ...customer };
  }
  const request = parse(generateRequest, input, "bad_request");
  const hd = product === "svg-generate-hd";
  if (request.layers) throw elsewhere("layers", keyOnly("Object layers are"));
  if ((hd || request.hd) && request.aspect === "wide") throw elsewhere(hd ? "aspect" : "hd", keyOnly("Wide HD is"));
  if (request.hd && !hd) throw elsewhere("hd", "HD is drawn by svg-generate-hd: POST /api/x402/svg-generate-hd.");
  if (hd && (input as { hd?: unknown }).hd === false) {
    throw elsewhere("hd", "Without HD it is drawn by svg-generate: POST /api/x402/svg-generate.");
  }
  return { product, request: { ...request, hd }, ...customer };
}

/** A buyer who sends the limit that credits have means it: it is not left out in silence. */
function refuseLimit(product: SvgProduct, input: unknown): void {
  if (typeof input !== "object" || input === null || !("max_credits" in input)) return;
  const price = dollarText(svgProducts[product].price);
  const where = `is for runs paid with credits. Here the price is fixed, ${price}, and in the quote before you pay.`;
  throw elsewhere("max_credits", where);
}

const keyOnly = (what: string) => `${what} available with an API key only: POST /api/v1/svg/generate or vectorize.`;

function elsewhere(field: string, where: string): ApiError {
  return new ApiError("bad_request", `"${field}": ${where}`, { body: { field } });
}

interface OfferNeeds {
  readonly config: Pick<Config, "publicUrl" | "platformWallets">;
}

export function svgOffer({ config }: OfferNeeds, product: SvgProduct): Offer {
  const { id, does, takes, price } = svgProducts[product];
  return {
    product: id,
    url: `${config.publicUrl}/api/x402/${product}`,
    description: `${does} ${takes}`,
    amount: price * atomicPerCredit,
    wallets: () => config.platformWallets,
    input: { schema: z.toJSONSchema(paidRequests[product], { io: "input" }), example: exampleOrders[product] },
  };
}
