import { DeadlinePassedError } from "../deadline.ts";
import { hex } from "../drawing.ts";
import { strengthened } from "../image/faint.ts";
import { premultiply, type Raster } from "../image/raster.ts";
import { blurOf } from "../image/sharpen.ts";
import { workingScale } from "../image/texture.ts";
import { type Notes, noBackground } from "../notes.ts";
import type { TraceOptions } from "../options.ts";
import type { Trace } from "../output/finish.ts";
import { isFlat, settingsOf } from "../settings.ts";
import { trace } from "../trace.ts";

interface Traced {
  readonly image: Raster;
  readonly options: TraceOptions;
  readonly result: Trace;
  /** What tracing took. */
  readonly ms: number;
  readonly score: number;
}

/** The notes on a trace. Comparing styles takes about as long again as the trace took. */
export function notesOn(traced: Traced): Notes {
  const { options, result } = traced;
  const advice = adviceOn(traced);
  return {
    ...(options.removeBackground && { background: result.removed ? hex(result.removed) : noBackground }),
    ...(isSameAsAuto(traced) && { same_as: "auto" }),
    ...(advice !== undefined && { advice }),
  };
}

function isSameAsAuto({ image, options, result, ms }: Traced): boolean {
  if ((options.style ?? "auto") === "auto") return false;
  const deadlineMs = performance.now() + Math.min(compareMsMax, 1_000 + 4 * ms);
  try {
    return trace(image, { ...options, style: "auto" }, { deadlineMs }).svg === result.svg;
  } catch (error) {
    if (error instanceof DeadlinePassedError) return false;
    throw error;
  }
}

const compareMsMax = 5_000;

/** Where the caller asked for less than the picture has, what is missing is no surprise. */
function adviceOn({ image, options, score }: Traced): string | undefined {
  const { style = "auto", colors, palette, simplify = 0 } = options;
  if (style === "lineart" || colors !== undefined || palette) return undefined;
  if (score >= justScore) return style === "auto" && isBlurred(image, options) ? drawnBlurred : undefined;
  if (simplify > 0.3) return undefined;
  if (style === "photo") return "This is a poster of the picture. Where likeness matters, keep the bitmap.";
  if (isFlat(settingsOf(options)) && isBlurred(image, options)) return drawnSharp;
  return (
    "The picture has finer texture than vector shapes can hold, as photographs have. Keep the bitmap where likeness " +
    "matters, or ask for style photo, which makes a small poster of it."
  );
}

/** As it is traced: of a large picture, reduced, less is blurred. */
function isBlurred(image: Raster, options: TraceOptions): boolean {
  const seen = strengthened(image)?.image ?? image;
  const scale = workingScale(image, settingsOf(options).pixelsMax);
  return blurOf(premultiply(seen), image.width, image.height, scale) > 0;
}

const drawnBlurred =
  "The picture is blurred, as enlarged ones are, and drawn so. Style logo draws its shapes with sharp edges.";
const drawnSharp = "The picture is blurred and the drawing's edges are sharp, which the score counts as a difference.";

/** From this score on a drawing passes for its picture. */
const justScore = 0.75;
