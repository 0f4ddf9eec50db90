import { isUtf8 } from "node:buffer";

/** What a run of %xx stands for: UTF-8, or else its bytes one by one. */
export function percentDecoded(run: string): string {
  const bytes = Buffer.from(run.replaceAll("%", ""), "hex");
  return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
}
