import { createHash, randomUUID } from "node:crypto";
import { ownEventLoopTurn } from "./event-loop.ts";

/** How much text is hashed before anything else gets a turn: it takes a millisecond or two. */
const pieceLength = 1_000_000;

/** The form that `JSON.stringify` takes. */
type Replacer = (name: string, value: unknown) => unknown;

/** SHA-256 of what `JSON.stringify` writes of the value, which may be megabytes: long texts in it are written a piece per turn. */
export async function digestOfJson(value: unknown, replacer: Replacer = (_name, inner) => inner): Promise<Buffer> {
  await ownEventLoopTurn();
  const longTexts: string[] = [];
  const mark = randomUUID();
  const json = JSON.stringify(value, (name, inner) => {
    if (typeof inner !== "string" || inner.length <= pieceLength) return replacer(name, inner);
    longTexts.push(inner);
    return mark;
  });
  const digest = createHash("sha256");
  for (const between of json.split(mark)) {
    digest.update(between);
    for (const piece of piecesOf(longTexts.shift() ?? "")) {
      await ownEventLoopTurn();
      digest.update(JSON.stringify(piece).slice(1, -1));
    }
  }
  return digest.digest();
}

function* piecesOf(text: string): Iterable<string> {
  // Two halves of one character are written alike only together.
  const endsWithin = (at: number) => at < text.length && /[\ud800-\udbff]/.test(text.charAt(at - 1));
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + pieceLength);
    if (endsWithin(to)) to += 1;
    yield text.slice(from, to);
    from = to;
  }
}
