import { z } from "zod";
import { ApiError } from "../../shared/errors.ts";
import { parse } from "../parse.ts";

/** One JSON-RPC message, as far as it was looked at. */
export interface Message {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/**
 * The message in a body. Throws ApiError 400 for any other body, for a batch (only 2025-03-26 had them), and for an id or
 * progress token that is too long, since every answer carries them.
 */
export function readMessage(body: unknown): Message {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ApiError("bad_request", "The body must be one JSON-RPC message; batches are not taken.");
  }
  const { id, params } = body as { id?: unknown; params?: { _meta?: { progressToken?: unknown } | null } | null };
  if (typeof id === "number" && !Number.isSafeInteger(id)) {
    throw new ApiError("bad_request", '"id" must be a text or a whole number.', { body: { field: "id" } });
  }
  for (const [field, name] of Object.entries({ id, progressToken: params?._meta?.progressToken })) {
    if (typeof name !== "string" || name.length <= nameLengthMax) continue;
    throw new ApiError("bad_request", `"${field}" must be at most ${nameLengthMax} characters long.`, {
      body: { field },
    });
  }
  return body;
}

const nameLengthMax = 256;

/** What is wrong with a request's parameters, in words; undefined when they can be read. */
export function problemWithParams({ jsonrpc, id, method, params }: Message): string | undefined {
  const isRequest =
    jsonrpc === "2.0" && (typeof id === "string" || Number.isSafeInteger(id)) && typeof method === "string";
  if (!isRequest) return undefined;
  // A protocol that is named in each message has no such method, and that comes before its parameters.
  if (method === "initialize" && Object.hasOwn((params as WithMeta | undefined)?._meta ?? {}, protocolKey))
    return undefined;
  try {
    parse(
      Object.hasOwn(shapes, method) ? shapes[method]! : anyParams,
      params === undefined ? {} : params,
      "bad_request",
    );
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.message.replaceAll("The body", '"params"');
    throw error;
  }
}

interface WithMeta {
  readonly _meta?: object | null;
}

const protocolKey = "io.modelcontextprotocol/protocolVersion";

const progressToken = z.union([z.string(), z.int()], "must be a text or a whole number");
const meta = z.looseObject({ progressToken: progressToken.optional() }).optional();
const anyParams = z.looseObject({ _meta: meta });

/** What the methods that are answered here take. */
const shapes: Readonly<Record<string, z.ZodType>> = {
  initialize: z.looseObject({
    _meta: meta,
    protocolVersion: z.string(),
    capabilities: z.looseObject({}),
    clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
  }),
  "tools/list": z.looseObject({ _meta: meta, cursor: z.string().optional() }),
  "tools/call": z.looseObject({ _meta: meta, name: z.string(), arguments: z.looseObject({}).optional() }),
};
