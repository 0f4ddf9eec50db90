import type { TraceOptions } from "../tracer/options.ts";
import type { VectorizeRequest } from "./request.ts";

/** A vectorize request's options as the tracer names them. */
export function traceOptions(request: Omit<VectorizeRequest, "image" | "files">): TraceOptions {
  const { mode, style, colors, simplify, remove_background: removeBackground, layers } = request;
  return { mode, style, simplify, removeBackground, layers, ...(colors === undefined ? {} : { colors }) };
}
