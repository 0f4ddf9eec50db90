import { createHash } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import { type BodyBudget, type HeldBody, smallBodyBytes } from "./body-budget.ts";
import { BodyBytes } from "./body-bytes.ts";
import { ApiError } from "./errors.ts";
import { type JsonLimits, JsonScan, usualJson } from "./json-scan.ts";
import { parseBody } from "./parse-body.ts";
import { receiveBody } from "./receive-body.ts";
import { turnOfManyParts } from "./turns.ts";

export interface BodyLimits extends Partial<JsonLimits> {
  readonly bytesMax: number;
  /** Texts that PostgreSQL cannot keep are refused, naming the field. */
  readonly storable?: boolean;
}

/**
 * A body that was not read yet. Either reading puts the SHA-256 of its bytes on `response.locals.bodyDigest`, and throws
 * ApiError 413 for one that is too large, without reading on.
 */
export interface PendingBody {
  /** The JSON of the body, read once; undefined when there is no body. 400 where it is not JSON, or too dear to parse. */
  json(): Promise<unknown>;
  /** Reads it to its end and keeps nothing; instead of `json`. */
  drain(): Promise<void>;
}

/** Parses a JSON body into `request.body`. */
export function jsonBody(limits: BodyLimits): RequestHandler {
  return async (request, response, next) => {
    request.body = await readJson(request, response, limits);
    next();
  };
}

/** For routes that look at other things first: `pendingBody` answers the body, and nothing of it was read. */
export function laterBody(limits: BodyLimits): RequestHandler {
  return (request, response, next) => {
    const read = async <T>(reading: (look: (chunk: Buffer) => void) => Promise<T>): Promise<T> => {
      const digest = createHash("sha256");
      const said = await reading((chunk) => void digest.update(chunk));
      response.locals.bodyDigest = digest.digest();
      return said;
    };
    let said: Promise<unknown> | undefined;
    response.locals.pendingBody = {
      json: () => {
        said ??= read((look) => readJson(request, response, limits, look));
        return said;
      },
      drain: () => read((look) => receiveBody(request, limits.bytesMax, (chunk) => void look(chunk))),
    } satisfies PendingBody;
    next();
  };
}

export function pendingBody(response: Response): PendingBody {
  return response.locals.pendingBody as PendingBody;
}

async function readJson(
  request: Request,
  response: Response,
  limits: BodyLimits,
  look?: (chunk: Buffer) => void,
): Promise<unknown> {
  refuseUnreadable(request);
  const scan = new JsonScan({ ...usualJson, ...limits });
  const see = (chunk: Buffer) => {
    scan.see(chunk);
    look?.(chunk);
    return scan.tokens * bytesPerToken;
  };
  const bytes = await receiveHeld(request, response, limits.bytesMax, see);
  if (bytes.held === 0) return hasBody(request) ? {} : undefined;
  const turn = scan.tokens * bytesPerToken > smallBodyBytes ? turnOfManyParts(request, response) : undefined;
  const said = await Promise.resolve(turn)
    .then(() => parseBody(bytes, scan.longTexts))
    .finally(() => bytes.release());
  const field = limits.storable && scan.hasUnicodeEscapes ? unstorableIn(said, "the body") : undefined;
  if (field === undefined) return said;
  const message = `"${field}" holds a character that is none (NUL, or half of a surrogate pair).`;
  throw new ApiError("bad_request", message, { body: { field } });
}

/** The bytes of a body of any kind, counted against what bodies may hold until it is answered. Throws ApiError 413 for too many. */
export async function readBytes(request: Request, response: Response, bytesMax: number): Promise<Buffer> {
  const bytes = await receiveHeld(request, response, bytesMax);
  const all = bytes.all();
  bytes.release();
  return all;
}

/** What a part of a JSON body takes once it is parsed and checked: a body of small parts takes twenty times its length. */
const bytesPerToken = 64;

/** `see` is shown each chunk, and answers the bytes that what has come will take besides its own. */
async function receiveHeld(
  request: Request,
  response: Response,
  bytesMax: number,
  see: (chunk: Buffer) => number = () => 0,
): Promise<BodyBytes> {
  const bytes = new BodyBytes();
  let held: HeldBody | undefined;
  let counted = 0;
  await receiveBody(request, bytesMax, (chunk, giveUp) => {
    const besides = see(chunk);
    bytes.append(chunk);
    if (bytes.received + besides <= smallBodyBytes) return undefined;
    held ??= bodyBudgetOf(request).open(request.ip ?? "", response, giveUp);
    const now = bytes.held + besides;
    const room = held.grow(now - counted);
    counted = now;
    return room;
  }).finally(() => held?.done());
  return bytes;
}

function bodyBudgetOf({ app }: Request): BodyBudget {
  return app.locals.bodyBudget as BodyBudget;
}

function refuseUnreadable({ headers }: Request): void {
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new ApiError("bad_request", "The body must come without Content-Encoding.");
  if (headers["content-type"] === "application/json") return;
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1]?.toLowerCase();
  if (charset && !["utf-8", "utf8", "us-ascii"].includes(charset)) {
    throw new ApiError("bad_request", "Body must be JSON, in UTF-8.");
  }
}

function hasBody({ headers }: Request): boolean {
  return headers["transfer-encoding"] !== undefined || headers["content-length"] !== undefined;
}

/** The name of a field whose text cannot be kept; undefined when there is none. */
export function unstorableIn(value: unknown, field: string): string | undefined {
  if (typeof value === "string") return value.includes("\0") || /\p{Surrogate}/u.test(value) ? field : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = unstorableIn(name, "a name") ?? unstorableIn(inner, Array.isArray(value) ? field : name);
    if (found !== undefined) return found;
  }
  return undefined;
}
