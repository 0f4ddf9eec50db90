import { AskFailedError, ask, type Made } from "./ask.ts";
import type { Order } from "./bench.ts";
import { base64Of, reducedTo } from "./picture.ts";

/** Has the picture traced as one of the day's free tries, reduced to at most `pixelsMax` pixels. Throws AskFailedError. */
export async function tryForFree({ settings, picture }: Order, pixelsMax: number): Promise<Made> {
  const image = picture && (await base64Of(await reducedTo(picture, pixelsMax)));
  return ask("/api/svg/try", JSON.stringify({ ...settings, ...(image && { image }) }), crypto.randomUUID()).catch(lost);
}

/** A try has no name by which it could be had again. */
function lost(error: unknown): never {
  if (!(error instanceof AskFailedError) || !error.isLost) throw error;
  const text = "Nothing was charged. Press again; it may have used up one of today’s tries.";
  throw new AskFailedError(text, { title: error.message });
}
