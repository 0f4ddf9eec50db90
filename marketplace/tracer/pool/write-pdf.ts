import { deflateSync } from "node:zlib";
import type { Drawing } from "../drawing.ts";
import { layOutPdf } from "../output/pdf-page.ts";

/** The drawing as a PDF, its page compressed. */
export function writePdf(drawing: Drawing): Uint8Array {
  const { content, assemble } = layOutPdf(drawing);
  return assemble(deflateSync(content));
}
