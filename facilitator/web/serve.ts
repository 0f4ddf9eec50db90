import { type Request, type RequestHandler, type Response, Router } from "express";
import { ApiError } from "../../shared/errors.ts";
import { type Environment, toCaip2 } from "../../shared/networks.ts";
import { serveAssets } from "../../shared/page/assets.ts";
import { assetsFor } from "../../shared/page/bundle.ts";
import { requestUrl } from "../../shared/request-url.ts";
import { pagesInTurns } from "../../shared/turns.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { environments } from "../settlements/scope.ts";
import { browserSources, builtAssets } from "./browser-sources.ts";
import { wantsPage } from "./errors.tsx";
import { type Frame, sendView } from "./frame.tsx";
import type { Page, Raw, Visit } from "./page.ts";
import { type SiteNeeds, servedEnvironments, sitePages } from "./site.ts";

export interface Site {
  readonly pages: readonly Page[];
  readonly frame: Frame;
}

export function createSite(context: SiteNeeds, endpoints: readonly Endpoint[]): Site {
  const frame = {
    assets: assetsFor(browserSources, builtAssets),
    environments: servedEnvironments(context),
    environmentOf: context.config.environmentOf,
  };
  return { pages: sitePages(context, frame.environments, endpoints), frame };
}

/**
 * Serves the pages and what they load. It comes before the endpoints: where both have a path, requests for HTML
 * get the page and all others go on to the endpoint.
 */
export function siteRouter({ pages, frame }: Site, limit: RequestHandler): Router {
  const router = Router();
  const turns = pagesInTurns();
  router.use("/assets", serveAssets(frame.assets));
  for (const page of pages) {
    const show: RequestHandler = async (request, response, next) => {
      if (page.isAlsoJson) {
        response.vary("accept");
        if (!wantsPage(request)) return next("route");
      }
      next();
    };
    const route = router.route(page.path.replaceAll(/\{(\w+)\}/g, ":$1"));
    route.get(show, limit, turns, (request, response) => answer(frame, page, request, response));
    if (page.isAlsoJson) continue;
    route.all((request) => {
      throw new ApiError("method_not_allowed", `${request.method} is not possible here.`, {
        headers: { allow: "GET, HEAD" },
      });
    });
  }
  return router;
}

async function answer(frame: Frame, page: Page, request: Request, response: Response): Promise<void> {
  const url = requestUrl(request.originalUrl);
  const env = envOf(url.searchParams, frame);
  const params = Object.entries(request.params).map(([name, value]) => [name, String(value)]);
  const visit: Visit = {
    request,
    path: url.pathname,
    params: Object.fromEntries(params),
    query: url.searchParams,
    env,
    origin: originOf(request),
    assets: await frame.assets(),
  };
  const shown = await page.show(visit);
  if ("redirect" in shown) response.redirect(303, shown.redirect);
  else if ("content" in shown) sendRaw(response, shown);
  else await sendView(frame, { request, response, view: shown, env });
}

function sendRaw(response: Response, { type, content, headers = {} }: Raw): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.type(type).send(content);
}

/** The environment asked for, read as the endpoint of this address reads it: by the network where `env` is not given. */
function envOf(query: URLSearchParams, { environments: served, environmentOf }: Frame): Environment {
  const asked = query.get("env") ?? "";
  const network = query.get("network") ?? "";
  if (asked === "") return network === "" ? (served[0] ?? "mainnet") : environmentOf(toCaip2(network));
  const env = environments.find((one) => one === asked);
  if (!env) throw new ApiError("bad_request", "env must be one of mainnet, testnet.", { body: { field: "env" } });
  return env;
}

/** The origin by which the caller names us; a placeholder where the Host header cannot be a name. */
function originOf(request: Request): string {
  const host = request.get("host") ?? "";
  return /^[\w.:[\]-]{1,255}$/.test(host) ? `${request.protocol}://${host}` : "https://facilitator.example";
}
