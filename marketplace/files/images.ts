import sharp from "sharp";
import { ConnectorFailure } from "../connectors/connector.ts";
import { imageBytesMax, imagePixelsMax, kindOf } from "../svg/decode.ts";
import type { Files, NewFile } from "./files.ts";

/**
 * Decodes a PNG, JPEG or WebP and keeps it written anew: whatever else was in the file, metadata or worse, is gone.
 * Answers its URL; throws ConnectorFailure for bytes that are no such image or a too large one.
 */
export async function keepImage(files: Files, bytes: Buffer, file: Omit<NewFile, "bytes" | "kind">): Promise<string> {
  const kind = kindOf(bytes);
  if (!kind || bytes.length > imageBytesMax) {
    throw new ConnectorFailure("What was drawn is no image, or too large.", { bytes: bytes.length });
  }
  const image = sharp(bytes, { limitInputPixels: imagePixelsMax, pages: 1, failOn: "truncated" }).autoOrient();
  const written = {
    png: () => image.png(),
    jpeg: () => image.jpeg({ quality: 92 }),
    webp: () => image.webp({ quality: 92 }),
  };
  let anew: Buffer;
  try {
    anew = await written[kind]().toBuffer();
  } catch {
    throw new ConnectorFailure("What was drawn is no image, or too large.", { bytes: bytes.length });
  }
  return files.keep({ ...file, bytes: anew, kind: kind === "jpeg" ? "jpg" : kind });
}
