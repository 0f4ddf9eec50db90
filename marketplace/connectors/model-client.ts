import { Agent } from "undici";
import { FairSemaphore, type Holder } from "../../shared/fair-semaphore.ts";
import { type Outbound, OutboundFailedError, OutboundRefusedError } from "../../shared/outbound.ts";
import { type ModelCharge, PlatformCharge } from "../models/model-charge.ts";
import type { ListedModel, ModelList, ModelMenu } from "../models/model-list.ts";
import { imageBytesMax } from "../tracer/image/limits.ts";
import { MockModelDetector } from "./mock-model-detector.ts";
import { type ModelEndpoint, NotAnsweredError, post } from "./model-endpoint.ts";
import { permitFrom } from "./permit.ts";
import { ConnectorError, type StandIn } from "./result.ts";

const textBytesMax = 4_194_304;
/** Less than ten images of ten megabytes each in base64: an answer may not take more memory. */
const imagesBytesMax = 67_108_864;
/** One image in base64, and what else is said beside it. */
const imageTextMax = (imageBytesMax * 4) / 3 + 1_048_576;
/** Under way at the same time, and how long one waits that would be more than its holder's share. */
const callsMax = 512;
const shareWaitMs = 30_000;
const platform: Holder = { account: "platform", agent: "platform" };

/**
 * The OpenAI-compatible endpoints that the operator configured. Answers the assistant's text, or the bytes of images; throws
 * ConnectorError unless the answer is whole. An agent may call only the models that the operator lists, and its charge knows
 * afterwards whether it has to be paid for; neither holds for the platform's own calls. An endpoint's text about an error can
 * quote the prompt, so only its status and code reach the log.
 */
export function createModelClient(options: ModelClientOptions): ModelClient {
  const { chat, images, list, outbound } = options;
  const dispatcher = new Agent({ connect: { timeout: 5_000 }, connections: callsMax });
  const semaphore = new FairSemaphore({ total: callsMax, waitMs: shareWaitMs, part: 2 });
  /** Makes a call when it is its holder's turn: models may take minutes, and one agent's slow calls are not to stop the rest. */
  const inTurn = async <T>(holder: Holder = platform, signal: AbortSignal, call: () => Promise<T>): Promise<T> => {
    const release = await permitFrom(semaphore, holder, signal);
    return call().finally(release);
  };
  const detectors = {
    chat: new MockModelDetector(chat, dispatcher),
    images: new MockModelDetector(images, dispatcher),
  };
  const endpoints = {
    chat: {
      ...chat,
      name: "language model",
      path: "/chat/completions",
      bytesMax: textBytesMax,
      dispatcher,
      detector: detectors.chat,
    },
    images: {
      ...images,
      name: "image model",
      path: "/images/generations",
      bytesMax: imagesBytesMax,
      dispatcher,
      detector: detectors.images,
    },
  };
  return {
    complete: async (ask) => {
      const { caller, holder, signal } = ask;
      const body = chatBody(list.chat, ask);
      return textOf(await inTurn(holder, signal, () => charged(caller, () => post(endpoints.chat, body, signal))));
    },
    draw: async (ask) => {
      const { caller, holder, count, signal } = ask;
      const body = imagesBody(list.images, ask);
      const endpoint = { ...endpoints.images, bytesMax: Math.min(imagesBytesMax, Math.ceil(count * imageTextMax)) };
      const answer = await inTurn(holder, signal, () => charged(caller, () => post(endpoint, body, signal)));
      const data = (answer as ImagesAnswer | undefined)?.data;
      if (!Array.isArray(data) || data.length === 0) throw new ConnectorError("The image model gave no image.");
      return Promise.all(data.slice(0, count).map((image) => bytesOf(image, outbound, signal)));
    },
    isMock: (kind) => detectors[kind].isMock(),
    stop: () => dispatcher.close(),
  };
}

/** What is said beside an output, once its model has answered. */
export async function standInOf(models: Pick<ModelClient, "isMock">, kind: "chat" | "images"): Promise<StandIn> {
  const isMock = await models.isMock(kind).catch(() => false);
  return isMock ? { stand_in: true } : {};
}

interface ModelClientOptions {
  readonly chat: ModelEndpoint;
  readonly images: ModelEndpoint;
  readonly list: ModelList;
  /** For images that come as a link: it is the provider's word where that leads. */
  readonly outbound: Outbound;
}

export interface ModelClient {
  complete(ask: Completion): Promise<string>;
  /** The images as the provider made them: not decoded, not checked. */
  draw(ask: Drawing): Promise<Buffer[]>;
  /** Whether only a mock model answers there. Throws when the endpoint cannot be reached. */
  isMock(kind: "chat" | "images"): Promise<boolean>;
  stop(): Promise<void>;
}

export interface Drawing {
  readonly caller: ModelCharge;
  /** The holder to whose share of the calls under way it counts; the platform unless said. */
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
  readonly caller: ModelCharge;
  readonly holder?: Holder;
  readonly messages: readonly Message[];
  readonly model?: string | undefined;
  readonly json?: boolean;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly signal: AbortSignal;
}

function chatBody(menu: ModelMenu, { caller, messages, model, json, temperature, maxTokens }: Completion): object {
  const characters = messages.reduce((sum, { content }) => sum + content.length, 0);
  const listed = caller instanceof PlatformCharge ? undefined : boundsOf(menu, model, characters);
  const tokensMax = listed ? Math.min(maxTokens ?? listed.most, listed.most) : maxTokens;
  return {
    model: listed?.name ?? model ?? menu.usual,
    messages,
    ...(json ? { response_format: { type: "json_object" } } : {}),
    ...(temperature === undefined ? {} : { temperature }),
    ...(tokensMax === undefined ? {} : { max_tokens: tokensMax }),
  };
}

function imagesBody(menu: ModelMenu, ask: Drawing): object {
  const { caller, prompt, model, count, size, quality, responseFormat } = ask;
  const listed = caller instanceof PlatformCharge ? undefined : boundsOf(menu, model, prompt.length, count);
  return {
    model: listed?.name ?? model ?? menu.usual,
    prompt,
    n: count,
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    ...(responseFormat === undefined ? {} : { response_format: responseFormat }),
  };
}

/** What the list says of the model; throws for one that is not on it, or is asked for more than it may be. */
function boundsOf({ usual, models }: ModelMenu, model: string | undefined, characters: number, count = 0): ListedModel {
  const listed = models.get(model ?? usual);
  if (!listed) throw new ConnectorError("The agent's model is not offered here.");
  if (characters > listed.charactersMax || count > (count && listed.most)) {
    throw new ConnectorError("The agent asked more of its model than it may.", { characters, count });
  }
  return listed;
}

/** Makes a call and tells its charge when it was refused; a charge that is told nothing has to be paid for. */
async function charged<T>(caller: ModelCharge, call: () => Promise<T>): Promise<T> {
  caller.send();
  try {
    return await call();
  } catch (error) {
    if (error instanceof NotAnsweredError) caller.refused();
    throw error;
  }
}

async function bytesOf(image: DrawnImage, outbound: Outbound, signal: AbortSignal): Promise<Buffer> {
  if (typeof image.b64_json === "string") {
    const bytes = Buffer.from(image.b64_json, "base64");
    if (bytes.length > imageBytesMax) throw new ConnectorError("The image is too large.", { bytes: bytes.length });
    return bytes;
  }
  if (typeof image.url !== "string") throw new ConnectorError("The image model gave no image.");
  try {
    const answer = await outbound.fetch(image.url, { timeoutMs: 30_000, bytesMax: imageBytesMax, signal });
    if (answer.status === 200) return answer.body;
    throw new ConnectorError("The image could not be fetched.", { status: answer.status });
  } catch (error) {
    if (!(error instanceof OutboundRefusedError || error instanceof OutboundFailedError)) throw error;
    throw new ConnectorError("The image could not be fetched.", { reason: error.message });
  }
}

function textOf(answer: unknown): string {
  const choice = (answer as ChatAnswer | undefined)?.choices?.[0];
  const finish = choice?.finish_reason;
  const content = choice?.message?.content;
  if (choice?.message?.refusal || finish === "content_filter") {
    throw new ConnectorError("The language model declined to answer.", { finish });
  }
  if (finish === "length") throw new ConnectorError("The answer became too long and was cut off.", { finish });
  if (typeof content !== "string" || content.trim() === "") {
    throw new ConnectorError("The language model gave no answer.", { finish });
  }
  return content;
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
