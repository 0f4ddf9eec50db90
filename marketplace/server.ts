import type { Express, RequestHandler } from "express";
import helmet from "helmet";
import { mount, refuseOtherMethods } from "../shared/endpoint.ts";
import { createApp, errorHandler, noStore, notFound, requestId } from "../shared/http.ts";
import { requireOperator } from "./admin/require-operator.ts";
import { limitPublic } from "./anonymous-limits.ts";
import { requireKey } from "./api-keys/require-key.ts";
import type { Context } from "./context.ts";
import { marketplaceEndpoints } from "./endpoints.ts";
import { noteFailedRequests } from "./failed-requests.ts";
import type { Access } from "./http/endpoint.ts";
import { mcpErrors } from "./mcp/endpoints.ts";
import { clientTokens } from "./oauth/client-tokens.ts";
import { requireAccount, requireSession } from "./sign-in/require-session.ts";
import { errorPages } from "./web/errors.tsx";
import { createSite, siteRouter } from "./web/serve.ts";

/** The headers that protect answers which are data and never pages; helmet's other headers would only cost time. */
const apiHeaders: Parameters<typeof helmet>[0] = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

/** Serves every endpoint and every page; what there is to serve stands in endpoints.ts and web/site.ts. */
export function createServer(context: Context): Express {
  const app = createApp(context.config);
  app.use(requestId, helmet(apiHeaders), noStore);

  const endpoints = marketplaceEndpoints(context);
  const guards: Readonly<Record<Access, RequestHandler[]>> = {
    public: [limitPublic(context, "data")],
    unlimited: [],
    apiKey: [requireKey({ ...context, clients: clientTokens(context) })],
    session: requireSession(context),
    account: requireAccount(context),
    operator: requireOperator(context),
  };
  const watched = endpoints.map((endpoint) => ({
    ...endpoint,
    before: [context.metrics.watch(endpoint.id), ...(endpoint.before ?? [])],
  }));
  mount(app, watched, guards, context.tracing);
  refuseOtherMethods(app, endpoints);
  const site = createSite(context, endpoints);
  app.use(siteRouter(context, site));

  const failed = noteFailedRequests(context);
  app.use(["/api/mcp", "/api/x402/mcp"], mcpErrors(context.log, failed));
  app.use(notFound);
  app.use(errorHandler(context.log, { page: errorPages(site.frame, context), failed }));
  return app;
}
