import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { ApiError } from "../shared/errors.ts";
import type { Context } from "./context.ts";

/**
 * Refuses what a foreign web page could have sent: an `Origin` other than the service's own, a change that the browser
 * says comes from another site or a neighbour of this one, or a `Host` that is a name of somebody else's led to this
 * address (DNS rebinding). Clients that are no browsers send neither `Origin` nor `Sec-Fetch-Site`.
 */
export function ownPagesOnly({ config }: Pick<Context, "config">): RequestHandler {
  const own = new URL(config.publicUrl);
  return (request, _response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && !isOwnOrigin(origin, own)) throw foreign("Pages of another origin may not call this.");
    if (isForeignChange(request)) throw foreign("Pages of another site may not change anything here.");
    if (!isOwnHost(hostnameOf(request), own)) throw foreign("The service answers under its own public name only.");
    next();
  };
}

/** A page of ours is "same-origin"; "none" is the person's own doing. A developer's page elsewhere may do without a cookie. */
function isForeignChange({ method, headers }: Request): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined || site === "same-origin" || site === "none") return false;
  if (method === "GET" || method === "HEAD") return false;
  return headers.cookie !== undefined || headers.origin === undefined;
}

/** An address or a loopback name cannot be rebound; any other name must be ours. */
function isOwnHost(hostname: string, own: URL): boolean {
  const bare = hostname.replace(/^\[|\]$/g, "");
  return hostname === own.hostname || hostname === "localhost" || isIP(bare) > 0;
}

/** A service at a loopback address takes pages from there, whatever their port: they are the developer's own. */
function isOwnOrigin(origin: string, own: URL): boolean {
  if (!URL.canParse(origin)) return false;
  const { hostname, origin: asked } = new URL(origin);
  return asked === own.origin || (loopback.has(own.hostname) && loopback.has(hostname));
}

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);

function hostnameOf(request: Request): string {
  return (request.hostname ?? "").toLowerCase();
}

function foreign(message: string): ApiError {
  return new ApiError("forbidden", message);
}
