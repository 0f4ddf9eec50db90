import { ApiError, type ErrorCode } from "../../../shared/errors.ts";
import type { Notes } from "../notes.ts";
import type { TraceOptions, VectorFile } from "../options.ts";
import type { Trace } from "../output/finish.ts";
import { checkSvg } from "../sanitize/check-svg.ts";
import { BadMarkupError } from "../sanitize/markup.ts";
import { traceInTime } from "../trace.ts";
import { decodeImage } from "./decode.ts";
import { notesOn } from "./notes.ts";
import { type Drawn, redraw, type Wish } from "./redraw.ts";
import { renderAndScore } from "./render.ts";
import { writePdf } from "./write-pdf.ts";

export interface VectorizeJob {
  readonly bytes: Uint8Array;
  readonly options: TraceOptions;
  readonly files: readonly VectorFile[];
  /** Most pixels that the picture may have; `imagePixelsMax` when left out. */
  readonly pixelsMax?: number;
}

/** A chat model's answer with an SVG in it, to be drawn again by our own writer (redraw.ts). */
export interface RedrawJob {
  readonly answer: string;
  readonly wish: Wish;
  readonly files: readonly VectorFile[];
}

export interface Vectorized extends Omit<Trace, "drawing" | "removed">, Notes {
  /** 0..1, see score.ts. */
  readonly score: number;
  readonly metrics: { readonly ssim: number; readonly psnr: number };
  readonly files: Readonly<Partial<Record<VectorFile, Uint8Array>>>;
}

/** Errors do not cross to another process whole; a refusal crosses as a value. */
export type VectorizeOutcome =
  | { readonly done: Vectorized }
  | { readonly refused: ErrorCode; readonly message: string; readonly field?: string };

/** The whole way from an image's bytes, or from a model's answer, to its SVG, run in a worker process (worker.ts). */
export async function vectorizeJob(job: VectorizeJob | RedrawJob): Promise<VectorizeOutcome> {
  try {
    return { done: "answer" in job ? finished(redraw(job.answer, job.wish), job.files) : await traced(job) };
  } catch (error) {
    if (error instanceof ApiError) {
      const { code: refused, message, body } = error;
      return { refused, message, ...(typeof body.field === "string" && { field: body.field }) };
    }
    if (error instanceof BadMarkupError) return { refused: "upstream_failed", message: error.message };
    if (error instanceof RangeError) return { refused: "bad_request", message: error.message };
    throw error;
  }
}

async function traced({ bytes, options, files, pixelsMax }: VectorizeJob): Promise<Vectorized> {
  const image = await decodeImage(bytes, pixelsMax);
  const startedAt = performance.now();
  const result = traceInTime(image, options, traceBudgetMs);
  const ms = performance.now() - startedAt;
  checkSvg(result.svg);
  const drawn = { result, ...renderAndScore(image, result) };
  const notes = notesOn({ image, options, result, ms, score: drawn.likeness.score });
  return { ...finished(drawn, files), ...notes };
}

function finished({ result, png, likeness }: Drawn, files: readonly VectorFile[]): Vectorized {
  const { drawing, removed: _, ...rest } = result;
  const { score, ssim, psnr } = likeness;
  const made: Partial<Record<VectorFile, Uint8Array>> = {};
  if (files.includes("png")) made.png = png();
  if (files.includes("pdf")) made.pdf = writePdf(drawing);
  return { ...rest, score: round(score), metrics: { ssim: round(ssim), psnr: round(psnr, 2) }, files: made };
}

/** Two more attempts, each coarser, fit in what is left of a job's time (vectorize.ts). */
const traceBudgetMs = 20_000;

function round(value: number, digits = 4): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
