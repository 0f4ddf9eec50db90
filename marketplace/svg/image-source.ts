import { ApiError } from "../../shared/errors.ts";
import { type Outbound, OutboundFailed, OutboundRefused } from "../../shared/outbound.ts";

const imageBytesMax = 10_000_000;

/** The bytes behind an `image` field: https URL, data: URI or base64. 422 for what is refused or cannot be had. */
export async function readImage(outbound: Outbound, image: string, signal: AbortSignal): Promise<Buffer> {
  if (/^https?:\/\//i.test(image)) return fetchImage(outbound, image, signal);
  const dataUri = /^data:image\/(?:png|jpe?g|webp);base64,/i.exec(image);
  const text = dataUri ? image.slice(dataUri[0].length) : image;
  if (image.startsWith("data:") && !dataUri) throw unreadable("must be a data: URI of a PNG, JPEG or WebP in base64");
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw unreadable("must be an https URL, a data: URI or base64");
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > imageBytesMax) throw unreadable("must be at most 10 MB");
  return bytes;
}

async function fetchImage(outbound: Outbound, url: string, signal: AbortSignal): Promise<Buffer> {
  try {
    // A host that lets everybody wait uses up its own share of what is under way.
    const host = URL.canParse(url) ? new URL(url).host : "";
    const holder = { account: `pictures of ${host}`, agent: `pictures of ${host}` };
    const answer = await outbound.fetch(url, { timeoutMs: 15_000, bytesMax: imageBytesMax, signal, holder });
    if (answer.status === 200) return answer.body;
    throw unreadable("could not be fetched");
  } catch (error) {
    if (error instanceof OutboundRefused) throw unreadable("is a URL that is not fetched");
    if (error instanceof OutboundFailed) throw unreadable("could not be fetched");
    throw error;
  }
}

function unreadable(problem: string): ApiError {
  return new ApiError("invalid_value", `"image" ${problem}.`, { body: { field: "image" } });
}
