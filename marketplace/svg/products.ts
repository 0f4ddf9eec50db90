import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import type { Config } from "../config.ts";
import type { Tools } from "../connectors/connector.ts";
import { type RefusalCode, RefusalError } from "../connectors/refusal.ts";
import { ConnectorError, type Output } from "../connectors/result.ts";
import { credits, creditsText, priceInDollars } from "../credits/amount.ts";
import { type AccountId, type AgentId, platformAccount, type RunId } from "../ids.ts";
import { type ModelCharge, PlatformCharge } from "../models/model-charge.ts";
import type { PreparedRun } from "../runs/prepare.ts";
import type { Runnable, RunnableCall } from "../runs/runnable.ts";
import { drawingMs } from "../time-limits.ts";
import type { Notes } from "../tracer/notes.ts";
import type { VectorFile } from "../tracer/options.ts";
import type { Vectorized } from "../tracer/pool/job.ts";
import { compose } from "./compose.ts";
import { promptLengthMax } from "./draw-options.ts";
import type { Party, Place } from "./fair-queue.ts";
import { readImage } from "./image-source.ts";
import { shapePrompt, sizeOf, traceOptionsOf } from "./prompt.ts";
import { type GenerateRequest, traceOptions, type VectorizeRequest } from "./request.ts";
import { freeParty, type TracePool } from "./trace-pool.ts";
import { vectorize } from "./vectorize.ts";

const takesPrompt = `Takes \`prompt\`: up to ${promptLengthMax.toLocaleString("en")} characters; style, aspect, colours and background if you like.`;

/** The drawings that the platform sells, with their price in credits. It sells credits besides (payments/purchase.ts). */
export const svgProducts = {
  "svg-vectorize": {
    id: "agt_svg_vectorize",
    name: "Image to SVG",
    price: 1n,
    does: "Turns a PNG, JPEG or WebP image into an SVG.",
    takes: "Takes `image`: an https URL, a data: URI or base64.",
  },
  "svg-generate": {
    id: "agt_svg_generate",
    name: "Prompt to SVG",
    price: 3n,
    does: "Draws what the prompt says as an SVG.",
    takes: takesPrompt,
  },
  "svg-generate-hd": {
    id: "agt_svg_generate_hd",
    name: "Prompt to SVG, HD",
    price: 8n,
    does: "Draws what the prompt says as an SVG, in more detail.",
    takes: takesPrompt,
  },
} as const satisfies Record<string, Product>;

interface Product {
  readonly id: AgentId;
  readonly name: string;
  /** In credits. */
  readonly price: bigint;
  readonly does: string;
  /** The input that it needs, for callers who have not read its schema. */
  readonly takes: string;
}

export type SvgProduct = keyof typeof svgProducts;

/** Its name on the tool servers. */
export const svgToolName = (product: SvgProduct) => product.replaceAll("-", "_");

export function creditText(product: SvgProduct): string {
  return creditsText(svgProducts[product].price);
}

/** What was asked for, as its product. */
export type SvgOrder = Customer &
  (
    | { readonly product: "svg-vectorize"; readonly request: VectorizeRequest }
    | { readonly product: "svg-generate" | "svg-generate-hd"; readonly request: GenerateRequest }
  );

export interface Customer {
  /** The account that owns the files, and may hide them. */
  readonly ownerId: AccountId;
  /** The party that waits in the drawing queue. */
  readonly party: Party;
}

/**
 * The order as a run like any other: held, recorded, refunded when it fails. `failure` tells afterwards why it failed, in the form
 * that a transport can answer with; `markup` is the drawing. With `free`, for drawings of a mock model, it has no price.
 */
export function prepareSvg(context: DrawNeeds, order: SvgOrder, { free }: { readonly free: boolean }): PreparedSvg {
  let failure: ApiError | undefined;
  let markup: string | undefined;
  const run = async ({ signal, runId, modelCharge }: Pick<RunnableCall, "signal" | "runId" | "modelCharge">) => {
    try {
      const made = await make(context, order, { runId, signal, modelCharge, free });
      markup = made.svg;
      return { output: made.output };
    } catch (error) {
      if (error instanceof ConnectorError) failure = asApiError(error);
      else if (error instanceof ApiError) failure = error;
      throw failure ? asFailure(failure) : error;
    }
  };
  return {
    runnable: asRunnable(order.product, run, free),
    input: { values: {} },
    creatorId: platformAccount,
    failure: () => failure,
    markup: () => markup,
  };
}

/** What drawing takes. */
export interface DrawNeeds {
  readonly tools: Pick<Tools, "models" | "outbound" | "files">;
  readonly config: Pick<Config, "services">;
  readonly tracers: TracePool;
}

export interface PreparedSvg extends PreparedRun {
  failure(): ApiError | undefined;
  /** The markup of the drawing that was just made. */
  markup(): string | undefined;
}

/** The address a product's runs are recorded under. */
export const svgAddress = (product: SvgProduct) => `${platformHandle}/${product}`;

const platformHandle = "platform";

/** Everything of the result but the markup, which is in the file that `url` names. */
export interface SvgResult extends Notes {
  readonly url: string;
  readonly files: Readonly<Record<string, string>>;
  readonly width: number;
  readonly height: number;
  readonly paths: number;
  readonly colors: number;
  readonly bytes: number;
  readonly layers: ReadonlyArray<{ readonly id: string; readonly name?: string; readonly fill: readonly string[] }>;
  readonly score: number;
  readonly metrics: { readonly ssim: number; readonly psnr: number };
  readonly cost_usd: number;
  readonly ms: number;
  /** A mock model drew it (infra/mock-models); it costs nothing. */
  readonly stand_in?: true;
}

interface Making {
  readonly runId: RunId;
  readonly signal: AbortSignal;
  readonly modelCharge: ModelCharge;
  readonly free: boolean;
}

async function make(
  context: DrawNeeds,
  order: SvgOrder,
  { runId, signal, modelCharge, free }: Making,
): Promise<{ readonly output: Output; readonly svg: string }> {
  const startedAt = performance.now();
  await context.tools.files.requireRoom(order.ownerId);
  const traced =
    order.product === "svg-vectorize"
      ? await traceImage(context, order.request, order.party, signal)
      : await draw(context, order.request, { party: free ? freeParty : order.party, signal, modelCharge });
  const isMock = await isDrawnByMock(context, order.product);
  // The model went away between the price and the drawing.
  if (isMock && !free) throw mockOnly();
  const { url, files } = await keep(context, traced, order.ownerId, runId);
  const { width, height, paths, colors, bytes, layers, score, metrics } = traced;
  const cost_usd = free ? 0 : priceInDollars(credits(svgProducts[order.product].price));
  const ms = Math.round(performance.now() - startedAt);
  const notes = order.product === "svg-vectorize" ? notesOf(traced) : {};
  const about = { width, height, paths, colors, bytes, layers, score, metrics, ...notes, cost_usd, ms };
  const data: SvgResult = { url, files, ...about, ...(isMock && { stand_in: true }) };
  return { output: { kind: "json", data }, svg: traced.svg };
}

/** Notes on the caller's own picture; a caller knows nothing of a picture that a model drew. */
function notesOf({ background, same_as, advice }: Vectorized): Notes {
  return { ...(background && { background }), ...(same_as && { same_as }), ...(advice && { advice }) };
}

/** Whether only a mock model would draw it. Throws ApiError 503 when that cannot be learnt. */
export async function isDrawnByMock(
  { tools, config }: Pick<DrawNeeds, "tools" | "config">,
  product: SvgProduct,
): Promise<boolean> {
  if (product === "svg-vectorize") return false;
  return tools.models.isMock(config.services.drawings.engine).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The model that draws cannot be reached; nothing was charged. Try again.", {
      cause,
      headers: { "retry-after": "15" },
    });
  });
}

function mockOnly(): ApiError {
  const message = "There is no model to draw it at the moment, only a stand-in, which draws for nothing. Ask again.";
  return new ApiError("unavailable", message, { headers: { "retry-after": "1" } });
}

async function traceImage(
  context: DrawNeeds,
  request: VectorizeRequest,
  party: Party,
  signal: AbortSignal,
): Promise<Vectorized> {
  const bytes = await readImage(context.tools.outbound, request.image, party, signal);
  const means = { deadlineMs: traceDeadlineMs, files: withPng(request.files), from: party };
  return vectorize(context.tracers, bytes, traceOptions(request), means);
}

async function draw(
  context: DrawNeeds,
  request: GenerateRequest,
  { party, signal, modelCharge }: Pick<Making, "signal" | "modelCharge"> & { readonly party: Party },
): Promise<Vectorized> {
  // What the model draws for nothing is the platform's own affair too.
  const caller = modelCharge instanceof PlatformCharge ? modelCharge : new PlatformCharge();
  // Before the model: what it has drawn is not thrown away for want of a place.
  const place = context.tracers.reserve(party);
  try {
    return await drawIn(place, context, request, { signal, caller });
  } finally {
    place.leave();
  }
}

async function drawIn(
  place: Place,
  { tools, tracers, config }: DrawNeeds,
  request: GenerateRequest,
  { signal, caller }: { readonly signal: AbortSignal; readonly caller: ModelCharge },
): Promise<Vectorized> {
  const { engine, model } = config.services.drawings;
  const means = { deadlineMs: traceDeadlineMs, files: withPng(request.files) };
  if (engine === "chat")
    return compose(request, { ...means, models: tools.models, model, tracers, place, caller, signal });
  const [picture] = await tools.models.draw({
    caller,
    prompt: shapePrompt(request),
    count: 1,
    size: sizeOf(request),
    ...(request.hd ? { quality: "hd" } : {}),
    signal,
  });
  if (!picture) throw new ConnectorError("The image model gave no image.");
  const options = traceOptionsOf(request);
  return vectorize(tracers, picture, options, { ...means, from: place }).catch((error: unknown) => {
    // The model made the bad picture, not the caller: a failure, and no refusal.
    const { code, message } = error as { code?: string; message?: string };
    throw code === "invalid_value" ? new ConnectorError("The image model gave no usable image.", { message }) : error;
  });
}

async function keep({ tools }: DrawNeeds, traced: Vectorized, ownerId: AccountId, runId: RunId) {
  const url = await tools.files.keep({ bytes: Buffer.from(traced.svg), kind: "svg", ownerId, runId });
  const files: Record<string, string> = {};
  for (const [kind, bytes] of Object.entries(traced.files) as Array<[VectorFile, Uint8Array]>) {
    files[kind] = await tools.files.keep({ bytes, kind, ownerId, runId });
  }
  return { url, files };
}

const withPng = (files: readonly VectorFile[]) => [...new Set(["png" as const, ...files])];

/** A busy image model is for the caller to come back to; everything else upstream is a failure that was refunded. */
function asApiError(error: ConnectorError): ApiError {
  const { statusCode, retryAfterSeconds = 15 } = error.detail;
  const headers = { "retry-after": String(retryAfterSeconds) };
  if (statusCode === 429) return new ApiError("rate_limited", error.message, { headers });
  return new ApiError("upstream_failed", error.message);
}

/** Why it failed as a run has it: what the caller can mend or wait for is a refusal, whatever the payment method. */
function asFailure({ code, message, body, headers }: ApiError): ConnectorError {
  if (!isRefusal(code)) return new ConnectorError(message, { code });
  const retryAfter = headers["retry-after"];
  return new RefusalError(code, message, {
    ...(typeof body.field === "string" && { field: body.field }),
    ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
  });
}

const isRefusal = (code: ErrorCode): code is RefusalCode =>
  ["bad_request", "invalid_value", "rate_limited", "unavailable"].includes(code);

/** The product as its runs need it; they are recorded under its row among the agents. */
function asRunnable(product: SvgProduct, run: Runnable["run"], free: boolean): Runnable {
  const { id, price } = svgProducts[product];
  return {
    id,
    version: 1,
    address: svgAddress(product),
    ownerId: platformAccount,
    connector: product,
    priceCredits: credits(free ? 0n : price),
    timeLimitMs: drawingMs,
    permanent: false,
    hasEffects: false,
    isAtPlatformsCost: !free && product !== "svg-vectorize",
    failedText: drawingFailed,
    run,
  };
}

export const drawingFailed = "The drawing failed.";

/** A trace takes seconds and may wait a minute for its turn; one that has taken this long is ended wherever it is. */
const traceDeadlineMs = 120_000;
