import { constants, createInflateRaw, createUnzip, inflateRawSync } from "node:zlib";
import { ownEventLoopTurn } from "../../shared/event-loop.ts";

/**
 * How many characters may still be unpacked of one text, how many read out of it that are not packed, and how often what has no sign
 * of it is tried as packed.
 */
export interface UnwrappingBudget {
  packed: number;
  plain: number;
  tries: number;
}

/** Over all that is packed in one text: as much as the longest answer has. */
export const unpackedMax = 4_194_304;
/** Hardly any text reads as encoded text in more than one way. */
export const unwrappedMax = 4 * unpackedMax;
/** Each takes some ten microseconds. */
export const unpackingTriesMax = 2_048;
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
    for (const reading of readingsOf(stretch, budget)) {
      const inside = await insideOf(reading, budget);
      if (inside === undefined) return undefined;
      if (inside !== "") found.push(inside);
    }
  }
  return found.join("\n");
}

async function insideOf({ text, encoding, packing }: Reading, budget: UnwrappingBudget): Promise<string | undefined> {
  if (packing) return unpacked(Buffer.from(text, encoding), packing, budget);
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
  readonly packing: Packing | undefined;
}

/** By the header that gzip and zlib write, or by none (raw deflate). */
type Packing = "headed" | "raw";

/**
 * What begins as a text or as what is packed does, or unpacks to a text; what is glued to its front can shift it, or stand before what
 * is packed.
 */
function* readingsOf(stretch: string, budget: UnwrappingBudget): Generator<Reading> {
  const plain = /[\\\r\n]/.test(stretch) ? stretch.replace(/\\[rn]|[\\\r\n]/g, "") : stretch;
  for (let from = 0; from < 4; from += 1) yield* readingFrom(plain, "base64", from, budget);
  if (/^[0-9a-f]{16}/i.test(plain)) for (const from of [0, 1]) yield* readingFrom(plain, "hex", from, budget);
  let [left, looks] = [packedStartsMax, packedLooksMax];
  for (const { index } of plain.matchAll(/H4sI|e[AFJN]/g)) {
    looks -= 1;
    if (left === 0 || looks === 0) return;
    const begins = index > 3 && isPacked(Buffer.from(plain.slice(index, index + startLength), "base64"));
    if (!begins) continue;
    left -= 1;
    yield { text: plain.slice(index), encoding: "base64", packing: "headed" };
  }
}

const packedStartsMax = 8;
/** Three megabytes of base64 have so many places that could begin what is packed. */
const packedLooksMax = 4_096;

function* readingFrom(
  plain: string,
  encoding: Reading["encoding"],
  from: number,
  budget: UnwrappingBudget,
): Generator<Reading> {
  const start = Buffer.from(plain.slice(from, from + rawStartLength), encoding);
  const packing = isPacked(start) ? "headed" : isText(start) ? undefined : packingTried(start, budget);
  if (packing !== "none") yield { text: plain.slice(from), encoding, packing };
}

const startLength = 64;
/** What says how the rest is packed can take most of it. */
const rawStartLength = 384;

/** Begins as gzip or zlib does. */
function isPacked(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes;
  return (first === 0x1f && second === 0x8b) || (first === 0x78 && [0x01, 0x5e, 0x9c, 0xda].includes(second));
}

/** Raw deflate has no sign to know it by. Where no tries are left it is not looked for. */
function packingTried(start: Buffer, budget: UnwrappingBudget): Packing | "none" {
  if (budget.tries === 0) return "none";
  budget.tries -= 1;
  try {
    const text = inflateRawSync(start, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: 4_096 });
    return text.length >= rawTextMin && isText(text) ? "raw" : "none";
  } catch {
    return "none";
  }
}

/** No shorter one holds a secret. */
const rawTextMin = 8;

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
async function unpacked(packed: Buffer, packing: Packing, budget: UnwrappingBudget): Promise<string | undefined> {
  const options = { finishFlush: constants.Z_SYNC_FLUSH };
  const unpacking = packing === "raw" ? createInflateRaw(options) : createUnzip(options);
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
