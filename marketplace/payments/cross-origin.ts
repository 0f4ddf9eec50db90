import type { RequestHandler } from "express";
import { z } from "zod";
import type { Shapes } from "../../shared/endpoint.ts";
import { ApiError } from "../../shared/errors.ts";
import { paymentHeaders } from "../../shared/x402.ts";
import { agentPathParameters } from "../agents/shapes.ts";
import type { Config } from "../config.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { isFromForeignPage } from "../http/same-origin.ts";
import { signInHeader } from "./sign-in-with-x.ts";

/*
 * Pages of other origins may ask for quotes and post payments: the payment is the authorization, and no cookie or key counts on
 * this route. What costs nothing they may not run, or any site could spend it through its visitors, each with an address of its own.
 */

const { payloadV1, payloadV2, requiredV2, responseV1, responseV2 } = paymentHeaders;

/** Headers of every answer to a page. */
const answerHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": [requiredV2, responseV2, responseV1, "Retry-After", "X-Request-Id"].join(", "),
};

const preflightHeaders = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": ["Content-Type", payloadV2, payloadV1, signInHeader].join(", "),
  "access-control-max-age": "7200",
};

/** Notes when a post of a payment came in, before its body is awaited, and lets the page that sent it read the answer. */
export const noteArrivalOfAnyOrigin: RequestHandler = (request, response, next) => {
  response.locals.receivedAt = new Date();
  if (request.headers.origin !== undefined) response.set(answerHeaders);
  next();
};

/** 403 for a free run that a page of another origin asks for. */
export function refuseFreeRunToForeignPage(
  request: Parameters<RequestHandler>[0],
  { publicUrl }: Pick<Config, "publicUrl">,
): void {
  if (!isFromForeignPage(request, publicUrl)) return;
  throw new ApiError("forbidden", "Free agents are run from this service's own pages, or by a program.");
}

/** What a browser asks before it posts a payment for a page of another origin. */
export function preflightEndpoint(): Endpoint {
  return {
    method: "options",
    path: "/api/agent/{handle}/{slug}",
    id: "preflightPayAgent",
    tag: "Pay per call",
    summary: "What a browser asks before a page of another origin pays for a call.",
    description:
      "Pages of any origin may ask for quotes and post payments, without cookies. Free agents are not for them.",
    access: "public",
    pathParameters: agentPathParameters,
    answers: { 204: { description: "The page may post.", headers: documented } },
    handler: (_request, response) => {
      response.set(preflightHeaders).status(204).end();
    },
  };
}

const documented: Shapes = {
  "Access-Control-Allow-Origin": z.string().describe("`*`."),
  "Access-Control-Allow-Headers": z.string().describe("Those a payment is sent in, and `Content-Type`."),
};
