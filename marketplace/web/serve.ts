import { type Request, type RequestHandler, type Response, Router } from "express";
import { ApiError } from "../../shared/errors.ts";
import { type Assets, serveAssets } from "../../shared/page/assets.ts";
import { assetsFor } from "../../shared/page/bundle.ts";
import { readForm, readFormWithFiles } from "../../shared/page/form-body.ts";
import { requestUrl } from "../../shared/request-url.ts";
import { pagesInTurns } from "../../shared/turns.ts";
import { limitPublic } from "../anonymous-limits.ts";
import type { Context } from "../context.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { requireSameOrigin } from "../http/same-origin.ts";
import { browserSources, builtAssets } from "./browser-sources.ts";
import { type Frame, sendView } from "./frame.tsx";
import type { Page, Shown, Submit, SubmitWithFiles, Visit } from "./page.ts";
import { sitePages } from "./site.ts";
import { siteFiles } from "./site-files.ts";
import { seenAnew, viewerOf } from "./viewer.ts";

export interface Site {
  readonly pages: readonly Page[];
  readonly frame: Frame;
}

export function createSite(context: Context, endpoints: readonly Endpoint[]): Site {
  const pages = sitePages(context, endpoints);
  const endpointPaths = endpoints.map(({ path }) => path);
  const known = new Set([...pages.map(({ path }) => path), ...endpointPaths]);
  const { publicUrl, facilitatorPublicUrl: facilitator } = context.config;
  const assets = assetsFor(browserSources, builtAssets);
  const standing = () => context.status.seen()?.status;
  return { pages, frame: { publicUrl, assets, facilitator, has: (path) => known.has(path), standing } };
}

/** Serves the pages and what they load. It comes after the API's endpoints, so that their paths stay theirs. */
export function siteRouter(context: Context, { pages, frame }: Site): Router {
  const router = Router();
  router.use("/assets", serveAssets(frame.assets));
  const limit = limitPublic(context, "pages");
  const turns = pagesInTurns();
  router.use(siteFiles(context, pages, limit));
  const sameOrigin = requireSameOrigin(context);
  for (const page of pages) {
    const route = router.route(page.path.replaceAll(/\{(\w+)\}/g, ":$1"));
    route.get(limit, turns, handlerOf(context, frame, page.show));
    const { submit } = page;
    if (submit) {
      route.post(limit, sameOrigin, handlerOf(context, frame, takerOf(submit)));
    }
    const allow = submit ? "GET, HEAD, POST" : "GET, HEAD";
    route.all((request) => {
      throw new ApiError("method_not_allowed", `${request.method} is not possible here.`, { headers: { allow } });
    });
  }
  // For an address without a page, similar addresses are looked for, within the same limit.
  router.use(limit, turns);
  return router;
}

function handlerOf(context: Context, frame: Frame, answer: (visit: Visit) => Shown | Promise<Shown>): RequestHandler {
  return async (request, response) => {
    const [viewer, assets] = await Promise.all([viewerOf(context, request, response), frame.assets()]);
    const read: Visit["read"] = (work) => (viewer ? work(context.db) : context.reads.run(work));
    const shown = await answer(visitOf({ request, response, viewer, read, assets, has: frame.has }));
    if ("redirect" in shown) response.redirect(303, shown.redirect);
    // The posted form may have cost credits, and the page's head shows the balance.
    else
      await sendView(frame, {
        request,
        response,
        view: shown,
        viewer: await (request.method === "POST" ? seenAnew(context, viewer) : viewer),
      });
  };
}

function takerOf(submit: Submit | SubmitWithFiles): (visit: Visit) => Promise<Shown> {
  if ("take" in submit) {
    return async (visit) => submit.take(visit, await readForm(visit.request, submit.bytesMax));
  }
  return async (visit) => {
    const { request, response } = visit;
    const shown = await submit.before?.(visit);
    return shown ?? submit.takeFiles(visit, await readFormWithFiles(request, response, submit.bytesMax));
  };
}

function visitOf({ request, response, viewer, read, assets, has }: VisitParts): Visit {
  const url = requestUrl(request.originalUrl);
  // PostgreSQL takes no NUL; with U+FFFD in its place it names nothing.
  const params = Object.entries(request.params).map(([name, value]) => [
    name,
    String(value).replaceAll("\0", "\uFFFD"),
  ]);
  return {
    request,
    response,
    path: url.pathname,
    params: Object.fromEntries(params),
    query: url.searchParams,
    viewer,
    read,
    has,
    assets,
  };
}

interface VisitParts {
  readonly request: Request;
  readonly response: Response;
  readonly viewer: Visit["viewer"];
  readonly read: Visit["read"];
  readonly has: Visit["has"];
  readonly assets: Assets;
}
