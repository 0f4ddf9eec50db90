import { createHash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { pendingBody } from "../../shared/request-body.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Output } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { agentWork } from "../payments/agent-call.ts";
import { atomicPerCredit, type Offer, type PaidWork } from "../payments/offer.ts";
import { readProof } from "../payments/proof.ts";
import { sell } from "../payments/sell.ts";
import { readIdempotencyKey } from "../runs/routes.ts";
import { type AskedRun, type RunAnswer, runOnce } from "../runs/run.ts";
import {
  platformAccount,
  prepareSvg,
  type SvgOrder,
  type SvgProduct,
  type SvgResult,
  svgProducts,
} from "./products.ts";
import { generateRequest, vectorizeRequest } from "./request.ts";

/** Turns orders away while the tracer's queue is full, before megabytes of image are read and parsed. */
export function refuseEarly(context: Context): RequestHandler {
  return (_request, _response, next) => {
    refuseWhenBusy(context);
    next();
  };
}

/** POST /api/v1/svg/vectorize */
export function postVectorize(context: Context): RequestHandler {
  return async (request, response) => {
    const asked = parse(vectorizeRequest, request.body ?? {}, "bad_request");
    const order: SvgOrder = { product: "svg-vectorize", request: asked, ownerId: callerOf(response).accountId };
    await answerSvg(context, request, response, order);
  };
}

/** POST /api/v1/svg/generate */
export function postGenerate(context: Context): RequestHandler {
  return async (request, response) => {
    const asked = parse(generateRequest, request.body ?? {}, "bad_request");
    const product = asked.hd ? "svg-generate-hd" : "svg-generate";
    const order: SvgOrder = { product, request: asked, ownerId: callerOf(response).accountId };
    await answerSvg(context, request, response, order);
  };
}

/** Answers with the vector-graphics result and its markup; throws as `runSvg` does. */
async function answerSvg(context: Context, request: Request, response: Response, order: SvgOrder): Promise<void> {
  const idempotencyKey = readIdempotencyKey(request.headers["idempotency-key"]);
  const { result, replayed } = await runSvg(context, callerOf(response), order, { idempotencyKey });
  const answer = await withMarkup(context, result.output as Output);
  if (replayed) response.setHeader("idempotent-replayed", "true");
  response.json(answer);
}

/**
 * An order paid with credits, as the run that succeeded; its output is the result without the markup. Throws ApiError
 * as the specification's table has it: 402 not enough balance, 422 an image that cannot be used, 429 too busy, 5xx
 * upstream; all of them cost nothing.
 */
export async function runSvg(
  context: Context,
  caller: Caller,
  order: SvgOrder,
  more: Pick<AskedRun, "idempotencyKey" | "maxCredits">,
): Promise<RunAnswer> {
  refuseWhenBusy(context);
  const prepared = prepareSvg(context, order);
  const asked = { agent: prepared.agent.address, input: order.request, ...more };
  const answer = await runOnce(context, caller, asked, async () => prepared);
  const { success, output, error = "The drawing failed." } = answer.result;
  if (success && output) return answer;
  throw prepared.failure() ?? new ApiError("upstream_failed", error);
}

/** POST /api/x402/{product}: the same for a payment of a fixed price to the platform. */
export function postPaidSvg(context: Context, product: SvgProduct): RequestHandler {
  const offer = svgOffer(context, product);
  return async (request, response) => {
    const proof = readProof(request.headers);
    const body = pendingBody(response);
    if (typeof proof !== "object") await body.drain();
    const prepare = async () => paidSvgWork(context, product, (await body.json()) ?? {});
    return sell(context, request, response, offer, prepare, { proof });
  };
}

/** What one payment of the product's price buys; throws what is wrong with the input. */
export function paidSvgWork(context: Context, product: SvgProduct, input: unknown): PaidWork {
  refuseWhenBusy(context);
  const order = readPaidOrder(product, input);
  const prepared = prepareSvg(context, order);
  const digest = createHash("sha256")
    .update(JSON.stringify([product, order.request]))
    .digest();
  return { ...agentWork(context, prepared, {}), digest, present: (output) => withMarkup(context, output) };
}

/** Layers and wide HD cost more to make than the fixed price: refused before the payment is looked at. */
function readPaidOrder(product: SvgProduct, input: unknown): SvgOrder {
  const ownerId = platformAccount;
  if (product === "svg-vectorize") {
    const request = parse(vectorizeRequest, input, "bad_request");
    if (request.layers) throw keyOnly("layers");
    return { product, request, ownerId };
  }
  const request = { ...parse(generateRequest, input, "bad_request"), hd: product === "svg-generate-hd" };
  if (request.layers) throw keyOnly("layers");
  if (request.hd && request.aspect === "wide") throw keyOnly("aspect");
  return { product, request, ownerId };
}

function keyOnly(field: string): ApiError {
  const what = field === "layers" ? "Object layers are" : "Wide HD is";
  return new ApiError("bad_request", `"${field}": ${what} available with an API key only. Nothing was charged.`, {
    body: { field },
  });
}

function refuseWhenBusy({ tracers }: Context): void {
  if (!tracers.full) return;
  const headers = { "retry-after": "10" };
  throw new ApiError("rate_limited", "Too many drawings are being made at the moment.", { headers });
}

/** Runs keep the result without its markup; that is in the file. */
async function withMarkup(context: Context, output: Output): Promise<SvgResult & { svg: string }> {
  const data = (output as { data: SvgResult }).data;
  return { svg: await readMarkup(context, data.url), ...data };
}

export async function readMarkup({ tools }: Context, url: string): Promise<string> {
  const { bytes } = await tools.files.read(url.slice(url.lastIndexOf("/") + 1));
  return bytes.toString("utf8");
}

export function svgOffer({ config }: Context, product: SvgProduct): Offer {
  const schema = product === "svg-vectorize" ? vectorizeRequest : generateRequest;
  const { id, name, price } = svgProducts[product];
  const example =
    product === "svg-vectorize" ? { image: "https://example.com/logo.png" } : { prompt: "A fox made of paper" };
  return {
    product: id,
    url: `${config.publicUrl}/api/x402/${product}`,
    description: name,
    amount: price * atomicPerCredit,
    wallets: () => config.platformWallets,
    input: { schema: z.toJSONSchema(schema, { io: "input" }), example },
  };
}
