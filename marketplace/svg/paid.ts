import type { RequestHandler } from "express";
import { z } from "zod";
import { clientOf } from "../../shared/client-address.ts";
import { ApiError } from "../../shared/errors.ts";
import { pendingBody } from "../../shared/request-body.ts";
import { digestOfText, ownTurn } from "../../shared/turns.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { agentWork } from "../payments/agent-call.ts";
import { runFree } from "../payments/free-run.ts";
import { atomicPerCredit, type Offer, type PaidWork } from "../payments/offer.ts";
import { type Proof, paidCallIdOf, readProof } from "../payments/proof.ts";
import { sell } from "../payments/sell.ts";
import {
  isDrawnByStandIn,
  platformAccount,
  prepareSvg,
  type SvgOrder,
  type SvgProduct,
  type SvgResult,
  svgProducts,
} from "./products.ts";
import { generateRequest, paidRequests, vectorizeRequest } from "./request.ts";
import { withMarkup } from "./routes.ts";

/** POST /api/x402/{product}: a drawing for a payment of a fixed price to the platform. */
export function postPaidSvg(context: Context, product: SvgProduct): RequestHandler {
  const offer = svgOffer(context, product);
  return async (request, response) => {
    const proof = readProof(request.headers);
    const body = pendingBody(response);
    const from = request.ip ?? "";
    if (!(await isSold(context, product, proof))) {
      const drawn = await drawUnsold(context, product, await body.json(), from);
      if (drawn) return void response.json(drawn);
    } else if (typeof proof !== "object") await body.drain();
    const prepare = async () => paidSvgWork(context, product, (await body.json()) ?? {}, from);
    return sell(context, request, response, offer, prepare, { proof });
  };
}

/**
 * Whether it is sold at all: not while nothing but a stand-in would draw it, unless it was paid for before. Throws ApiError
 * 503 when nobody can say, so that nobody pays for a price that was told meanwhile.
 */
export async function isSold(context: Context, product: SvgProduct, proof: Proof | string | undefined) {
  const isPaidBefore = async () => {
    const id = typeof proof === "object" ? paidCallIdOf(proof) : undefined;
    return id !== undefined && (await context.paidCalls.find(id)) !== undefined;
  };
  try {
    return !(await isDrawnByStandIn(context, product)) || (await isPaidBefore());
  } catch (error) {
    if (await isPaidBefore()) return true;
    throw error;
  }
}

/**
 * What a stand-in draws for a whole order, for nothing: no payment is asked for, and none that came is taken. Undefined for
 * what is no order, such as a question for the price. Throws ApiError when the drawing fails.
 */
export async function drawUnsold(
  context: Context,
  product: SvgProduct,
  input: unknown,
  from: string,
): Promise<(SvgResult & { svg: string }) | undefined> {
  const order = readOrNot(product, input ?? {}, from);
  if (!order) return undefined;
  await context.anonymousLimits.admitFreeCall(from, svgProducts[product].id);
  context.tracers.admit(order.party);
  const prepared = prepareSvg(context, order, { free: true });
  const { outcome } = await runFree(context, prepared);
  if (outcome.success) return withMarkup(context, outcome.output);
  throw prepared.failure() ?? new ApiError("upstream_failed", outcome.error);
}

/** What one payment of the product's price buys; throws what is wrong with the input. `from` is the buyer's address. */
export async function paidSvgWork(
  context: Context,
  product: SvgProduct,
  input: unknown,
  from: string,
): Promise<PaidWork> {
  const order = readPaidOrder(product, input, from);
  context.tracers.admit(order.party);
  const prepared = prepareSvg(context, order, { free: false });
  await ownTurn();
  const digest = await digestOfText(JSON.stringify([product, order.request]));
  return { ...agentWork(context, prepared, {}), digest, present: (output) => withMarkup(context, output) };
}

function readOrNot(product: SvgProduct, input: unknown, from: string): SvgOrder | undefined {
  try {
    return readPaidOrder(product, input, from);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** What costs more to make than the fixed price is refused before the payment is looked at, saying where it can be had. */
function readPaidOrder(product: SvgProduct, input: unknown, from: string): SvgOrder {
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

const keyOnly = (what: string) => `${what} available with an API key only: POST /api/v1/svg/generate or vectorize.`;

function elsewhere(field: string, where: string): ApiError {
  return new ApiError("bad_request", `"${field}": ${where} Nothing was charged.`, { body: { field } });
}

export function svgOffer({ config }: Context, product: SvgProduct): Offer {
  const { id, name, price } = svgProducts[product];
  const example =
    product === "svg-vectorize" ? { image: "https://example.com/logo.png" } : { prompt: "A fox made of paper" };
  return {
    product: id,
    url: `${config.publicUrl}/api/x402/${product}`,
    description: name,
    amount: price * atomicPerCredit,
    wallets: () => config.platformWallets,
    input: { schema: z.toJSONSchema(paidRequests[product], { io: "input" }), example },
  };
}
