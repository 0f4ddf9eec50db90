import { ApiError } from "../../shared/errors.ts";
import { ownEventLoopTurn } from "../../shared/event-loop.ts";
import { longTextBytes } from "../../shared/json-scan.ts";
import { type Outbound, OutboundFailedError, OutboundRefusedError } from "../../shared/outbound.ts";
import { imageBytesMax } from "../tracer/image/limits.ts";
import type { Party } from "./fair-queue.ts";

/** The bytes behind an `image` field: https URL, data: URI or base64. 422 for what is refused or cannot be had. `party` asks for it. */
export async function readImage(outbound: Outbound, image: string, party: Party, signal: AbortSignal): Promise<Buffer> {
  if (isUrl(image)) return fetchImage(outbound, image, party, signal);
  // Decoding megabytes takes a while, and so did reading them. A small picture does not wait behind large ones.
  if (image.length > longTextBytes) await ownEventLoopTurn();
  return readUpload(image);
}

/** The bytes of a data: URI or base64. 422 for anything else, a URL too. */
export function readUpload(image: string): Buffer {
  if (isUrl(image)) throw unreadable("must be the picture itself, not its address");
  const dataUri = /^data:image\/(?:png|jpe?g|webp);base64,/i.exec(image);
  const text = dataUri ? image.slice(dataUri[0].length) : image;
  if (image.startsWith("data:") && !dataUri) throw unreadable("must be a data: URI of a PNG, JPEG or WebP in base64");
  if (!isBase64(text)) throw unreadable("must be an https URL, a data: URI or base64");
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > imageBytesMax) throw unreadable(`must be at most ${imageBytesMax / 1_000_000} MB`);
  return bytes;
}

/**
 * The end is looked for, not the whole matched: V8 keeps a place for each character that a repetition may give back, and a
 * picture of megabytes can be more than it has room for (RangeError).
 */
function isBase64(text: string): boolean {
  const end = text.search(/[^A-Za-z0-9+/_-]/);
  return text !== "" && (end === -1 || (end > 0 && /^={1,2}$/.test(text.slice(end, end + 3))));
}

const isUrl = (image: string) => /^https?:\/\//i.test(image);

async function fetchImage(outbound: Outbound, url: string, party: Party, signal: AbortSignal): Promise<Buffer> {
  try {
    // What answers slowly uses up its host's share, and its caller's: one caller can have any number of hosts.
    const host = URL.canParse(url) ? new URL(url).host : "";
    const holder = { account: `pictures for ${party}`, agent: `pictures of ${host}` };
    const answer = await outbound.fetch(url, { timeoutMs: 15_000, bytesMax: imageBytesMax, signal, holder });
    if (answer.status === 200) return answer.body;
    throw unreadable("could not be fetched");
  } catch (error) {
    if (error instanceof OutboundRefusedError) throw unreadable("is a URL that is not fetched");
    if (error instanceof OutboundFailedError) throw unreadable("could not be fetched");
    throw error;
  }
}

function unreadable(problem: string): ApiError {
  return new ApiError("invalid_value", `"image" ${problem}.`, { body: { field: "image" } });
}
