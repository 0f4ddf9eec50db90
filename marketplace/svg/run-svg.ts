import { ApiError } from "../../shared/errors.ts";
import type { Tools } from "../connectors/connector.ts";
import type { Output } from "../connectors/result.ts";
import type { AskedRun, Buyer, RunAnswer } from "../runs/asked-run.ts";
import { type RunNeeds, runOnce } from "../runs/run.ts";
import {
  type Customer,
  type DrawNeeds,
  drawingFailed,
  isDrawnByMock,
  type PreparedSvg,
  prepareSvg,
  type SvgOrder,
  type SvgResult,
  svgAddress,
} from "./products.ts";

/** All keys of one account, and its holder, stand in one line. */
export function customerOf({ accountId }: Buyer): Customer {
  return { ownerId: accountId, party: accountId };
}

/**
 * An order paid with credits, as the run that succeeded; its output is the result without the markup. Throws ApiError
 * as the specification's table has it: 402 not enough balance, 422 an image that cannot be used, 429 too busy, 5xx
 * upstream; all of them cost nothing. Nor does what a mock model draws.
 */
export async function runSvg(
  context: SvgNeeds,
  buyer: Buyer,
  order: SvgOrder,
  more: Pick<AskedRun, "idempotencyKey" | "maxCredits">,
): Promise<RunAnswer & { readonly markup: string | undefined }> {
  let prepared: PreparedSvg | undefined;
  const asked = { agent: svgAddress(order.product), input: order.request, ...more };
  const answer = await runOnce(context, buyer, asked, async () => {
    context.tracers.admit(order.party);
    prepared = prepareSvg(context, order, { free: await isDrawnByMock(context, order.product) });
    return prepared;
  });
  const { success, output, error = drawingFailed } = answer.result;
  if (success && output) return { ...answer, markup: prepared?.markup() };
  throw prepared?.failure() ?? new ApiError("upstream_failed", error);
}

/** What drawing for credits takes. */
export interface SvgNeeds extends RunNeeds, DrawNeeds {
  readonly config: RunNeeds["config"] & DrawNeeds["config"];
  readonly tools: Tools;
}

/**
 * Runs keep the result without its markup; that is in the file, and with who has just drawn it. Where the file store does not
 * answer, 503 that says what was charged for it.
 */
export async function withMarkup(
  context: MarkupNeeds,
  output: Output,
  drawn?: string,
): Promise<SvgResult & { svg: string }> {
  const data = (output as { data: SvgResult }).data;
  return { svg: drawn ?? (await readMarkup(context, data)), ...data };
}

export interface MarkupNeeds {
  readonly tools: Pick<Tools, "files">;
}

export async function readMarkup({ tools }: MarkupNeeds, { url, cost_usd }: SvgResult): Promise<string> {
  try {
    const bytes = await tools.files.read(url.slice(url.lastIndexOf("/") + 1));
    return bytes.toString("utf8");
  } catch (cause) {
    throw new ApiError("unavailable", `The drawing is stored at ${url}, and cannot be read at the moment.`, {
      body: { charged: cost_usd > 0 },
      headers: { "retry-after": "10" },
      cause,
    });
  }
}
