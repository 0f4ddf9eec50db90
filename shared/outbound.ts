import type { IncomingHttpHeaders } from "node:http";
import type { LookupFunction } from "node:net";
import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent, type buildConnector, type Dispatcher, request } from "undici";
import { byteLimitConnector } from "./byte-limit-connector.ts";
import { ChunkCount } from "./chunk-count.ts";
import { dnsLookup, type Resolve } from "./dns-lookup.ts";
import { FairSemaphore, type Holder, NoPermitError } from "./fair-semaphore.ts";
import { addressProblem, urlProblem } from "./public-address.ts";
import { timeLimit } from "./time-limit.ts";

export type { Resolve };

const redirectsMax = 3;
/** Requests under way to wherever, and how long one waits that would be more than its holder's share. */
const underWay = { total: 1_024, waitMs: 10_000 };
/**
 * Large answers that are read at a time, each counted again for every 4 MB, and how long one waits for its turn: an account may have half
 * of them, an agent a third.
 */
const largeAnswers = { total: 24, waitMs: 10_000, part: 1 };
const smallBytes = 65_536;
const largeBytes = 4_194_304;
/** The holder of requests by this service itself. */
const ourselves: Holder = { account: "ourselves", agent: "ourselves" };

/**
 * The only way out to a URL that a person gave. Every hop is checked before it is made, and every address a name
 * resolves to is checked where the connection is opened, so nothing can change in between.
 */
export function createOutbound(options: OutboundOptions): Outbound {
  const { allowHosts = [], denyHosts = [], resolve = dnsLookup() } = options;
  // Each request may have a connection of its own to an origin: one that hangs keeps no other waiting, and `semaphore` bounds them.
  const connections = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 10_000 };
  const semaphore = new FairSemaphore(underWay);
  const large = new FairSemaphore(options.largeAnswers ?? largeAnswers);
  const agentWith = (connect: buildConnector.connector) =>
    new Agent({ ...connections, connect }).compose(endTooManyChunks);
  const guarded = agentWith(byteLimitConnector({ lookup: checkingLookup(resolve) }));
  const direct = agentWith(byteLimitConnector({}));

  const dispatcherFor = (url: URL): Dispatcher => {
    if (allowHosts.includes(hostAndPort(url))) return direct;
    const problem = urlProblem(url, denyHosts);
    if (problem) throw new OutboundRefusedError(problem);
    return guarded;
  };

  const open = async (url: string, ask: Ask): Promise<OpenAnswer> => {
    const { signal, lift } = timeLimit(ask.timeoutMs, ask.signal);
    const failed = (error: unknown): Error => {
      if (error instanceof OutboundRefusedError || error instanceof OutboundFailedError) return error;
      if (error instanceof NoPermitError && !signal.aborted) return new OutboundBusyError(error.message);
      return new OutboundFailedError(signal.aborted ? "took too long" : reasonOf(error));
    };
    try {
      const first = parseUrl(url);
      dispatcherFor(first);
      const { holder = ourselves } = ask;
      const release = await semaphore.acquire(holder, signal);
      try {
        const { body, chunks, ...head } = await follow(first, { ...ask, signal }, dispatcherFor);
        body.once("close", () => {
          release();
          lift();
        });
        const read = inTurn(chunks, () => large.acquire(holder, signal));
        return { ...head, chunks: rethrowing(read, failed), discard: () => void body.destroy() };
      } catch (error) {
        release();
        throw error;
      }
    } catch (error) {
      const failure = failed(error);
      lift();
      throw failure;
    }
  };

  return {
    check: (url) => {
      dispatcherFor(parseUrl(url));
    },
    open,
    fetch: async (url, ask) => {
      const { status, headers, contentType, chunks } = await open(url, ask);
      return { status, headers, contentType, body: await gather(chunks) };
    },
    stop: async () => {
      await Promise.all([guarded.destroy(), direct.destroy()]);
    },
  };
}

export interface Outbound {
  /** Throws OutboundRefusedError when the URL itself is not one to fetch; makes no connection. */
  check(url: string): void;
  /** Answers with any status. Throws OutboundRefusedError for what the guard forbids, OutboundFailedError for the rest. */
  fetch(url: string, ask: Ask): Promise<Answer>;
  /** Fetches too, and gives the body as it arrives: for streams of events. */
  open(url: string, ask: Ask): Promise<OpenAnswer>;
  stop(): Promise<void>;
}

export interface Ask {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For everything together: names, connections, redirects, the whole body. */
  readonly timeoutMs: number;
  /** The largest body, as sent and as unpacked. */
  readonly bytesMax: number;
  readonly signal?: AbortSignal;
  /** False answers a redirect as it is, for callers that ask what this very URL says. */
  readonly followRedirects?: boolean;
  /** For whom: a holder's requests under way are never more than a share of all. */
  readonly holder?: Holder;
}

export interface Answer extends AnswerHead {
  readonly body: Buffer;
}

export interface OpenAnswer extends AnswerHead {
  readonly chunks: AsyncGenerator<Buffer>;
  /** Closes the connection unless the body was read to its end. The caller reads the answer or calls this. */
  discard(): void;
}

interface AnswerHead {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly contentType: string;
}

/** The guard said no. Callers answer every refusal alike; `message` is for the log. */
export class OutboundRefusedError extends Error {
  override readonly name = "OutboundRefusedError";
}

/** The other side could not be reached or did not answer as it should. `message` is for the log. */
export class OutboundFailedError extends Error {
  override readonly name = "OutboundFailedError";
}

/** The holder's share of requests under way was in use and stayed so; nothing was sent. */
export class OutboundBusyError extends OutboundFailedError {}

export interface OutboundOptions {
  /** How many answers of over 64 KB are read at a time; 24 unless said. */
  readonly largeAnswers?: { readonly total: number; readonly waitMs: number; readonly part: number };
  /** `host:port` pairs that are let through although they are private. */
  readonly allowHosts?: readonly string[];
  /** Host names that are refused although they are public: our own and those of our servers. */
  readonly denyHosts?: readonly string[];
  readonly resolve?: Resolve;
}

async function follow(first: URL, ask: Ask, dispatcherFor: (url: URL) => Dispatcher): Promise<Followed> {
  const { method = "GET", body } = ask;
  const followRedirects = method === "GET" && ask.followRedirects !== false;
  let url = first;
  let headers = ask.headers ?? {};
  for (let redirects = 0; ; redirects += 1) {
    const answer = await request(url, {
      dispatcher: dispatcherFor(url),
      method,
      headers: { "user-agent": "agent-marketplace", "accept-encoding": "identity", ...headers },
      signal: ask.signal ?? null,
      headersTimeout: ask.timeoutMs,
      bodyTimeout: ask.timeoutMs,
      ...(body === undefined ? {} : { body }),
    });
    // A body that is not read to its end fails when it is dropped, and an error without a listener ends the process.
    answer.body.on("error", () => {});
    const location = answer.headers.location;
    if (answer.statusCode < 300 || answer.statusCode >= 400 || location === undefined || !followRedirects) {
      const contentType = String(answer.headers["content-type"] ?? "");
      const encoding = String(answer.headers["content-encoding"] ?? "identity");
      const chunks = readOrDrop(answer.body, () => readBody(answer.body, encoding, ask.bytesMax));
      return { status: answer.statusCode, headers: answer.headers, contentType, chunks, body: answer.body };
    }
    answer.body.destroy();
    if (redirects >= redirectsMax) throw new OutboundRefusedError(`more than ${redirectsMax} redirects`);
    const next = redirectTarget(url, String(location));
    // Headers meant for one origin, a creator's API key above all, must not reach another.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

/** Closes a body that cannot be read. */
function readOrDrop<T>(body: Readable, read: () => T): T {
  try {
    return read();
  } catch (error) {
    body.destroy();
    throw error;
  }
}

interface Followed extends AnswerHead {
  readonly chunks: AsyncGenerator<Buffer>;
  /** What the chunks are read from. */
  readonly body: Readable;
}

function redirectTarget(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) throw new OutboundRefusedError("redirect to no URL");
  const next = new URL(location, from);
  if (from.protocol === "https:" && next.protocol !== "https:")
    throw new OutboundRefusedError("redirect away from https");
  return next;
}

/** Counts the bytes that arrive and those they unpack to, so that neither an endless body nor a small bomb fills the memory. */
function readBody(stream: Readable, encoding: string, bytesMax: number): AsyncGenerator<Buffer> {
  const decoder = decoderFor(encoding);
  const arriving = counted(stream, bytesMax);
  // A failure on either side of the decoder ends up with the reader.
  return decoder
    ? counted(
        pipeline(Readable.from(arriving), decoder, () => {}),
        bytesMax,
      )
    : arriving;
}

async function* counted(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new OutboundFailedError("the body is too large");
    yield chunk;
  }
}

/** Reads on in a large answer when it is its turn, which is over when the reader is done. */
async function* inTurn(chunks: AsyncIterable<Buffer>, acquire: () => Promise<() => void>): AsyncGenerator<Buffer> {
  const permits: Array<() => void> = [];
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      while (bytes > smallBytes + permits.length * largeBytes) permits.push(await acquire());
      yield chunk;
    }
  } finally {
    for (const release of permits) release();
  }
}

async function* rethrowing(chunks: AsyncGenerator<Buffer>, asError: (error: unknown) => Error): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw asError(error);
  }
}

async function gather(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const gathered: Buffer[] = [];
  for await (const chunk of chunks) gathered.push(chunk);
  return Buffer.concat(gathered);
}

function decoderFor(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case "identity":
    case "":
      return undefined;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      throw new OutboundFailedError("the body has an unknown encoding");
  }
}

/** Ends an answer that comes in too many chunks before they are all parsed. */
const endTooManyChunks: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const count = new ChunkCount();
  return dispatch(options, {
    onRequestStart: (...given) => handler.onRequestStart?.(...given),
    onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
    onResponseStart: (...given) => handler.onResponseStart?.(...given),
    onResponseData: (controller, chunk) => {
      if (count.isOneTooMany(chunk.length)) {
        controller.abort(new OutboundFailedError("the body comes in too many chunks for its length"));
      } else handler.onResponseData?.(controller, chunk);
    },
    onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
    onResponseError: (...given) => handler.onResponseError?.(...given),
  });
};

/** Refuses addresses that may not be called. undici connects to the addresses returned here, so that no others are used. */
function checkingLookup(resolve: Resolve): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const problem =
          addresses.length === 0 ? "no address" : addresses.map(({ address }) => addressProblem(address)).find(Boolean);
        if (problem) return callback(new OutboundRefusedError(problem), "", 0);
        if (options.all) return callback(null, [...addresses]);
        callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      (error) => callback(error, "", 0),
    );
  };
}

function parseUrl(url: string): URL {
  if (!URL.canParse(url)) throw new OutboundRefusedError("not a URL");
  return new URL(url);
}

function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`;
}

function reasonOf(error: unknown): string {
  const { code, name } = error as { code?: string; name?: string };
  return code ?? name ?? "unknown";
}
