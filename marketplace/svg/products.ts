import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import { credits } from "../../shared/units.ts";
import type { LiveAgent } from "../agents/find.ts";
import { ConnectorFailure, type Output } from "../connectors/connector.ts";
import { Refusal, type RefusalCode } from "../connectors/refusal.ts";
import type { Context } from "../context.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { PreparedRun } from "../runs/prepare.ts";
import type { Party } from "./fair-queue.ts";
import { readImage } from "./image-source.ts";
import type { Vectorized } from "./job.ts";
import { shapePrompt, sizeOf, traceOptionsOf } from "./prompt.ts";
import type { GenerateRequest, VectorizeRequest } from "./request.ts";
import { vectorize } from "./vectorize.ts";
import { compose } from "./written/compose.ts";

/** The three things the platform sells itself, with their price in credits; a credit is a cent. */
export const svgProducts = {
  "svg-vectorize": { id: "agt_svg_vectorize", name: "Image to SVG", price: 1n },
  "svg-generate": { id: "agt_svg_generate", name: "Prompt to SVG", price: 3n },
  "svg-generate-hd": { id: "agt_svg_generate_hd", name: "Prompt to SVG, HD", price: 8n },
} as const satisfies Record<string, { id: AgentId; name: string; price: bigint }>;

export type SvgProduct = keyof typeof svgProducts;

/** What was asked for, as its product. */
export type SvgOrder = Customer &
  (
    | { readonly product: "svg-vectorize"; readonly request: VectorizeRequest }
    | { readonly product: "svg-generate" | "svg-generate-hd"; readonly request: GenerateRequest }
  );

export interface Customer {
  /** Whose the files are, to hide them. */
  readonly ownerId: AccountId;
  /** Whose turn it is in the drawing queue. */
  readonly party: Party;
}

export const platformAccount: AccountId = "acc_platform";

/**
 * The order as a run like any other: held, recorded, refunded when it fails. `failure` tells afterwards why it failed,
 * in the form a door can answer with. With `free`, for what a stand-in draws without a model, it has no price.
 */
export function prepareSvg(context: Context, order: SvgOrder, { free }: { readonly free: boolean }): PreparedSvg {
  let failure: ApiError | undefined;
  const run = async ({ signal, runId }: { signal: AbortSignal; runId: RunId }) => {
    try {
      return { output: await make(context, order, { runId, signal, free }) };
    } catch (error) {
      if (error instanceof ConnectorFailure) failure = asApiError(error);
      else if (error instanceof ApiError) failure = error;
      throw failure ? asFailure(failure) : error;
    }
  };
  return {
    agent: asAgent(order.product, run, free),
    input: { values: {} },
    creatorId: platformAccount,
    failure: () => failure,
  };
}

export interface PreparedSvg extends PreparedRun {
  failure(): ApiError | undefined;
}

/** The address a product's runs are recorded under. */
export const svgAddress = (product: SvgProduct) => `${platformHandle}/${product}`;

const platformHandle = "platform";

/** Everything of the result but the markup, which is in the file that `url` names. */
export interface SvgResult {
  readonly url: string;
  readonly files: Readonly<Record<string, string>>;
  readonly width: number;
  readonly height: number;
  readonly paths: number;
  readonly colors: number;
  readonly bytes: number;
  readonly layers: ReadonlyArray<{ readonly id: string; readonly fill: readonly string[] }>;
  readonly score: number;
  readonly metrics: { readonly ssim: number; readonly psnr: number };
  readonly cost_usd: number;
  readonly ms: number;
  /** No model drew it, but a stand-in for one; it costs nothing. */
  readonly stand_in?: true;
}

interface Making {
  readonly runId: RunId;
  readonly signal: AbortSignal;
  readonly free: boolean;
}

async function make(context: Context, order: SvgOrder, { runId, signal, free }: Making): Promise<Output> {
  const startedAt = performance.now();
  const traced =
    order.product === "svg-vectorize"
      ? await traceImage(context, order.request, order.party, signal)
      : await draw(context, order.request, order.party, signal);
  const standIn = await isDrawnByStandIn(context, order.product);
  // The model went away between the price and the drawing.
  if (standIn && !free) throw standInOnly();
  const { url, files } = await keep(context, traced, order.ownerId, runId);
  const { width, height, paths, colors, bytes, layers, score, metrics } = traced;
  const cost_usd = free ? 0 : Number(svgProducts[order.product].price) / 100;
  const ms = Math.round(performance.now() - startedAt);
  const about = { width, height, paths, colors, bytes, layers, score, metrics, cost_usd, ms };
  const data: SvgResult = { url, files, ...about, ...(standIn && { stand_in: true }) };
  return { kind: "json", data };
}

/** Whether there is no model to draw it, but a stand-in. Throws ApiError 503 when that cannot be learnt. */
export async function isDrawnByStandIn({ tools, config }: Context, product: SvgProduct): Promise<boolean> {
  if (product === "svg-vectorize") return false;
  return tools.models.isStandIn(config.services.drawings.engine).catch((cause: unknown) => {
    throw new ApiError("unavailable", "The model that draws cannot be reached; nothing was charged. Try again.", {
      cause,
      headers: { "retry-after": "15" },
    });
  });
}

function standInOnly(): ApiError {
  const message = "There is no model to draw it at the moment, only a stand-in, which draws for nothing. Ask again.";
  return new ApiError("unavailable", message, { headers: { "retry-after": "1" } });
}

async function traceImage(
  context: Context,
  request: VectorizeRequest,
  party: Party,
  signal: AbortSignal,
): Promise<Vectorized> {
  const { mode, style, colors, simplify, remove_background: removeBackground, layers, files } = request;
  const bytes = await readImage(context.tools.outbound, request.image, signal);
  const options = { mode, style, simplify, removeBackground, layers, ...(colors === undefined ? {} : { colors }) };
  return vectorize(context.tracers, bytes, options, { deadlineMs: traceDeadlineMs, files: withPng(files), party });
}

async function draw(
  context: Context,
  request: GenerateRequest,
  party: Party,
  signal: AbortSignal,
): Promise<Vectorized> {
  const { tools, tracers, config } = context;
  const { engine, model } = config.services.drawings;
  if (engine === "chat") {
    const files = withPng(request.files);
    const deadlineMs = traceDeadlineMs;
    return compose(request, { models: tools.models, model, tracers, files, deadlineMs, party, signal });
  }
  const [picture] = await tools.models.draw({
    caller: "platform",
    prompt: shapePrompt(request),
    count: 1,
    size: sizeOf(request),
    ...(request.hd ? { quality: "hd" } : {}),
    signal,
  });
  if (!picture) throw new ConnectorFailure("The image model gave no image.");
  const means = { deadlineMs: traceDeadlineMs, files: withPng(request.files), party };
  return vectorize(tracers, picture, traceOptionsOf(request), means).catch((error: unknown) => {
    // What is wrong with the model's picture is nothing that was asked for.
    const { code, message } = error as { code?: string; message?: string };
    throw code === "invalid_value" ? new ConnectorFailure("The image model gave no usable image.", { message }) : error;
  });
}

async function keep({ tools }: Context, traced: Vectorized, ownerId: AccountId, runId: RunId) {
  const url = await tools.files.keep({ bytes: Buffer.from(traced.svg), kind: "svg", ownerId, runId });
  const files: Record<string, string> = {};
  for (const [kind, bytes] of Object.entries(traced.files) as Array<["png" | "pdf", Uint8Array]>) {
    files[kind] = await tools.files.keep({ bytes, kind, ownerId, runId });
  }
  return { url, files };
}

const withPng = (files: readonly ("png" | "pdf")[]) => [...new Set(["png" as const, ...files])];

/** A busy image model is for the caller to come back to; everything else upstream is a failure that was refunded. */
function asApiError(error: ConnectorFailure): ApiError {
  const { statusCode, retryAfterSeconds = 15 } = error.detail;
  const headers = { "retry-after": String(retryAfterSeconds) };
  if (statusCode === 429) return new ApiError("rate_limited", error.message, { headers });
  return new ApiError("upstream_failed", error.message);
}

/** Why it failed as a run has it: what the caller can mend or wait for is a refusal, on every rail. */
function asFailure({ code, message, body, headers }: ApiError): ConnectorFailure {
  if (!isRefusal(code)) return new ConnectorFailure(message, { code });
  const retryAfter = headers["retry-after"];
  return new Refusal(code, message, {
    ...(typeof body.field === "string" && { field: body.field }),
    ...(retryAfter !== undefined && { retryAfterSeconds: Number(retryAfter) }),
  });
}

const isRefusal = (code: ErrorCode): code is RefusalCode =>
  ["bad_request", "invalid_value", "rate_limited", "unavailable"].includes(code);

function asAgent(product: SvgProduct, run: LiveAgent["version"]["run"], free: boolean): LiveAgent {
  const { id, name, price } = svgProducts[product];
  const [handle, at] = [platformHandle, new Date(0)];
  const owner = { ownerId: platformAccount, handleLeadsTo: platformAccount, ownerState: "open" };
  const dates = { createdAt: at, updatedAt: at, liveVersion: 1 };
  const wallets: LiveAgent["wallets"] = [];
  const contract = { fields: [], acceptsExtraInstructions: false, jsonSchema: {}, read: () => ({ values: {} }) };
  return {
    id,
    handle,
    slug: product,
    address: svgAddress(product),
    toolName: product.replaceAll("-", "_"),
    ...owner,
    ...dates,
    wallets,
    version: {
      number: 1,
      name,
      description: name,
      connector: "image-generator",
      priceCredits: credits(free ? 0n : price),
      outputKind: "json",
      contract,
      timeLimitMs: 280_000,
      permanent: false,
      hasEffects: false,
      needsAccount: false,
      unsafe: false,
      run,
    },
  };
}

/** A trace takes seconds and may wait a minute for its turn; one that has taken this long is ended wherever it is. */
const traceDeadlineMs = 120_000;
