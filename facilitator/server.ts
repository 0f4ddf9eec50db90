import type { Express, RequestHandler, Response } from "express";
import helmet from "helmet";
import { ApiError } from "../shared/errors.ts";
import { createApp, errorHandler, noStore, notFound, requestId } from "../shared/http.ts";
import { jsonBody } from "../shared/request-body.ts";
import type { Context } from "./context.ts";
import { extensionResponses } from "./discovery/extension-responses.ts";
import { listingQuery, listResources } from "./discovery/listing.ts";
import { searchQuery, searchResources } from "./discovery/search.ts";
import { health, readiness } from "./health.ts";
import type { LimitedVerb } from "./limits/call-limits.ts";
import { clientCalling } from "./limits/clients.ts";
import { ReadLimits } from "./limits/read-limits.ts";
import { metricsText } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import { payment, paymentQuery } from "./payments.ts";
import { readQuery } from "./query.ts";
import { release } from "./release.ts";
import { type Settled, settle } from "./settle.ts";
import { stats, statsQuery } from "./stats.ts";
import { supported } from "./supported.ts";
import { transactions, transactionsQuery } from "./transactions.ts";
import { verify } from "./verify.ts";

const bodyBytesMax = 64 * 1024;
const publicForAMinute = "public, max-age=60";

/** The route table of the daemon. */
export function createServer(context: Context): Express {
  const app = createApp(context.config);
  const body = jsonBody({ bytesMax: bodyBytesMax });
  app.post("/verify", noStore, limited(context, "verify"), body, async (request, response) => {
    const answer = await verify(context, request.body);
    reportExtensions(context, response, request.body, answer.isValid);
    response.json(answer);
  });
  app.post("/settle", noStore, limited(context, "settle"), body, async (request, response) => {
    const settled = await settle(context, request.body);
    reportExtensions(context, response, request.body, settled.response.success);
    await send(response, settled);
  });
  app.post("/release", noStore, limited(context, "release"), body, async (request, response) => {
    response.json(await release(context, request.body));
  });
  app.use(requestId, helmet());
  const reading = limitedReads(context);
  app.get("/supported", reading, (_request, response) => {
    response.json(supported(context));
  });
  app.get("/health", noStore, async (_request, response) => {
    const { healthy, body } = await health(context);
    response.status(healthy ? 200 : 503).json(body);
  });
  app.get("/livez", noStore, (_request, response) => {
    response.json({ status: "ok" });
  });
  app.get("/readyz", noStore, async (_request, response) => {
    const state = await readiness(context);
    response.status(state.ready ? 200 : 503).json(state);
  });
  app.get("/stats", reading, noStore, async (request, response) => {
    response.json(await stats(context, readQuery(statsQuery, request.query)));
  });
  app.get("/transactions", reading, noStore, async (request, response) => {
    response.json(await transactions(context, readQuery(transactionsQuery, request.query)));
  });
  app.get("/payments/:transaction", reading, noStore, async (request, response) => {
    response.json(await payment(context, String(request.params.transaction), readQuery(paymentQuery, request.query)));
  });
  app.get("/metrics", noStore, async (_request, response) => {
    response.type("text/plain; version=0.0.4").send(await metricsText(context));
  });
  app.get("/discovery/resources", reading, async (request, response) => {
    const listing = await listResources(context, readQuery(listingQuery, request.query), request.query);
    response.set("cache-control", publicForAMinute).json(listing);
  });
  app.get("/discovery/search", reading, async (request, response) => {
    const found = await searchResources(context, readQuery(searchQuery, request.query), request.query);
    response.set("cache-control", publicForAMinute).json(found);
  });
  const document = openApiDocument();
  app.get("/openapi.json", reading, (_request, response) => {
    response.json(document);
  });
  app.use(notFound);
  app.use("/verify", errorHandler(context.log, verifyShape));
  app.use("/settle", errorHandler(context.log, settleShape));
  app.use(errorHandler(context.log));
  return app;
}

/** 429 for a client or an address that calls too often, before its body is read. */
function limited({ limits, config }: Context, verb: LimitedVerb): RequestHandler {
  return async (request, _response, next) => {
    const client = clientCalling(config.clients, request.headers.authorization);
    const seconds = await (client ? limits.ofClient(verb, client) : limits.ofAddress(verb, request.ip ?? ""));
    if (seconds !== undefined) throw tooMany(`calls of /${verb}`, seconds, client ? "client" : "address");
    next();
  };
}

/** The same for everything that is only read. Probes and the operator's own figures are not limited. */
function limitedReads({ config }: Context): RequestHandler {
  const limits = new ReadLimits(config.limits.readPerAddress);
  return (request, _response, next) => {
    const seconds = limits.ofAddress(request.ip ?? "");
    if (seconds !== undefined) throw tooMany("calls", seconds);
    next();
  };
}

function tooMany(what: string, seconds: number, who = "address"): ApiError {
  const headers = { "retry-after": String(Math.max(1, seconds)) };
  return new ApiError("rate_limited", `Too many ${what} from this ${who}.`, { headers });
}

function reportExtensions({ config }: Context, response: Response, body: unknown, paid: boolean): void {
  const report = extensionResponses(body, paid, config.discovery);
  if (report !== undefined) response.setHeader("EXTENSION-RESPONSES", report);
}

/** A success whose caller hung up before it was written stays to be had by the caller's one retry. */
async function send(response: Response, { response: body, undelivered }: Settled): Promise<void> {
  if (undelivered && response.socket?.destroyed !== false) return undelivered();
  response.json(body);
}

/** Stock clients read the outcome fields even from an error answer. */
function verifyShape(error: ApiError): object {
  const invalidReason = error.status < 500 ? "invalid_payload" : "unexpected_verify_error";
  return { error: error.message, ...error.body, isValid: false, invalidReason, invalidMessage: error.message };
}

function settleShape(error: ApiError): object {
  const errorReason = error.status < 500 ? "invalid_payload" : "unexpected_settle_error";
  const settlement = { success: false, errorReason, errorMessage: error.message, transaction: "", network: "" };
  return { error: error.message, ...settlement, ...error.body };
}
