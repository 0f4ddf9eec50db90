import { ApiError } from "../../shared/errors.ts";
import { credits } from "../../shared/units.ts";
import type { LiveAgent } from "../agents/find.ts";
import { ConnectorFailure, type Output } from "../connectors/connector.ts";
import type { Context } from "../context.ts";
import type { AccountId, AgentId, RunId } from "../ids.ts";
import type { PreparedRun } from "../runs/prepare.ts";
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

/** What was asked for, as its product. The files belong to `ownerId`, who may hide them. */
export type SvgOrder =
  | { readonly product: "svg-vectorize"; readonly request: VectorizeRequest; readonly ownerId: AccountId }
  | {
      readonly product: "svg-generate" | "svg-generate-hd";
      readonly request: GenerateRequest;
      readonly ownerId: AccountId;
    };

export const platformAccount: AccountId = "acc_platform";

/**
 * The order as a run like any other: held, recorded, refunded when it fails. `failure` tells afterwards why it failed,
 * in the form a door can answer with.
 */
export function prepareSvg(context: Context, order: SvgOrder): PreparedRun & { failure(): ApiError | undefined } {
  let failure: ApiError | undefined;
  const run = async ({ signal, runId }: { signal: AbortSignal; runId: RunId }) => {
    try {
      return { output: await make(context, order, runId, signal) };
    } catch (error) {
      if (error instanceof ConnectorFailure) failure = asApiError(error);
      if (!(error instanceof ApiError)) throw error;
      failure = error;
      throw new ConnectorFailure(error.message, { code: error.code });
    }
  };
  return {
    agent: asAgent(order.product, run),
    input: { values: {} },
    creatorId: platformAccount,
    failure: () => failure,
  };
}

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
}

async function make(context: Context, order: SvgOrder, runId: RunId, signal: AbortSignal): Promise<Output> {
  const startedAt = performance.now();
  const traced =
    order.product === "svg-vectorize"
      ? await traceImage(context, order.request, signal)
      : await draw(context, order.request, signal);
  const { url, files } = await keep(context, traced, order.ownerId, runId);
  const { width, height, paths, colors, bytes, layers, score, metrics } = traced;
  const cost_usd = Number(svgProducts[order.product].price) / 100;
  const ms = Math.round(performance.now() - startedAt);
  const data: SvgResult = { url, files, width, height, paths, colors, bytes, layers, score, metrics, cost_usd, ms };
  return { kind: "json", data };
}

async function traceImage(context: Context, request: VectorizeRequest, signal: AbortSignal): Promise<Vectorized> {
  const { mode, style, colors, simplify, remove_background: removeBackground, layers, files } = request;
  const bytes = await readImage(context.tools.outbound, request.image, signal);
  const options = { mode, style, simplify, removeBackground, layers, ...(colors === undefined ? {} : { colors }) };
  return vectorize(context.tracers, bytes, options, { deadlineMs: traceDeadlineMs, files: withPng(files) });
}

async function draw(context: Context, request: GenerateRequest, signal: AbortSignal): Promise<Vectorized> {
  const { tools, tracers, config } = context;
  const { engine, model } = config.services.drawings;
  if (engine === "chat") {
    const files = withPng(request.files);
    return compose(request, { models: tools.models, model, tracers, files, deadlineMs: traceDeadlineMs, signal });
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
  const deadline = { deadlineMs: traceDeadlineMs, files: withPng(request.files) };
  return vectorize(tracers, picture, traceOptionsOf(request), deadline);
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
  const busy = error.detail.statusCode === 429;
  if (busy) return new ApiError("rate_limited", error.message, { headers: { "retry-after": "15" } });
  return new ApiError("upstream_failed", error.message);
}

function asAgent(product: SvgProduct, run: LiveAgent["version"]["run"]): LiveAgent {
  const { id, name, price } = svgProducts[product];
  const [handle, at] = ["platform", new Date(0)];
  const owner = { ownerId: platformAccount, handleLeadsTo: platformAccount, ownerState: "open" };
  const dates = { createdAt: at, updatedAt: at, liveVersion: 1 };
  const wallets: LiveAgent["wallets"] = [];
  const contract = { fields: [], acceptsExtraInstructions: false, jsonSchema: {}, read: () => ({ values: {} }) };
  return {
    id,
    handle,
    slug: product,
    address: `${handle}/${product}`,
    toolName: product.replaceAll("-", "_"),
    ...owner,
    ...dates,
    wallets,
    version: {
      number: 1,
      name,
      description: name,
      connector: "image-generator",
      priceCredits: credits(price),
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
