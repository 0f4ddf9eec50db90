import { Agent, request } from "undici";
import type { Secret } from "../../shared/env.ts";
import { type Outbound, OutboundFailed, OutboundRefused } from "../../shared/outbound.ts";
import { type Holder, Shares, ShareUsedUp } from "../../shared/shares.ts";
import type { ModelCaller } from "../models/model-charge.ts";
import type { ListedModel, ModelList, ModelMenu } from "../models/model-list.ts";
import { busyText, ConnectorFailure } from "./connector.ts";
import { StandInWatch } from "./stand-in-watch.ts";

const textBytesMax = 4_194_304;
/** Ten images of ten megabytes in base64 would be more than anybody should send at once. */
const imagesBytesMax = 67_108_864;
const imageBytesMax = 10_000_000;
/** Under way at the same time, and how long one waits that would be more than its holder's share. */
const callsMax = 512;
const shareWaitMs = 30_000;
const platform: Holder = { account: "platform", agent: "platform" };

/**
 * The OpenAI-compatible endpoints that the operator configured. Answers the assistant's text, or the bytes of images;
 * throws ConnectorFailure for everything that is not a whole answer. An agent's call is held to what the operator lists,
 * and its charge knows afterwards whether it has to be paid for; what the platform asks for itself is its own affair. What an endpoint says about an error can quote
 * the prompt, so only its status and code reach the log.
 */
export function createModelClient(options: ModelClientOptions): ModelClient {
  const { chat, images, list, outbound } = options;
  const dispatcher = new Agent({ connect: { timeout: 5_000 }, connections: callsMax });
  const shares = new Shares({ total: callsMax, waitMs: shareWaitMs, part: 2 });
  /** Makes a call when it is its holder's turn: models may take minutes, and one agent's slow calls are not to stop the rest. */
  const inTurn = async <T>(holder: Holder = platform, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    const release = await shares.take(holder, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw error instanceof ShareUsedUp ? new ConnectorFailure(busyText, { reason: error.message }) : error;
    });
    return call().finally(release);
  };
  const standIns = { chat: new StandInWatch(chat, dispatcher), images: new StandInWatch(images, dispatcher) };
  const endpoints = {
    chat: {
      ...chat,
      name: "language model",
      path: "/chat/completions",
      bytesMax: textBytesMax,
      dispatcher,
      watch: standIns.chat,
    },
    images: {
      ...images,
      name: "image model",
      path: "/images/generations",
      bytesMax: imagesBytesMax,
      dispatcher,
      watch: standIns.images,
    },
  };
  return {
    complete: async ({ caller, holder, messages, model, json, temperature, maxTokens, signal }) => {
      const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
      const listed = caller === "platform" ? undefined : boundsOf(list.chat, model, characters);
      const tokensMax = listed ? Math.min(maxTokens ?? listed.most, listed.most) : maxTokens;
      const body = {
        model: listed?.name ?? model ?? list.chat.usual,
        messages,
        ...(json ? { response_format: { type: "json_object" } } : {}),
        ...(temperature === undefined ? {} : { temperature }),
        ...(tokensMax === undefined ? {} : { max_tokens: tokensMax }),
      };
      return textOf(await inTurn(holder, signal, () => charged(caller, () => post(endpoints.chat, body, signal))));
    },
    draw: async ({ caller, holder, prompt, model, count, size, quality, responseFormat, signal }) => {
      const listed = caller === "platform" ? undefined : boundsOf(list.images, model, prompt.length, count);
      const body = {
        model: listed?.name ?? model ?? list.images.usual,
        prompt,
        n: count,
        ...(size === undefined ? {} : { size }),
        ...(quality === undefined ? {} : { quality }),
        ...(responseFormat === undefined ? {} : { response_format: responseFormat }),
      };
      const answer = await inTurn(holder, signal, () => charged(caller, () => post(endpoints.images, body, signal)));
      const data = (answer as ImagesAnswer | undefined)?.data;
      if (!Array.isArray(data) || data.length === 0) throw new ConnectorFailure("The image model gave no image.");
      return Promise.all(data.slice(0, count).map((image) => bytesOf(image, outbound, signal)));
    },
    isStandIn: (kind) => standIns[kind].isStandIn(),
    stop: () => dispatcher.close(),
  };
}

interface ModelClientOptions {
  readonly chat: ModelEndpoint;
  readonly images: ModelEndpoint;
  readonly list: ModelList;
  /** For images that come as a link: it is the provider's word where that leads. */
  readonly outbound: Outbound;
}

interface ModelEndpoint {
  readonly baseUrl: string;
  readonly apiKey: Secret | undefined;
}

export interface ModelClient {
  complete(ask: Completion): Promise<string>;
  /** The images as the provider made them: not decoded, not checked. */
  draw(ask: Drawing): Promise<Buffer[]>;
  /** Whether nothing but a stand-in answers there, without a model. Throws when the endpoint cannot be reached. */
  isStandIn(kind: "chat" | "images"): Promise<boolean>;
  stop(): Promise<void>;
}

export interface Drawing {
  readonly caller: ModelCaller;
  /** Whose share of the calls under way it is; the platform's own unless said. */
  readonly holder?: Holder;
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly count: number;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly responseFormat?: "url" | "b64_json" | undefined;
  readonly signal: AbortSignal;
}

export interface Message {
  readonly role: "system" | "user";
  readonly content: string;
}

export interface Completion {
  readonly caller: ModelCaller;
  readonly holder?: Holder;
  readonly messages: readonly Message[];
  readonly model?: string | undefined;
  readonly json?: boolean;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly signal: AbortSignal;
}

/** What the list says of the model; throws for one that is not on it, or is asked for more than it may be. */
function boundsOf({ usual, models }: ModelMenu, model: string | undefined, characters: number, count = 0): ListedModel {
  const listed = models.get(model ?? usual);
  if (!listed) throw new ConnectorFailure("The agent's model is not offered here.");
  if (characters > listed.charactersMax || count > (count && listed.most)) {
    throw new ConnectorFailure("The agent asked more of its model than it may.", { characters, count });
  }
  return listed;
}

/** Makes a call and tells its charge what became of it, should it have failed; without a word it has to be paid for. */
async function charged<T>(caller: ModelCaller, call: () => Promise<T>): Promise<T> {
  if (caller === "platform") return call();
  caller.send();
  try {
    return await call();
  } catch (error) {
    if (error instanceof NotAnswered) caller.refused();
    throw error;
  }
}

/** The provider refused the call, or it certainly never arrived. */
class NotAnswered extends ConnectorFailure {}

/** How connecting fails; whatever happens after it may have been heard. */
const unreached = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN"],
  ...["UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"],
  ...["SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_SSL_WRONG_VERSION_NUMBER"],
]);

interface Endpoint extends ModelEndpoint {
  readonly name: string;
  readonly path: string;
  readonly bytesMax: number;
  readonly dispatcher: Agent;
  readonly watch: StandInWatch;
}

async function post(endpoint: Endpoint, body: object, signal: AbortSignal): Promise<unknown> {
  const { name, baseUrl, apiKey, path, bytesMax, dispatcher, watch } = endpoint;
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
    if (signal.aborted || error instanceof ConnectorFailure) throw error;
    const { code, name: kind } = error as { code?: string; name?: string };
    const Failure = unreached.has(code ?? "") ? NotAnswered : ConnectorFailure;
    throw new Failure(`The ${name} could not be reached.`, { reason: code ?? kind });
  }
  const { statusCode } = answer;
  watch.note(answer.headers);
  if (statusCode === 429) {
    const retryAfterSeconds = secondsOf(answer.headers["retry-after"]);
    throw new NotAnswered(`The ${name} is busy; try again later.`, { statusCode, retryAfterSeconds });
  }
  if (statusCode !== 200) {
    const code = errorCodeOf(parsed(text));
    const declined = code !== undefined && refusals.has(code);
    throw new NotAnswered(`The ${name} ${declined ? "declined the request" : "failed"}.`, { statusCode, code });
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

async function bytesOf(image: DrawnImage, outbound: Outbound, signal: AbortSignal): Promise<Buffer> {
  if (typeof image.b64_json === "string") {
    const bytes = Buffer.from(image.b64_json, "base64");
    if (bytes.length > imageBytesMax) throw new ConnectorFailure("The image is too large.", { bytes: bytes.length });
    return bytes;
  }
  if (typeof image.url !== "string") throw new ConnectorFailure("The image model gave no image.");
  try {
    const answer = await outbound.fetch(image.url, { timeoutMs: 30_000, bytesMax: imageBytesMax, signal });
    if (answer.status === 200) return answer.body;
    throw new ConnectorFailure("The image could not be fetched.", { status: answer.status });
  } catch (error) {
    if (!(error instanceof OutboundRefused || error instanceof OutboundFailed)) throw error;
    throw new ConnectorFailure("The image could not be fetched.", { reason: error.message });
  }
}

async function readText(body: AsyncIterable<Buffer>, bytesMax: number, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new ConnectorFailure(`The ${name} answered too much.`, { bytes });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function textOf(answer: unknown): string {
  const choice = (answer as ChatAnswer | undefined)?.choices?.[0];
  const finish = choice?.finish_reason;
  const content = choice?.message?.content;
  if (choice?.message?.refusal || finish === "content_filter") {
    throw new ConnectorFailure("The language model declined to answer.", { finish });
  }
  if (finish === "length") throw new ConnectorFailure("The answer became too long and was cut off.", { finish });
  if (typeof content !== "string" || content.trim() === "") {
    throw new ConnectorFailure("The language model gave no answer.", { finish });
  }
  return content;
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

interface ChatAnswer {
  readonly choices?: ReadonlyArray<{
    readonly finish_reason?: unknown;
    readonly message?: { readonly content?: unknown; readonly refusal?: unknown };
  }>;
}

interface ImagesAnswer {
  readonly data?: readonly DrawnImage[];
}

interface DrawnImage {
  readonly b64_json?: unknown;
  readonly url?: unknown;
}
