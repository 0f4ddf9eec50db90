import type { Request } from "express";

export type Encoding = "br" | "gzip";

/** The best encoding that the caller takes; undefined for none. */
export function encodingOf(request: Request): Encoding | undefined {
  const taken = request.acceptsEncodings("br", "gzip", "identity");
  return taken === "br" || taken === "gzip" ? taken : undefined;
}
