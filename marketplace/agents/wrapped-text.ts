import { constants, createUnzip } from "node:zlib";
import { ownEventLoopTurn } from "../../shared/event-loop.ts";

/** How many characters may still be unpacked of one text, and how many read out of it that are not packed. */
export interface UnwrappingBudget {
  packed: number;
  plain: number;
}

/** Over all that is packed in one text: as much as the longest answer has. */
export const unpackedMax = 4_194_304;
/** Hardly any text reads as encoded text in more than one way. */
export const unwrappedMax = 4 * unpackedMax;
/** What trying to unpack counts for at the least. */
const unpackingCost = 2_048;
/** Some milliseconds of work. */
const sliceLength = 65_536;

/**
 * The texts that stand in a text in base64 or hex, packed or not, one after another; undefined when there is more than the budget has
 * left. What is binary is left out. Other requests get their turn; once `signal` aborts, throws its reason.
 */
export async function wrappedIn(
  text: string,
  budget: UnwrappingBudget,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const found: string[] = [];
  for (const stretch of stretchesOf(text)) {
    if (stretch === undefined) {
      await ownEventLoopTurn();
      signal?.throwIfAborted();
      continue;
    }
    for (const reading of readingsOf(stretch)) {
      const inside = await insideOf(reading, budget);
      if (inside === undefined) return undefined;
      if (inside !== "") found.push(inside);
    }
  }
  return found.join("\n");
}

async function insideOf({ text, encoding, isPacked }: Reading, budget: UnwrappingBudget): Promise<string | undefined> {
  if (isPacked) return unpacked(Buffer.from(text, encoding), budget);
  budget.plain -= Buffer.byteLength(text, encoding);
  return budget.plain < 0 ? undefined : Buffer.from(text, encoding).toString();
}

/**
 * What could be base64 or hex and is long enough for a secret, in lines or in one. In JSON a slash, and an end of a line, can stand behind
 * a backslash. By hand, since a regular expression runs out of stack on megabytes.
 */
function* stretchesOf(text: string): Generator<string | undefined> {
  let from = 0;
  for (let at = 0; at <= text.length; at += 1) {
    // For others to have their turn.
    if (at % sliceLength === 0) yield undefined;
    if (isOfStretch[text.charCodeAt(at)]) continue;
    if (at - from >= stretchMin) yield text.slice(from, at);
    from = at + 1;
  }
}

const stretchMin = 24;
const isOfStretch: readonly boolean[] = Array.from({ length: 128 }, (_, code) =>
  /[\w+/\\\r\n-]/.test(String.fromCharCode(code)),
);

/** A way to read a stretch, or the rest of one. */
interface Reading {
  readonly text: string;
  readonly encoding: "base64" | "hex";
  readonly isPacked: boolean;
}

/** What begins as a text or as what is packed does; what is glued to its front can shift it, or stand before what is packed. */
function* readingsOf(stretch: string): Generator<Reading> {
  const plain = /[\\\r\n]/.test(stretch) ? stretch.replace(/\\[rn]|[\\\r\n]/g, "") : stretch;
  for (let from = 0; from < 4; from += 1) yield* readingFrom(plain, "base64", from);
  if (/^[0-9a-f]{16}/i.test(plain)) for (const from of [0, 1]) yield* readingFrom(plain, "hex", from);
  let [left, looks] = [packedStartsMax, packedLooksMax];
  for (const { index } of plain.matchAll(/H4sI|e[AFJN]/g)) {
    looks -= 1;
    if (left === 0 || looks === 0) return;
    const [reading] = index > 3 ? readingFrom(plain, "base64", index) : [];
    if (!reading?.isPacked) continue;
    left -= 1;
    yield reading;
  }
}

const packedStartsMax = 8;
/** Three megabytes of base64 have so many places that could begin what is packed. */
const packedLooksMax = 4_096;

function* readingFrom(plain: string, encoding: Reading["encoding"], from: number): Generator<Reading> {
  const start = Buffer.from(plain.slice(from, from + startLength), encoding);
  const packed = isPacked(start);
  if (packed || isText(start)) yield { text: plain.slice(from), encoding, isPacked: packed };
}

const startLength = 64;

/** Begins as gzip or zlib does. */
function isPacked(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes;
  return (first === 0x1f && second === 0x8b) || (first === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(second));
}

/** Of what is no text the beginning shows it. */
function isText(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, 48);
  let plain = 0;
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[at]!;
    if ((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09) plain += 1;
  }
  return plain >= length * 0.6;
}

/** As far as it goes; empty for what only looks like it; undefined when it is longer than the budget has left. */
async function unpacked(packed: Buffer, budget: UnwrappingBudget): Promise<string | undefined> {
  const unpacking = createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
  const parts: Buffer[] = [];
  let length = 0;
  unpacking.on("data", (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > budget.packed) unpacking.destroy();
  });
  await new Promise((done) => {
    unpacking.on("close", done);
    // What is cut off, or goes on with something else, is unpacked as far as it goes.
    unpacking.on("error", () => unpacking.destroy());
    unpacking.end(packed);
  });
  budget.packed -= Math.max(length, unpackingCost);
  return budget.packed < 0 ? undefined : Buffer.concat(parts).toString();
}
