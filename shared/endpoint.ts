import type { Express, RequestHandler } from "express";
import type { z } from "zod";
import { ApiError } from "./errors.ts";
import { type BodyLimits, jsonBody, laterBody } from "./request-body.ts";
import type { Tracing } from "./tracing.ts";

/**
 * One operation of a service: what is mounted, and all that its OpenAPI document says of it. `Access` names the ways in
 * which the service lets callers in, `Tag` the chapters of its document.
 */
export interface Endpoint<Access extends string = string, Tag extends string = string> {
  readonly method: "get" | "post" | "put" | "patch" | "delete" | "options";
  /** In OpenAPI's form: `/api/v1/runs/{run_id}`. */
  readonly path: string;
  /** The operation id. A client library names its function after it: `listRuns`. */
  readonly id: string;
  readonly tag: Tag;
  /** One short sentence, as lists of endpoints show it. */
  readonly summary: string;
  /** What a caller must know before the call, in sentences. */
  readonly description: string;
  readonly access: Access;
  /** The price of what a request pays for over x402. */
  readonly price?: Price;
  readonly pathParameters?: Shapes;
  readonly query?: z.ZodObject | QueryParameters;
  /** The parameters of a first call, where those that must be there are not enough. */
  readonly exampleQuery?: Readonly<Record<string, string>>;
  /** Request headers with a meaning of their own; a call may leave each of them out. */
  readonly headers?: Shapes;
  readonly body?: RequestBody;
  readonly answers: Answers;
  /** Run before the caller is let in. */
  readonly before?: readonly RequestHandler[];
  /** Run when the caller has been let in and nothing of the body has been read. */
  readonly beforeBody?: readonly RequestHandler[];
  readonly handler: RequestHandler;
}

/** In US dollars, as `0.03`: what every call costs, or the least and the most that one may cost. */
export type Price = string | { readonly min: string; readonly max: string };

/** By name; the shape's description goes into the document. */
export type Shapes = Readonly<Record<string, z.ZodType>>;

/** Query parameters that are described by JSON Schema. */
export type QueryParameters = Readonly<
  Record<string, { readonly description: string; readonly schema: object; readonly required?: boolean }>
>;

export interface RequestBody {
  readonly mediaType: "application/json" | "application/x-www-form-urlencoded";
  readonly shape: z.ZodType;
  readonly example: unknown;
  readonly limits: BodyLimits;
  /** `later`: the handler looks at other things first and then reads the body itself, by `pendingBody`. */
  readonly read: "first" | "later";
}

/** By HTTP status. */
export type Answers = Readonly<Record<number, Answer>>;

export interface Answer {
  /** What it means; the status' usual meaning when left out. */
  readonly description?: string;
  /** A shape is JSON, texts are other media types. An answer without a body has neither. */
  readonly content?: z.ZodType | readonly string[];
  readonly example?: unknown;
  /** What it is as JSON, where it may come so instead of in the media types of `content`. */
  readonly orJson?: { readonly shape: z.ZodType; readonly example: unknown };
  readonly headers?: Shapes;
}

/** A JSON body that is read and parsed before the handler runs. The example is what a first call would send. */
export function requestBody<S extends z.ZodType>(shape: S, example: z.input<S>, limits: BodyLimits): RequestBody {
  return { mediaType: "application/json", shape, example, limits, read: "first" };
}

/** A posted form, which the handler reads itself, by `readForm`. */
export function formBody<S extends z.ZodType<Readonly<Record<string, string | undefined>>>>(
  shape: S,
  example: z.input<S>,
  limits: BodyLimits,
): RequestBody {
  return { mediaType: "application/x-www-form-urlencoded", shape, example, limits, read: "later" };
}

/** A JSON answer. */
export function jsonAnswer<S extends z.ZodType>(
  content: S,
  example: z.input<S>,
  more: Pick<Answer, "description" | "headers"> = {},
): Answer {
  return { content, example, ...more };
}

/** Endpoints with an ETag answer so to a caller that has the newest answer already. */
export const notModified: Answers = { 304: { description: "What `If-None-Match` names is still right." } };

/** Serves the endpoints, each request as a span where there is `tracing`. `guards` let callers in, or throw, by the endpoint's access. */
export function mount<Access extends string>(
  app: Express,
  endpoints: readonly Endpoint<Access>[],
  guards: Readonly<Record<Access, readonly RequestHandler[]>>,
  tracing?: Tracing,
): void {
  for (const endpoint of endpoints) {
    const { method, path, access, before = [], beforeBody = [], body, handler } = endpoint;
    const reading = body?.mediaType === "application/json" ? [readerOf(body)] : [];
    const handlers = [...before, ...guards[access], ...beforeBody, ...reading, handler];
    const isTraced = tracing && !probes.has(path);
    app.route(routeOf(path))[method](...(isTraced ? tracing.around(path, handlers) : handlers));
  }
}

/** Asked by machines, all the time. */
const probes: ReadonlySet<string> = new Set(["/livez", "/readyz", "/health", "/metrics"]);

/** Answers 405 to any other method of the endpoints' paths, saying which there are. To be called after `mount`. */
export function refuseOtherMethods(app: Express, endpoints: readonly Endpoint[]): void {
  const methods = new Map<string, string[]>();
  for (const { method, path } of endpoints) methods.set(path, [...(methods.get(path) ?? []), method.toUpperCase()]);
  for (const [path, allowed] of methods) {
    const allow = (allowed.includes("GET") ? ["HEAD", ...allowed] : allowed).join(", ");
    app.route(routeOf(path)).all((request) => {
      throw new ApiError("method_not_allowed", `${request.method} is not possible here.`, { headers: { allow } });
    });
  }
}

function readerOf({ limits, read }: RequestBody): RequestHandler {
  return read === "first" ? jsonBody(limits) : laterBody(limits);
}

/** In Express' form: `/api/v1/runs/:run_id`. */
function routeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
