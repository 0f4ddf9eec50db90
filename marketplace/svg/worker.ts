import { ApiError, type ErrorCode } from "../../shared/errors.ts";
import { checkSvg } from "./check-svg.ts";
import { decodeImage } from "./decode.ts";
import type { TraceOptions } from "./options.ts";
import { renderAndScore } from "./render.ts";
import { type Trace, traceInTime } from "./trace.ts";
import { writePdf } from "./write-pdf.ts";

export interface VectorizeJob {
  readonly bytes: Uint8Array;
  readonly options: TraceOptions;
  readonly files: readonly VectorizeFile[];
}

export type VectorizeFile = "png" | "pdf";

export interface Vectorized extends Omit<Trace, "drawing" | "removed"> {
  /** 0..1, see score.ts. */
  readonly score: number;
  readonly metrics: { readonly ssim: number; readonly psnr: number };
  readonly files: Readonly<Partial<Record<VectorizeFile, Uint8Array>>>;
}

/** Errors do not cross a thread whole; a refusal crosses as a value. */
export type VectorizeOutcome =
  | { readonly done: Vectorized }
  | { readonly refused: ErrorCode; readonly message: string };

/** The whole way from an image's bytes to its SVG, run on a worker thread. */
export default async function vectorizeJob({ bytes, options, files }: VectorizeJob): Promise<VectorizeOutcome> {
  try {
    const image = await decodeImage(bytes);
    const { drawing, removed, ...result } = traceInTime(image, options, traceBudgetMs);
    checkSvg(result.svg);
    const { png, likeness } = renderAndScore(image, { svg: result.svg, removed });
    const { score, ssim, psnr } = likeness;
    const made: Partial<Record<VectorizeFile, Uint8Array>> = {};
    if (files.includes("png")) made.png = png;
    if (files.includes("pdf")) made.pdf = writePdf(drawing);
    return {
      done: { ...result, score: round(score), metrics: { ssim: round(ssim), psnr: round(psnr, 2) }, files: made },
    };
  } catch (error) {
    if (error instanceof ApiError) return { refused: error.code, message: error.message };
    if (error instanceof RangeError) return { refused: "bad_request", message: error.message };
    throw error;
  }
}

/** Two more attempts, each coarser, fit in what is left of a job's time (vectorize.ts). */
const traceBudgetMs = 20_000;

function round(value: number, digits = 4): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
