import { ApiError } from "../../shared/errors.ts";
import type { ModelClient } from "../connectors/model-client.ts";
import { ConnectorError } from "../connectors/result.ts";
import type { ModelCharge } from "../models/model-charge.ts";
import type { VectorFile } from "../tracer/options.ts";
import type { Vectorized } from "../tracer/pool/job.ts";
import type { Wish } from "../tracer/pool/redraw.ts";
import type { Place } from "./fair-queue.ts";
import { shapePrompt, sizeOf } from "./prompt.ts";
import type { GenerateRequest } from "./request.ts";
import type { TracePool } from "./trace-pool.ts";
import { perform } from "./vectorize.ts";

interface Means {
  readonly models: ModelClient;
  readonly model: string | undefined;
  readonly tracers: TracePool;
  readonly files: readonly VectorFile[];
  readonly deadlineMs: number;
  readonly place: Place;
  readonly caller: ModelCharge;
  readonly signal: AbortSignal;
}

/**
 * A drawing that a chat model writes as SVG itself. Its answer is read, written anew and checked (redraw.ts); one that
 * cannot be used is answered with what is wrong with it, once. Throws ConnectorError when the second is of no use
 * either, and as the model client does.
 */
export async function compose(request: GenerateRequest, means: Means): Promise<Vectorized> {
  const wish = wishOf(request);
  const asked = [
    { role: "system", content: rules(wish) },
    { role: "user", content: shapePrompt(request) },
  ] as const;
  try {
    return await attempt(asked, wish, means);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === undefined) throw error;
    const again = {
      role: "user",
      content: `Your last answer could not be used: ${fault}. Draw it again, by the rules.`,
    };
    return await attempt([...asked, again as (typeof asked)[number]], wish, means).catch((second) => {
      if (faultOf(second) === undefined) throw second;
      throw new ConnectorError("The model wrote no drawing that can be used.", { fault: faultOf(second) });
    });
  }
}

async function attempt(
  messages: ReadonlyArray<{ readonly role: "system" | "user"; readonly content: string }>,
  wish: Wish,
  { models, model, tracers, files, deadlineMs, place, caller, signal }: Means,
): Promise<Vectorized> {
  const answer = await models.complete({ caller, messages, model, signal });
  return perform(tracers, { answer, wish, files }, { deadlineMs, from: place });
}

/** What is wrong with an answer, in words for the model; undefined when something else failed. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof ApiError && error.code === "upstream_failed") return error.message;
  return error instanceof ConnectorError && error.detail.finish === "length" ? "it was too long" : undefined;
}

function wishOf(request: GenerateRequest): Wish {
  const { hd, layers, background, palette, colors } = request;
  const [width, height] = sizeOf(request).split("x").map(Number) as [number, number];
  return {
    width,
    height,
    bytesMax: hd ? 1_000_000 : 500_000,
    objects: layers,
    ...(background === undefined || background === "transparent" ? {} : { background }),
    ...(palette === undefined ? {} : { palette }),
    ...(colors === undefined ? {} : { colors }),
  };
}

function rules({ width, height, objects, colors }: Wish): string {
  return [
    `You draw by writing SVG. Answer with one <svg viewBox="0 0 ${width} ${height}"> element and nothing else.`,
    "Elements: g path rect circle ellipse line polyline polygon defs linearGradient radialGradient stop. No others: no text, style, script, image, use, filter, mask, clipPath or animation.",
    "Attributes: geometry, transform, fill, fill-rule, fill-opacity, stroke, stroke-width, stroke-opacity, stroke-linecap, stroke-linejoin, opacity; no style or class. Colours as #rrggbb or none; gradients as url(#id).",
    "At most 300 elements and 60,000 characters. Draw from back to front.",
    objects && "Put each thing in the picture in a <g> of its own, directly under <svg>.",
    colors && `Use at most ${colors} colours, and no gradients.`,
  ]
    .filter(Boolean)
    .join("\n");
}
