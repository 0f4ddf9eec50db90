import { type Agent, request } from "undici";
import type { Secret } from "../../shared/env.ts";
import type { MockModelDetector } from "./mock-model-detector.ts";
import { ConnectorError } from "./result.ts";

/** An OpenAI-compatible endpoint that the operator configured. */
export interface ModelEndpoint {
  readonly baseUrl: string;
  readonly apiKey: Secret | undefined;
}

/** The provider refused the call, or it certainly never arrived. */
export class NotAnsweredError extends ConnectorError {}

/** How connecting fails; whatever happens after it may have been heard. */
const unreached = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN"],
  ...["UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ...["SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_SSL_WRONG_VERSION_NUMBER"],
]);

/** One path of it, and what its answers are held to. */
export interface CalledEndpoint extends ModelEndpoint {
  readonly name: string;
  readonly path: string;
  readonly bytesMax: number;
  readonly dispatcher: Agent;
  readonly detector: MockModelDetector;
}

/** Posts to the endpoint and answers its JSON; undefined for what is none. Throws ConnectorError for every other status. */
export async function post(endpoint: CalledEndpoint, body: object, signal: AbortSignal): Promise<unknown> {
  const { name, baseUrl, apiKey, path, bytesMax, dispatcher, detector } = endpoint;
  signal.throwIfAborted();
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(apiKey ? { authorization: `Bearer ${apiKey.reveal()}` } : {}),
  };
  // The run's own deadline is the only one: undici's shorter defaults would cut long answers.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
  let answer: Awaited<ReturnType<typeof request>>;
  let text: string;
  try {
    answer = await request(baseUrl + path, {
      method: "POST",
      dispatcher,
      signal,
      headers,
      body: JSON.stringify(body),
      ...timeouts,
    });
    // A failure of the body after its reader gave up must not end the process.
    answer.body.on("error", () => {});
    text = await readText(answer.body, bytesMax, name);
  } catch (error) {
    if (signal.aborted || error instanceof ConnectorError) throw error;
    const { code, name: kind } = error as { code?: string; name?: string };
    const Failure = unreached.has(code ?? "") ? NotAnsweredError : ConnectorError;
    throw new Failure(`The ${name} could not be reached.`, { reason: code ?? kind });
  }
  const { statusCode } = answer;
  detector.note(answer.headers);
  if (statusCode === 429) {
    const retryAfterSeconds = secondsOf(answer.headers["retry-after"]);
    throw new NotAnsweredError(`The ${name} is busy; try again later.`, { statusCode, retryAfterSeconds });
  }
  if (statusCode !== 200) {
    const code = errorCodeOf(parsed(text));
    const declined = code !== undefined && refusals.has(code);
    throw new NotAnsweredError(`The ${name} ${declined ? "declined the request" : "failed"}.`, { statusCode, code });
  }
  return parsed(text);
}

/** A provider's Retry-After, where it says seconds and not more than an hour. */
function secondsOf(retryAfter: string | string[] | undefined): number | undefined {
  const seconds = Number(retryAfter);
  return Number.isInteger(seconds) && seconds > 0 && seconds <= 3_600 ? seconds : undefined;
}

/** What providers answer to a prompt they will not draw. */
const refusals = new Set(["content_policy_violation", "moderation_blocked", "content_filter"]);

async function readText(body: AsyncIterable<Buffer>, bytesMax: number, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new ConnectorError(`The ${name} answered too much.`, { bytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function errorCodeOf(body: unknown): string | undefined {
  const code = (body as { error?: { code?: unknown } } | undefined)?.error?.code;
  return typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
