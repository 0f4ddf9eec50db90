import { request } from "undici";
import type { Holder } from "../../shared/fair-semaphore.ts";
import { isJsonObject, type JsonObject } from "../../shared/json.ts";
import { JsonScan, usualJson } from "../../shared/json-scan.ts";
import type { Outbound } from "../../shared/outbound.ts";
import { timeLimit } from "../../shared/time-limit.ts";
import { isLocalhost } from "./validate.ts";

/** Must refuse private addresses, and answer a redirect as it is instead of following it. */
export type UnpaidFetch = (url: string, ask: UnpaidAsk) => Promise<UnpaidAnswer>;

export interface UnpaidAsk {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
  /** For whom, where it is not the catalog. */
  readonly holder?: Holder;
}

export interface UnpaidAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** How long a resource may take for its answer, and how much it may say. */
export const askBounds = { timeoutMs: 5_000, bytesMax: 256 * 1024 } as const;

/**
 * The JSON object that a resource answered; undefined when it is none. What is nested or cut up beyond the usual is a trap for the
 * reader.
 */
export function parseAnswer(text: string): JsonObject | undefined {
  try {
    new JsonScan(usualJson).see(Buffer.from(text));
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The quote of version 2 in a 402, and the name of the header that has it. */
export function quoteInHeader({ headers }: UnpaidAnswer): { from: string; quote: JsonObject } | undefined {
  for (const from of ["payment-required", "x-payment-required"]) {
    const value = headers[from];
    const quote = typeof value === "string" ? parseAnswer(Buffer.from(value, "base64").toString()) : undefined;
    if (quote) return { from, quote };
  }
  return undefined;
}

/** The one way from the daemon to a URL that a caller named: through the outbound guard, and following no redirect. */
export function createUnpaidFetch(outbound: Outbound, { allowLocalhost }: { allowLocalhost: boolean }): UnpaidFetch {
  return (url, ask) => {
    if (allowLocalhost && isLocalhost(new URL(url))) return fetchDirectly(url, ask);
    const headers = { "user-agent": "x402-facilitator", ...ask.headers };
    return outbound.fetch(url, { ...ask, headers, followRedirects: false });
  };
}

/** Development only. */
async function fetchDirectly(url: string, ask: UnpaidAsk): Promise<UnpaidAnswer> {
  const { signal, lift } = timeLimit(ask.timeoutMs, ask.signal);
  return readDirectly(url, { ...ask, signal }).finally(lift);
}

/** undici's request follows no redirect. */
async function readDirectly(
  url: string,
  { method, headers = {}, body, bytesMax, signal }: UnpaidAsk,
): Promise<UnpaidAnswer> {
  const answer = await request(url, { method, headers, body: body ?? null, signal });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error("the answer is too large");
    chunks.push(chunk);
  }
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}
