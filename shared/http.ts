import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import express, {
  type ErrorRequestHandler,
  type Express,
  type NextFunction,
  type Request,
  type Response,
} from "express";
import { BodyBudget, smallBodyBytes } from "./body-budget.ts";
import { type CountedRequest, coalescingRequest } from "./coalescing-request.ts";
import { limitConnections } from "./connection-limits.ts";
import { ApiError } from "./errors.ts";
import { type HttpLimits, usualHttpLimits } from "./http-limits.ts";
import { Leaving } from "./leaving.ts";
import { closeWithoutReading } from "./lingering-close.ts";
import type { Log } from "./log.ts";
import { Pipelining } from "./pipelining.ts";
import { isDatabaseAway, isTransient } from "./postgres.ts";
import type { Running } from "./process.ts";
import { ReadingTurns } from "./reading-turns.ts";
import { RequestTurns } from "./turns.ts";
import { endUnreadAnswers } from "./unread-answers.ts";

/** An Express application with the settings every service shares. `trustProxy` is Express' own setting of that name. */
export function createApp(options: { trustProxy: string | number | boolean; http?: HttpLimits }): Express {
  const app = express();
  const { http = usualHttpLimits } = options;
  app.locals.httpLimits = http;
  app.locals.bodyBudget = new BodyBudget(http);
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("trust proxy", options.trustProxy);
  app.set("query parser", "simple");
  return app;
}

export function noStore(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader("cache-control", "no-store");
  next();
}

/** Names each request, so that an answer and its log lines can be brought together. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers["x-request-id"];
  const id = typeof given === "string" && /^[\w.-]{8,64}$/.test(given) ? given : randomUUID();
  response.locals.requestId = id;
  response.setHeader("x-request-id", id);
  next();
}

export function notFound(request: Request): never {
  throw new ApiError("not_found", `There is nothing at ${request.method} ${request.path}.`);
}

/**
 * The one place that turns what was thrown into an answer. Bodies are `{error}` plus what the error carries; the
 * cause stays in the log.
 */
export function errorHandler(log: Log, { shape = plainShape, page, failed }: ErrorForms = {}): ErrorRequestHandler {
  return (thrown, request, response, next) => {
    const error = asApiError(thrown);
    if (error.status >= 500) {
      log.error(
        { err: error.cause ?? thrown, requestId: response.locals.requestId, path: request.path },
        error.message,
      );
      const { method, path } = request;
      const cause = error.cause ?? thrown;
      failed?.({ id: String(response.locals.requestId), method, path, status: error.status, cause });
    }
    if (response.headersSent) return next(thrown);
    if (error.code === "too_slow" || isLargelyUnread(request)) closeUnread(request, response);
    if (error.code === "unavailable") response.setHeader("retry-after", retryUsuallySeconds);
    for (const [name, value] of Object.entries(error.headers)) response.setHeader(name, value);
    response.status(error.status);
    if (!page?.isWanted(request)) return void response.json(shape(error));
    page.send(error, request, response).catch((cause: unknown) => {
      log.error(
        { err: cause, requestId: response.locals.requestId, path: request.path },
        "an error could not be shown",
      );
      response.json(shape(error));
    });
  };
}

export interface ErrorForms {
  /** The body for programs; `{error}` and what the error carries when left out. */
  readonly shape?: (error: ApiError) => object;
  readonly page?: ErrorPage;
  /** Is told of what answers with a fault of the service's own. */
  readonly failed?: (failed: FailedRequest) => void;
}

export interface FailedRequest {
  /** The request's id, as the answer carries it. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly cause: unknown;
}

/** Errors for people, where a browser asked. */
export interface ErrorPage {
  isWanted(request: Request): boolean;
  /** Ends the answer. */
  send(error: ApiError, request: Request, response: Response): Promise<void>;
}

/** Listens on `host:port` (0 = any free port). */
export async function listen(app: Express, options: { host: string; port: number }): Promise<Listening> {
  const trusts = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  const isProxy = (address: string) => trusts(address, 0);
  const reading = new ReadingTurns(isProxy);
  // Node would answer a request without a Host itself, uncounted.
  const server = createServer({ ...messagesOf(app, reading), ...timeouts, requireHostHeader: false });
  reading.watch(server);
  const { connectionsPerAddress, unreadSeconds } = app.locals.httpLimits as HttpLimits;
  const pipelining = new Pipelining(server, (socket) => markUsed(socket));
  const markUsed = limitConnections(server, connectionsPerAddress, {
    isProxy,
    isIdle: (socket) => pipelining.isIdle(socket),
  });
  endUnreadAnswers(server, unreadSeconds);
  const leaving = new Leaving(server, pipelining.exchanges);
  app.locals.leaving = leaving;
  const turns = new RequestTurns();
  server.on("request", (request, response) => {
    pipelining.take(response, () => {
      leaving.note(response);
      const refusal = hostRefusal(request);
      if (refusal !== undefined) return refuseHosts(response, refusal);
      turns.take((request as Request).ip ?? "", response, () => app(request, response));
    });
  });
  // Node would answer these itself, uncounted.
  server.on("checkExpectation", (_request, response) => {
    pipelining.take(response, () => response.writeHead(417).end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(describeListenError(error, options)));
    server.listen(options.port, options.host, 1024, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`,
    port,
    leave: async (drainMs) => {
      leaving.begin();
      await pause(drainMs);
    },
    stop: () => leaving.close(),
  };
}

/** Whether the copy that was asked is about to stop, and a balancer should send it no more requests. */
export function isLeaving({ app }: Request): boolean {
  return (app.locals.leaving as Leaving | undefined)?.begun ?? false;
}

/** How long a request may take to arrive; looked at every two seconds. Between requests a connection may wait longer. */
const timeouts = {
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 65_000,
};

/** With two hosts, a proxy may have gone by one and we by the other (RFC 9112 §3.2: 400). HTTP/1.0 needs none. */
function hostRefusal({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === "host") hosts += 1;
  }
  if (hosts > 1) return severalHosts;
  return hosts === 0 && httpVersion === "1.1" ? "The request has no Host header." : undefined;
}

export const severalHosts = "The request has more than one Host header.";

function refuseHosts(response: ServerResponse, error: string): void {
  const headers = { "content-type": "application/json; charset=utf-8", connection: "close" };
  response.writeHead(400, headers).end(JSON.stringify({ error }));
}

/** A large part of the body is still to come, and no handler will read it; or no more of it is read. */
function isLargelyUnread({ complete, headers, hasTooManyChunks }: CountedRequest): boolean {
  if (hasTooManyChunks) return true;
  if (complete) return false;
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > smallBodyBytes;
}

/** Has the connection end with this answer, instead of the rest of the body being read to be thrown away. */
function closeUnread(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("connection", "close");
  // A body in small chunks would be thousands of objects per read of the connection, each many times larger than its chunk.
  request.push = () => false;
  // Node would read on after the answer, to its end, where no handler began to; it has no public way to be told not to.
  Object.assign(request, { _read: () => undefined, _dump: () => undefined });
  // Lets go of what has come.
  request.read();
  closeWithoutReading(request.socket);
}

/** After what is away for a moment, where the error does not say more. */
const retryUsuallySeconds = 5;

/**
 * The application's requests and responses, of their kind from the start. Express makes them so by changing the prototype
 * of each, and an object whose prototype has changed is slow to read and write from then on.
 */
function messagesOf(app: Express, reading: ReadingTurns) {
  const Request = coalescingRequest(reading);
  class Response extends ServerResponse {}
  app.request = Object.setPrototypeOf(Request.prototype, app.request);
  app.response = Object.setPrototypeOf(Response.prototype, app.response);
  return { IncomingMessage: Request, ServerResponse: Response };
}

export interface Listening extends Running {
  readonly url: string;
  readonly port: number;
  /** Says by `/readyz` that a balancer should send no more requests here, and answers those that come for so long all the same. */
  leave(drainMs: number): Promise<void>;
  /** Refuses new connections and waits for running requests. */
  stop(): Promise<void>;
}

function plainShape(error: ApiError): object {
  return { error: error.message, ...error.body };
}

/** Everything unknown is our own bug and says nothing to the caller. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const { status } = thrown as { status?: number };
  if (isDatabaseAway(thrown)) {
    const retry = { headers: { "retry-after": "2" }, cause: thrown };
    return new ApiError("unavailable", "The service cannot reach its database; try again shortly.", retry);
  }
  if (isTransient(thrown)) {
    const retry = { headers: { "retry-after": "1" }, cause: thrown };
    return new ApiError("unavailable", "Others change the same at this moment; try again shortly.", retry);
  }
  if (thrown instanceof URIError || status === 400) return new ApiError("bad_request", "The request is malformed.");
  return new ApiError("internal", "Something went wrong on our side.", { cause: thrown });
}

function describeListenError(error: NodeJS.ErrnoException, { host, port }: { host: string; port: number }): Error {
  if (error.code !== "EADDRINUSE") return error;
  return new Error(`port ${port} on ${host} is taken by another program`, { cause: error });
}
