import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { ApiError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";

/**
 * Refuses what a foreign web page could have sent: an `Origin` other than the service's own, a change that the browser
 * says comes from another site or a neighbour of this one, or a `Host` that is another owner's name led to this
 * address (DNS rebinding). Clients that are no browsers send neither `Origin` nor `Sec-Fetch-Site`.
 */
export function requireSameOrigin({ config }: SameOriginNeeds): RequestHandler {
  const own = new URL(config.publicUrl);
  return (request, _response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && !isOwnOrigin(origin, own)) throw foreign("Pages of another origin may not call this.");
    if (isForeignChange(request)) throw foreign("Pages of another site may not change anything here.");
    if (!isOwnHost(hostnameOf(request), own)) throw foreign("The service answers under its own public name only.");
    next();
  };
}

/** Whether a page of another origin sent it. Clients that are no browsers send no `Origin`. */
export function isFromForeignPage({ headers: { origin } }: Request, publicUrl: string): boolean {
  return origin !== undefined && !isOwnOrigin(origin, new URL(publicUrl));
}

export interface SameOriginNeeds {
  readonly config: Pick<Config, "publicUrl">;
}

/**
 * For endpoints that only this service's own pages call, beside `requireSameOrigin`: refuses programs too. A browser says where
 * a request comes from, in one of two headers; a request without both is from no browser.
 */
export const requireOwnPage: RequestHandler = ({ headers }, _response, next) => {
  const site = headers["sec-fetch-site"];
  if (site === undefined ? headers.origin === undefined : site !== "same-origin") {
    throw foreign("This is for the pages of this service alone.");
  }
  next();
};

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
