import sharp from "sharp";
import { ApiError } from "../../shared/errors.ts";
import type { Files, NewFile } from "../files/files.ts";
import type { AccountId } from "../ids.ts";
import { imageBytesMax, imagePixelsMax } from "../tracer/image/limits.ts";
import { kindOf } from "../tracer/pool/decode.ts";
import { misconfigured, notNow } from "./refusal.ts";
import { ConnectorError } from "./result.ts";

/**
 * Decodes a PNG, JPEG or WebP and keeps it written anew: whatever else was in the file, metadata or worse, is gone.
 * Answers its URL; throws ConnectorError for bytes that are no such image or a too large one,
 * RefusalError when it cannot be kept.
 */
export async function keepImage(files: Files, bytes: Buffer, file: Omit<NewFile, "bytes" | "kind">): Promise<string> {
  const kind = kindOf(bytes);
  if (!kind || bytes.length > imageBytesMax) {
    throw new ConnectorError("What was drawn is no image, or too large.", { bytes: bytes.length });
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
    throw new ConnectorError("What was drawn is no image, or too large.", { bytes: bytes.length });
  }
  return files.keep({ ...file, bytes: anew, kind: kind === "jpeg" ? "jpg" : kind }).catch(refuse);
}

/** Refuses a run of an agent whose creator has no room for files, before anything is drawn. */
export async function requireRoom(files: Files, ownerId: AccountId): Promise<void> {
  await files.requireRoom(ownerId).catch(refuse);
}

function refuse(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw error.code === "conflict" ? misconfigured(error.message) : notNow(error.message, 5);
}
