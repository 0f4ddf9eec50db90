import type { Express, RequestHandler } from "express";
import helmet from "helmet";
import { mount } from "../shared/endpoint.ts";
import type { ApiError } from "../shared/errors.ts";
import { createApp, errorHandler, type FailedRequest, notFound, requestId } from "../shared/http.ts";
import type { Context } from "./context.ts";
import { facilitatorEndpoints } from "./endpoints.ts";
import type { Access } from "./http/endpoint.ts";
import { limitReads } from "./limits/guards.ts";
import { errorPages } from "./web/errors.tsx";
import { createSite, siteRouter } from "./web/serve.ts";

/** The daemon's HTTP interface: the endpoints of endpoints.ts, and what they answer when something is thrown. */
export function createServer(context: Context): Express {
  const app = createApp(context.config);
  const { hot, others } = facilitatorEndpoints(context);
  const { valkey, tracing } = context;
  const { readPerAddress } = context.config.limits;
  const guards: Readonly<Record<Access, readonly RequestHandler[]>> = {
    // Counted by verb, so each endpoint has its own.
    payments: [],
    reads: [limitReads("data", readPerAddress, valkey)],
    unlimited: [],
  };
  mount(app, hot, guards, tracing);
  app.use(requestId, helmet());
  const site = createSite(context, [...hot, ...others]);
  app.use(siteRouter(site, limitReads("pages", readPerAddress, valkey)));
  mount(app, others, guards, tracing);
  app.use(notFound);
  app.use("/verify", errorHandler(context.log, { shape: verifyErrorBody, failed: countFailed(context, "verify") }));
  app.use("/settle", errorHandler(context.log, { shape: settleErrorBody, failed: countFailed(context, "settle") }));
  app.use(errorHandler(context.log, { page: errorPages(site.frame) }));
  return app;
}

const countFailed =
  ({ metrics }: Context, verb: "verify" | "settle") =>
  ({ status }: FailedRequest) =>
    metrics.answers.add({ verb, network: "", outcome: "error", reason: String(status) });

/** Stock clients read the fields of the outcome even from an error answer. */
function verifyErrorBody(error: ApiError): object {
  const invalidReason = error.status < 500 ? "invalid_payload" : "unexpected_verify_error";
  return { error: error.message, ...error.body, isValid: false, invalidReason, invalidMessage: error.message };
}

function settleErrorBody(error: ApiError): object {
  const errorReason = error.status < 500 ? "invalid_payload" : "unexpected_settle_error";
  const settlement = { success: false, errorReason, errorMessage: error.message, transaction: "", network: "" };
  return { error: error.message, ...settlement, ...error.body };
}
