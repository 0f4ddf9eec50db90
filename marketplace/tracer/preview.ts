import type { Colour } from "./drawing.ts";
import type { Raster } from "./image/raster.ts";
import type { TraceOptions } from "./options.ts";
import type { Trace } from "./output/finish.ts";
import { likeness } from "./output/score.ts";
import { checkSvg } from "./sanitize/check-svg.ts";
import { trace } from "./trace.ts";

/** What a page asks of its worker. The answer bears the question's number. */
export type PreviewQuestion = { readonly id: number } & (
  | { readonly ask: "trace"; readonly image: Raster; readonly options: TraceOptions }
  /** How like a trace is to its source, once the page has drawn it; `removed` as the trace said. */
  | { readonly ask: "score"; readonly image: Raster; readonly drawn: Raster; readonly removed: Colour | null }
);

export type PreviewAnswer = { readonly id: number } & (
  | Pick<Trace, "svg" | "removed">
  | { readonly score: number }
  /** Why the options cannot be used. */
  | { readonly refused: string }
);

/** The tracer's own way, for the few pixels of a preview: no Node, no native code, so it runs in a page's worker. */
export function answerPreview(question: PreviewQuestion): PreviewAnswer {
  const { id, image } = question;
  if (question.ask === "score") return { id, score: likeness(image, question.drawn, question.removed).score };
  try {
    const { svg, removed } = trace(image, question.options);
    checkSvg(svg);
    return { id, svg, removed };
  } catch (error) {
    if (error instanceof RangeError) return { id, refused: error.message };
    throw error;
  }
}
