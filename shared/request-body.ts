import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { RequestHandler, Response } from "express";
import { ApiError } from "./errors.ts";
import { type JsonLimits, JsonScan, usualJson } from "./json-scan.ts";

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
  /** What it says, read once; undefined when there is none. 400 for what is no JSON, or too dear to parse. */
  json(): Promise<unknown>;
  /** Reads it to its end and keeps nothing; instead of `json`. */
  drain(): Promise<void>;
}

/** Parses a JSON body into `request.body`. */
export function jsonBody(limits: BodyLimits): RequestHandler {
  return async (request, _response, next) => {
    request.body = await readJson(request, limits);
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
        said ??= read((look) => readJson(request, limits, look));
        return said;
      },
      drain: () => read((look) => receive(request, limits.bytesMax, look)),
    } satisfies PendingBody;
    next();
  };
}

export function pendingBody(response: Response): PendingBody {
  return response.locals.pendingBody as PendingBody;
}

async function readJson(
  request: IncomingMessage,
  limits: BodyLimits,
  look?: (chunk: Buffer) => void,
): Promise<unknown> {
  const scan = new JsonScan({ ...usualJson, ...limits });
  const bytes = new GrowingBytes(limits.bytesMax);
  await receive(request, limits.bytesMax, (chunk) => {
    scan.see(chunk);
    look?.(chunk);
    bytes.append(chunk);
  });
  if (bytes.length === 0) return hasBody(request) ? {} : undefined;
  const said = parseJson(await textOf(bytes.bytes()));
  const field = limits.storable && scan.hasUnicodeEscapes ? unstorableIn(said, "the body") : undefined;
  if (field === undefined) return said;
  const message = `"${field}" holds a character that is none (NUL, or half of a surrogate pair).`;
  throw new ApiError("bad_request", message, { body: { field } });
}

/** Hands over the body chunk by chunk; a chunk that is refused by a throw ends the reading. */
function receive(request: IncomingMessage, bytesMax: number, take: (chunk: Buffer) => void): Promise<void> {
  refuseUnreadable(request, bytesMax);
  return new Promise((resolve, reject) => {
    let received = 0;
    let chunks = 0;
    const end = (settle: () => void) => {
      request.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
      settle();
    };
    const onData = (chunk: Buffer) => {
      try {
        received += chunk.length;
        chunks += 1;
        if (received > bytesMax) throw tooLarge();
        if (chunks > chunksFree && received / chunks < chunkBytesMin) throw inSplinters();
        take(chunk);
      } catch (error) {
        request.pause();
        end(() => reject(error));
      }
    };
    const onEnd = () => end(resolve);
    const onBroken = () => end(() => reject(new ApiError("bad_request", "The body ended early.")));
    if (request.destroyed) return onBroken();
    request.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  });
}

/** Each chunk costs a call, so that a body in chunks of one byte costs more than one that is a thousand times as long. */
const chunksFree = 1_000;
const chunkBytesMin = 64;

function refuseUnreadable({ headers }: IncomingMessage, bytesMax: number): void {
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new ApiError("bad_request", "The body must come without Content-Encoding.");
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers["content-type"] ?? "")?.[1]?.toLowerCase();
  if (charset && !["utf-8", "utf8", "us-ascii"].includes(charset)) {
    throw new ApiError("bad_request", "Body must be JSON, in UTF-8.");
  }
  if (Number(headers["content-length"] ?? 0) > bytesMax) throw tooLarge();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || headers["content-length"] !== undefined;
}

/** One piece of memory, so that what a body holds is what it has sent, in however many chunks. */
class GrowingBytes {
  readonly #max: number;
  #bytes: Buffer = Buffer.alloc(0);
  length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  append(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (this.length === 0) this.#bytes = chunk;
    else {
      if (length > this.#bytes.length) this.#grow(Math.min(this.#max, Math.max(length, 2 * this.#bytes.length)));
      chunk.copy(this.#bytes, this.length);
    }
    this.length = length;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #grow(size: number): void {
    const grown = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(grown, 0, 0, this.length);
    this.#bytes = grown;
  }
}

/** A large text is decoded a piece per turn, so that nothing else waits for all of it. */
async function textOf(bytes: Buffer): Promise<string> {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (bytes.length <= turnBytes) return bytes.toString("utf8", start);
  const decoder = new StringDecoder("utf8");
  let text = "";
  for (let at = start; at < bytes.length; at += turnBytes) {
    text += decoder.write(bytes.subarray(at, at + turnBytes));
    await nextTurn();
  }
  return text + decoder.end();
}

const turnBytes = 1_048_576;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiError("bad_request", "Body must be JSON.");
  }
}

/** The name of a field whose text cannot be kept; undefined when there is none. */
function unstorableIn(value: unknown, field: string): string | undefined {
  if (typeof value === "string") return value.includes("\0") || /\p{Surrogate}/u.test(value) ? field : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const found = unstorableIn(name, "a name") ?? unstorableIn(inner, Array.isArray(value) ? field : name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tooLarge(): ApiError {
  return new ApiError("too_large", "The body is too large.");
}

function inSplinters(): ApiError {
  return new ApiError("bad_request", "The body comes in too many chunks for its length.");
}
