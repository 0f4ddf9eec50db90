import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";

/** So much text is worked on at once where nothing else is to wait for it: a millisecond or two. */
const pieceLength = 1_000_000;

let last: Promise<void> = Promise.resolve();

/**
 * Resolves in a turn of the event loop that no other caller of this is given. What must be done in one go, such as
 * parsing megabytes of JSON, is done after it, so that such work of many requests never adds up.
 */
export function ownEventLoopTurn(): Promise<void> {
  last = last.then(() => nextTurn());
  return last;
}

/** SHA-256 of a text, a piece per turn where it is long. */
export async function digestOfText(text: string): Promise<Buffer> {
  const digest = createHash("sha256");
  // Two halves of one character hash alike only together.
  const endsWithin = (at: number) => at < text.length && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + pieceLength);
    if (endsWithin(to)) to += 1;
    digest.update(text.slice(from, to));
    from = to;
    if (from < text.length) await ownEventLoopTurn();
  }
  return digest.digest();
}
