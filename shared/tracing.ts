import type { Context, Tracer } from "@opentelemetry/api";
import type { W3CTraceContextPropagator } from "@opentelemetry/core";
import type { RequestHandler, Response } from "express";
import type { EnvReader } from "./env.ts";
import type { Running } from "./process.ts";

/** Where spans are sent, by OpenTelemetry's own variable; undefined: none are made. */
export function readTracing(env: EnvReader): string | undefined {
  const name = "OTEL_EXPORTER_OTLP_ENDPOINT";
  return env.optional(name) === undefined ? undefined : env.url(name);
}

/** Loaded with the first service of the process that has somewhere to send spans; without it nothing here costs anything. */
let otel: Loaded | undefined;

interface Loaded {
  readonly api: typeof import("@opentelemetry/api");
  readonly propagator: W3CTraceContextPropagator;
  /** The service that a context belongs to, by its tracer. */
  readonly ofService: symbol;
}

/** Spans of one service, sent to a collector by OTLP over HTTP. A collector that is away is not waited for. */
export class Tracing implements Running {
  readonly #tracer: Tracer;
  readonly #shutdown: () => Promise<void>;

  private constructor(tracer: Tracer, shutdown: () => Promise<void>) {
    this.#tracer = tracer;
    this.#shutdown = shutdown;
  }

  /** Undefined where spans are sent nowhere. */
  static async start(service: string, endpoint: string | undefined): Promise<Tracing | undefined> {
    if (endpoint === undefined) return undefined;
    const [sdk, { OTLPTraceExporter }, { defaultResource, detectResources, envDetector, resourceFromAttributes }] =
      await Promise.all([
        import("@opentelemetry/sdk-trace-base"),
        import("@opentelemetry/exporter-trace-otlp-http"),
        import("@opentelemetry/resources"),
      ]);
    otel ??= await load();
    const named = defaultResource().merge(resourceFromAttributes({ "service.name": service }));
    const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
    const provider = new sdk.BasicTracerProvider({
      resource: named.merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new sdk.BatchSpanProcessor(exporter)],
    });
    return new Tracing(provider.getTracer(service), () => provider.shutdown());
  }

  /** Runs the handlers of each request to `route` as one span of the caller's trace, or of a new one. */
  around(route: string, handlers: readonly RequestHandler[]): RequestHandler[] {
    const { api, propagator, ofService } = otel as Loaded;
    const begin: RequestHandler = (request, response, next) => {
      const caller = propagator.extract(api.ROOT_CONTEXT, request.headers, api.defaultTextMapGetter);
      const attributes = { "http.request.method": request.method, "http.route": route };
      const name = `${request.method} ${route}`;
      const span = this.#tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, caller);
      response.locals.tracing = api.trace.setSpan(caller, span).setValue(ofService, this.#tracer);
      response.once("close", () => {
        span.setAttribute("http.response.status_code", response.statusCode);
        if (response.statusCode >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
        span.end();
      });
      next();
    };
    // Each on its own: events of the connection, by which bodies arrive, belong to no request's context.
    const within = handlers.map(
      (handler): RequestHandler =>
        (request, response, next) =>
          api.context.with(contextOf(response), () => handler(request, response, next)),
    );
    return [begin, ...within];
  }

  /** Sends what is left, as far as the collector takes it at once. */
  async stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopWithinMs);
    });
    await Promise.race([this.#shutdown().catch(() => {}), late]);
    clearTimeout(timer);
  }
}

async function load(): Promise<Loaded> {
  const [api, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/context-async-hooks"),
    import("@opentelemetry/core"),
  ]);
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return { api, propagator: new W3CTraceContextPropagator(), ofService: api.createContextKey("service") };
}

export function isTracing(): boolean {
  return otel !== undefined;
}

/**
 * Does `work`, as a span where it is part of a request that is traced. Names and attributes hold nothing that a caller sent and
 * nothing secret.
 */
export function inSpan<T>(name: string, attributes: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const active = otel?.api.context.active();
  const tracer = otel && (active?.getValue(otel.ofService) as Tracer | undefined);
  if (!otel || !active || !tracer) return work();
  const { api } = otel;
  const span = tracer.startSpan(name, { kind: api.SpanKind.CLIENT, attributes }, active);
  return api.context
    .with(api.trace.setSpan(active, span), work)
    .catch((error: unknown) => {
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
      throw error;
    })
    .finally(() => span.end());
}

/** The headers by which another service goes on with the trace of this request. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  if (otel) otel.propagator.inject(otel.api.context.active(), headers, otel.api.defaultTextMapSetter);
  return headers;
}

const contextOf = (response: Response) => response.locals.tracing as Context;
const stopWithinMs = 3_000;
