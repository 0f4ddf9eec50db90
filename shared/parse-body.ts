import { randomUUID } from "node:crypto";
import type { BodyBytes } from "./body-bytes.ts";
import { ApiError } from "./errors.ts";
import { ownEventLoopTurn } from "./event-loop.ts";
import { type LongText, longTextBytes } from "./json-scan.ts";

/** Unknown to every sender of a body. */
const processMark = randomUUID();

/**
 * The JSON of a body. Throws ApiError 400 where it is none. Long texts are not parsed with the rest, which would copy
 * megabytes several times in one turn: each is read from the body by itself, and put in place of its mark in the parsed JSON.
 */
export async function parseBody(bytes: BodyBytes, longTexts: readonly LongText[]): Promise<unknown> {
  const texts = new Map<string, string>();
  let json = "";
  let at = 0;
  for (const long of longTexts) {
    const mark = `${processMark} ${texts.size}`;
    json += (await bytes.text(at, long.from)) + mark;
    texts.set(
      mark,
      await (long.isPlain ? bytes.plainText(long.from, long.to) : unescaped(bytes.pieces(long.from, long.to))),
    );
    at = long.to;
  }
  json = withoutByteOrderMark(json + (await bytes.text(at)));
  if (bytes.held > longTextBytes) await ownEventLoopTurn();
  return texts.size === 0 ? parsed(json) : parsed(json, (_name, value) => texts.get(value as string) ?? value);
}

function parsed(json: string, reviver?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(json, reviver);
  } catch {
    throw new ApiError("bad_request", "Body must be JSON.");
  }
}

/** The text that is written so between its quotes. */
async function unescaped(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  let rest = "";
  for await (const piece of pieces) {
    const written = rest + piece;
    const end = written.length - unendedEscape(written);
    text += parsed(`"${written.slice(0, end)}"`);
    rest = written.slice(end);
  }
  return text + parsed(`"${rest}"`);
}

/** How many characters of an escape stand at the end, if it is not whole there. */
function unendedEscape(written: string): number {
  const begins = written.lastIndexOf("\\");
  const length = written.length - begins;
  if (begins === -1 || length >= (written[begins + 1] === "u" ? 6 : 2)) return 0;
  let backslashes = 1;
  while (written[begins - backslashes] === "\\") backslashes += 1;
  return backslashes % 2 === 1 ? length : 0;
}

function withoutByteOrderMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}
