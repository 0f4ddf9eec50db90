import type { Express, RequestHandler } from "express";
import helmet from "helmet";
import { ApiError } from "../shared/errors.ts";
import { createApp, errorHandler, noStore, notFound, requestId } from "../shared/http.ts";
import { jsonBody, laterBody } from "../shared/request-body.ts";
import {
  deleteWallet,
  getAccount,
  getWallets,
  patchAccount,
  postAccount,
  postClose,
  postWallet,
  postWalletCheck,
  postWalletProof,
} from "./accounts/routes.ts";
import {
  getOwnAgent,
  getOwnAgents,
  postDefinitionCheck,
  postPublish,
  postTry,
  postUnpublish,
  putDraft,
  putModelBudget,
} from "./agents/own-routes.ts";
import { getAgent, getAgents } from "./agents/routes.ts";
import { requireKey } from "./api-keys/require-key.ts";
import { deleteKey, getKeys, postKey } from "./api-keys/routes.ts";
import { getRewards } from "./connectors/x/routes.ts";
import type { Context } from "./context.ts";
import { getStatement, postTransfer, readBalance } from "./credits/routes.ts";
import { getFile, getFiles, postFileVisibility } from "./files/routes.ts";
import { health } from "./health.ts";
import { mcpErrors, postMcp, postPaidMcp } from "./mcp/routes.ts";
import { getLlmsTxt, getOpenApi } from "./openapi/routes.ts";
import { ownPagesOnly } from "./own-pages.ts";
import { getDebts } from "./payments/debts.ts";
import { postPurchase } from "./payments/purchase.ts";
import { postPaidCall } from "./payments/routes.ts";
import { noteArrival } from "./payments/sell.ts";
import { getRun, getRuns, postRun } from "./runs/routes.ts";
import { requireAccount, requireSession } from "./sign-in/require-session.ts";
import {
  getOidcCallback,
  getSignIn,
  postChallenge,
  postEmail,
  postEmailToken,
  postOidc,
  postSignOut,
  postWalletSignIn,
} from "./sign-in/routes.ts";
import { oidcCallbackPath } from "./sign-in/single-sign-on.ts";
import { postPaidSvg } from "./svg/paid.ts";
import { type SvgProduct, svgProducts } from "./svg/products.ts";
import { postGenerate, postVectorize, refuseEarly } from "./svg/routes.ts";

const runBodyBytesMax = 2_097_152;
const smallBodyBytesMax = 16_384;
const definitionBytesMax = 262_144;
/** Ten megabytes in base64, and the rest of the request. */
const imageBodyBytesMax = 15_000_000;

/** What protects answers that are data and never pages; the rest of helmet's headers would only cost time. */
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

/** The route table. */
export function createServer(context: Context): Express {
  const app = createApp(context.config);
  const key = requireKey(context);
  app.use(requestId, helmet(apiHeaders), noStore);

  route(app, "/health", { get: [health(context)] });
  route(app, "/llms.txt", { get: [getLlmsTxt(context)] });
  route(app, "/api/v1/openapi.json", { get: [getOpenApi(context)] });
  route(app, "/api/v1/run", { post: [key, jsonBody({ bytesMax: runBodyBytesMax }), postRun(context)] });
  route(app, "/api/v1/runs", { get: [key, getRuns(context)] });
  route(app, "/api/v1/runs/:run_id", { get: [key, getRun(context)] });
  route(app, "/api/v1/agents", { get: [key, getAgents(context)] });
  route(app, "/api/v1/agents/:handle/:slug", { get: [key, getAgent(context)] });
  route(app, "/api/agent/:handle/:slug", {
    post: [noteArrival, laterBody({ bytesMax: runBodyBytesMax }), postPaidCall(context)],
  });
  route(app, "/api/v1/balance", { get: [key, readBalance(context)] });
  route(app, "/api/v1/ledger", { get: [key, getStatement(context)] });
  route(app, "/api/v1/credits/purchase", {
    post: [noteArrival, key, laterBody({ bytesMax: smallBodyBytesMax }), postPurchase(context)],
  });
  route(app, "/api/v1/credits/transfer", {
    post: [key, jsonBody({ bytesMax: smallBodyBytesMax }), postTransfer(context)],
  });
  route(app, "/api/v1/svg/vectorize", {
    post: [key, refuseEarly(context), jsonBody({ bytesMax: imageBodyBytesMax }), postVectorize(context)],
  });
  route(app, "/api/v1/svg/generate", { post: [key, jsonBody({ bytesMax: smallBodyBytesMax }), postGenerate(context)] });
  for (const product of Object.keys(svgProducts) as SvgProduct[]) {
    const bytesMax = product === "svg-vectorize" ? imageBodyBytesMax : smallBodyBytesMax;
    route(app, `/api/x402/${product}`, { post: [noteArrival, laterBody({ bytesMax }), postPaidSvg(context, product)] });
  }
  route(app, "/api/mcp", {
    post: [ownPagesOnly(context), key, jsonBody({ bytesMax: imageBodyBytesMax }), postMcp(context)],
  });
  route(app, "/api/v1/rewards", { get: [key, getRewards(context)] });
  route(app, "/api/x402/mcp", {
    post: [noteArrival, ownPagesOnly(context), jsonBody({ bytesMax: imageBodyBytesMax }), postPaidMcp(context)],
  });
  route(app, "/files/:name", { get: [getFile(context)] });
  route(app, "/api/v1/files", { get: [key, getFiles(context)] });
  route(app, "/api/v1/files/:name/hide", { post: [key, postFileVisibility(context, true)] });
  route(app, "/api/v1/files/:name/show", { post: [key, postFileVisibility(context, false)] });

  accountRoutes(app, context);

  app.use(["/api/mcp", "/api/x402/mcp"], mcpErrors(context));
  app.use(notFound);
  app.use(errorHandler(context.log));
  return app;
}

/** Sign-in and the account's settings: by session cookie, and never from another site's page. */
function accountRoutes(app: Express, context: Context): void {
  const ownPages = ownPagesOnly(context);
  const session = requireSession(context);
  const account = requireAccount(context);
  const json = jsonBody({ bytesMax: smallBodyBytesMax, storable: true });
  const definition = jsonBody({ bytesMax: definitionBytesMax, storable: true });

  route(app, "/sign-in", { get: [getSignIn(context)] });
  route(app, "/api/account/sign-in/email", { post: [ownPages, json, postEmail(context)] });
  route(app, "/api/account/sign-in/email/confirm", { post: [ownPages, json, postEmailToken(context)] });
  route(app, "/api/account/sign-in/oidc", { post: [ownPages, json, postOidc(context)] });
  route(app, oidcCallbackPath, { get: [getOidcCallback(context)] });
  route(app, "/api/account/sign-in/wallet/challenge", { post: [ownPages, json, postChallenge(context)] });
  route(app, "/api/account/sign-in/wallet", { post: [ownPages, json, postWalletSignIn(context)] });
  route(app, "/api/account/sign-out", { post: [...session, json, postSignOut(context)] });

  route(app, "/api/account", {
    get: [...session, getAccount(context)],
    post: [...session, json, postAccount(context)],
    patch: [...account, json, patchAccount(context)],
  });
  route(app, "/api/account/close", { post: [...account, json, postClose(context)] });
  route(app, "/api/account/keys", { get: [...account, getKeys(context)], post: [...account, json, postKey(context)] });
  route(app, "/api/account/keys/:id", { delete: [...account, deleteKey(context)] });
  route(app, "/api/account/wallets", {
    get: [...account, getWallets(context)],
    post: [...account, json, postWallet(context)],
  });
  route(app, "/api/account/wallets/:id", { delete: [...account, deleteWallet(context)] });
  route(app, "/api/account/wallets/:id/proof", { post: [...account, json, postWalletProof(context)] });
  route(app, "/api/account/wallets/:id/check", { post: [...account, postWalletCheck(context)] });
  route(app, "/api/account/debts", { get: [...account, getDebts(context)] });
  route(app, "/api/account/agents", { get: [...account, getOwnAgents(context)] });
  route(app, "/api/account/agent-definitions/check", { post: [...account, definition, postDefinitionCheck(context)] });
  route(app, "/api/account/agents/:slug", {
    get: [...account, getOwnAgent(context)],
    put: [...account, definition, putDraft(context)],
  });
  route(app, "/api/account/agents/:slug/publish", { post: [...account, postPublish(context)] });
  route(app, "/api/account/agents/:slug/unpublish", { post: [...account, postUnpublish(context)] });
  route(app, "/api/account/agents/:slug/model-budget", { put: [...account, json, putModelBudget(context)] });
  route(app, "/api/account/agents/:slug/try", {
    post: [...account, jsonBody({ bytesMax: runBodyBytesMax }), postTry(context)],
  });
}

/** A path and its methods; any other method is a 405 that says which there are. */
function route(app: Express, path: string, methods: Partial<Record<Method, RequestHandler[]>>): void {
  const allowed = Object.keys(methods).map((method) => method.toUpperCase());
  const here = app.route(path);
  for (const [method, handlers] of Object.entries(methods)) here[method as Method](...handlers);
  here.all((request) => {
    throw new ApiError("method_not_allowed", `${request.method} is not possible here.`, {
      headers: { allow: (methods.get ? ["HEAD", ...allowed] : allowed).join(", ") },
    });
  });
}

type Method = "get" | "post" | "put" | "patch" | "delete";
