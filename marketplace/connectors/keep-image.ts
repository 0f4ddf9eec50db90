import type { Sharp } from "sharp";
import { ApiError } from "../../shared/errors.ts";
import { FairSemaphore } from "../../shared/fair-semaphore.ts";
import type { Files, NewFile } from "../files/files.ts";
import type { AccountId } from "../ids.ts";
import { imageRunMs } from "../time-limits.ts";
import { hasTooManyScans } from "../tracer/image/jpeg/scans.ts";
import { type ImageKind, kindOf } from "../tracer/image/kind.ts";
import { imageBytesMax } from "../tracer/image/limits.ts";
import { permitFrom } from "./permit.ts";
import { misconfigured, notNow } from "./refusal.ts";
import { ConnectorError, overtimeText } from "./result.ts";

/**
 * Decodes a PNG, JPEG or WebP and keeps it written anew: whatever else was in the file, metadata or worse, is gone.
 * Answers its URL; throws ConnectorError for bytes that are no such image or a too large one,
 * RefusalError when it cannot be kept. Pictures are written in turns; ConnectorError where `signal` aborts first.
 */
export async function keepImage(
  files: Files,
  bytes: Buffer,
  file: Omit<NewFile, "bytes" | "kind">,
  signal: AbortSignal,
): Promise<string> {
  const kind = kindOf(bytes);
  if (!kind || bytes.length > imageBytesMax || (kind === "jpeg" && hasTooManyScans(bytes))) {
    throw new ConnectorError("What was drawn is no image, or too large.", { bytes: bytes.length });
  }
  const holder = { account: file.ownerId, agent: file.agentId ?? file.ownerId };
  const release = await permitFrom(turns, holder, signal);
  const anew = await rewritten(bytes, kind).finally(release);
  return files.keep({ ...file, bytes: anew, kind: kind === "jpeg" ? "jpg" : kind }).catch(refuse);
}

/**
 * Keeps the pictures of one answer as keepImage does, one after the other; their URLs. ConnectorError where as many megabytes of its
 * agent's or account's wait for that already as may.
 */
export async function keepImages(
  files: Files,
  pictures: readonly Buffer[],
  file: Omit<NewFile, "bytes" | "kind">,
  signal: AbortSignal,
): Promise<string[]> {
  const holder = { account: file.ownerId, agent: file.agentId ?? file.ownerId };
  const bytes = pictures.reduce((sum, { length }) => sum + length, 0);
  const release = await permitFrom(waiting, holder, signal, Math.max(1, Math.ceil(bytes / megabyte)));
  try {
    return await keepEach(files, pictures, file, signal);
  } finally {
    release();
  }
}

/**
 * Draws so many pictures by `draw` and keeps them as keepImages does; their URLs. They have their room before anything is drawn: a model
 * charges for what cannot be kept then. ConnectorError where others' pictures have the room for too long.
 */
export async function keepDrawn(
  files: Files,
  { count, draw }: { readonly count: number; readonly draw: () => Promise<readonly Buffer[]> },
  file: Omit<NewFile, "bytes" | "kind">,
  signal: AbortSignal,
): Promise<string[]> {
  const holder = { account: file.ownerId, agent: file.agentId ?? file.ownerId };
  const release = await permitFrom(drawing, holder, signal, count);
  try {
    // If it cannot be loaded, that is known before anything is drawn.
    await pictureLibrary();
    return await keepEach(files, await draw(), file, signal);
  } finally {
    release();
  }
}

async function keepEach(
  files: Files,
  pictures: readonly Buffer[],
  file: Omit<NewFile, "bytes" | "kind">,
  signal: AbortSignal,
): Promise<string[]> {
  const urls: string[] = [];
  try {
    for (const picture of pictures) urls.push(await keepImage(files, picture, file, signal));
    if (signal.aborted) throw new ConnectorError(overtimeText);
    return urls;
  } catch (error) {
    // The run gives none of them: a buyer whose runs fail must not fill their owner's room.
    if (file.runId) await files.removeOf(file.runId).catch(() => {});
    throw error;
  }
}

/** Pictures that are being drawn or wait to be kept: each may have `imageBytesMax`, and few take long to keep at two a time. */
const drawing = new FairSemaphore({ total: 64, waitMs: 30_000, part: 1 });

/** Megabytes of pictures that were answered and not kept yet: a run waits for its turn, and holds them meanwhile. */
const waiting = new FairSemaphore({ total: 128, waitMs: 0, part: 1 });
const megabyte = 1_048_576;

/**
 * A large picture takes seconds, on a thread of the four that everything else of this process has for files, names and compression too:
 * one of an account at a time, and two in all. What made it may have cost something, so a run waits for as long as it may take.
 */
const turns = new FairSemaphore({ total: 2, waitMs: imageRunMs, part: 1 });

/** Few services keep pictures, and libvips takes a twentieth of a start to load. */
const pictureLibrary = () => import("../tracer/pool/read-picture.ts");

async function rewritten(bytes: Buffer, kind: ImageKind): Promise<Buffer> {
  const { readPicture } = await pictureLibrary();
  const written = {
    png: (image: Sharp) => image.png(),
    jpeg: (image: Sharp) => image.jpeg({ quality: 92 }),
    webp: (image: Sharp) => image.webp({ quality: 92 }),
  };
  try {
    return await readPicture(bytes, kind, (image) => written[kind](image.autoOrient()).toBuffer());
  } catch {
    throw new ConnectorError("What was drawn is no image, or too large.", { bytes: bytes.length });
  }
}

/** Refuses a run of an agent whose creator has no room for files, before anything is drawn. */
export async function requireRoom(files: Files, ownerId: AccountId): Promise<void> {
  await files.requireRoom(ownerId).catch(refuse);
}

function refuse(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  throw error.code === "conflict" ? misconfigured(error.message) : notNow(error.message, 5);
}
