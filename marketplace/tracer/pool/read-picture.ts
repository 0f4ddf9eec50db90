import type { Sharp } from "sharp";
import type { ImageKind } from "../image/kind.ts";
import { imagePixelsMax } from "../image/limits.ts";
import { sharp } from "./sharp.ts";

/**
 * Asks libvips for what is wanted of a picture: its first frame, of no more pixels than any may have. Rejects where the file is cut short,
 * or the first thing that libjpeg warns of is damage within, which would be decoded with grey and shifted blocks.
 */
export async function readPicture<T>(
  bytes: Uint8Array,
  kind: ImageKind,
  ask: (image: Sharp) => Promise<T>,
): Promise<T> {
  const read = (failOn: "truncated" | "warning") =>
    ask(sharp(bytes, { limitInputPixels: imagePixelsMax, pages: 1, failOn }));
  // In PNGs there are warnings of profiles alone.
  if (kind !== "jpeg") return read("truncated");
  try {
    return await read("warning");
  } catch (error) {
    if (isDamage(error)) throw error;
    return read("truncated");
  }
}

/** By libjpeg's warning. Others are of headers that cameras and old editors write. */
function isDamage(error: unknown): boolean {
  const message = error instanceof Error ? error.message : "";
  const [, skipped = 0] = /Corrupt JPEG data: (\d+) extraneous bytes/.exec(message) ?? [];
  return (
    Number(skipped) > paddingMax || /bad (?:Huffman|arithmetic) code|end of data segment|instead of RST/.test(message)
  );
}

/** Bytes that some cameras write between segments. */
const paddingMax = 32;
