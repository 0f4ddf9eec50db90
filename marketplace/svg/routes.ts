import type { Request, RequestHandler, Response } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Caller } from "../api-keys/authenticate.ts";
import { callerOf } from "../api-keys/require-key.ts";
import type { Output } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import { parse } from "../parse.ts";
import { readIdempotencyKey } from "../runs/routes.ts";
import { type AskedRun, type RunAnswer, runOnce } from "../runs/run.ts";
import {
  type Customer,
  isDrawnByStandIn,
  type PreparedSvg,
  prepareSvg,
  type SvgOrder,
  type SvgResult,
  svgAddress,
} from "./products.ts";
import { generateRequest, vectorizeRequest } from "./request.ts";

/** Turns orders away for which the drawing queue has no room, before megabytes of image are read and parsed. */
export function refuseEarly({ tracers }: Context): RequestHandler {
  return (_request, response, next) => {
    tracers.admit(callerOf(response).accountId);
    next();
  };
}

/** POST /api/v1/svg/vectorize */
export function postVectorize(context: Context): RequestHandler {
  return async (request, response) => {
    const asked = parse(vectorizeRequest, request.body ?? {}, "bad_request");
    const order: SvgOrder = { product: "svg-vectorize", request: asked, ...customerOf(callerOf(response)) };
    await answerSvg(context, request, response, order);
  };
}

/** POST /api/v1/svg/generate */
export function postGenerate(context: Context): RequestHandler {
  return async (request, response) => {
    const asked = parse(generateRequest, request.body ?? {}, "bad_request");
    const product = asked.hd ? "svg-generate-hd" : "svg-generate";
    const order: SvgOrder = { product, request: asked, ...customerOf(callerOf(response)) };
    await answerSvg(context, request, response, order);
  };
}

/** All keys of one account stand in one line. */
export function customerOf({ accountId }: Caller): Customer {
  return { ownerId: accountId, party: accountId };
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
 * upstream; all of them cost nothing. Nor does what a stand-in draws without a model.
 */
export async function runSvg(
  context: Context,
  caller: Caller,
  order: SvgOrder,
  more: Pick<AskedRun, "idempotencyKey" | "maxCredits">,
): Promise<RunAnswer> {
  let prepared: PreparedSvg | undefined;
  const asked = { agent: svgAddress(order.product), input: order.request, ...more };
  const answer = await runOnce(context, caller, asked, async () => {
    context.tracers.admit(order.party);
    prepared = prepareSvg(context, order, { free: await isDrawnByStandIn(context, order.product) });
    return prepared;
  });
  const { success, output, error = "The drawing failed." } = answer.result;
  if (success && output) return answer;
  throw prepared?.failure() ?? new ApiError("upstream_failed", error);
}

/** Runs keep the result without its markup; that is in the file. */
export async function withMarkup(context: Context, output: Output): Promise<SvgResult & { svg: string }> {
  const data = (output as { data: SvgResult }).data;
  return { svg: await readMarkup(context, data.url), ...data };
}

export async function readMarkup({ tools }: Context, url: string): Promise<string> {
  const { bytes } = await tools.files.read(url.slice(url.lastIndexOf("/") + 1));
  return bytes.toString("utf8");
}
