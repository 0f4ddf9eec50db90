import { promisify } from "node:util";
import { constants, unzip } from "node:zlib";
import { ownEventLoopTurn } from "../../shared/event-loop.ts";
import { percentDecoded } from "../percent-decoded.ts";

/**
 * Finds secrets in what a run gives out, also where they come back encoded: by percent, JSON, HTML, hex, as numbers of
 * bytes or in base64 at any offset (as part of Basic credentials, say), packed and in base64, or in two of those, one
 * within the other; and of a long one a longer part. Case and everything that is no letter or digit make no difference, so that no
 * line break, dash or quotation mark hides one.
 */
export class SecretSearch {
  readonly #needles = new Map<number, string[]>();
  /** Says of most places, in a moment, that no needle begins there. */
  readonly #begins = new Uint8Array(hashesMax);
  /** Secrets with hardly a letter or digit, looked for as they are. */
  readonly #odd: readonly string[];
  readonly #longest: number;

  constructor(secrets: Iterable<string>) {
    const whole = [...secrets].filter((secret) => secret !== "").flatMap(wordsOf);
    // A text with a long secret has its beginning, which takes less time to encode.
    const words = whole.map((word) => word.slice(0, encodedMax));
    for (const word of whole) for (const part of partsOf(squeezed(word))) this.#add(part);
    this.#odd = words.filter((word) => squeezed(word).length < windowLength);
    this.#longest = Math.max(0, ...words.map((word) => word.length));
    for (const word of words) for (const needle of needlesOf(word)) this.#add(squeezed(needle));
  }

  /**
   * True also where a text cannot be searched through: it holds more that is packed than `unpackedMax`. Other requests get
   * their turn every so often, since a text can have megabytes; once `signal` aborts, throws its reason.
   */
  async isIn(text: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#longest === 0) return false;
    if (await this.#isInPieces(text, signal)) return true;
    let left = unpackedMax;
    for (const packed of packedIn(text)) {
      const inside = await unpacked(packed, left);
      left -= inside === undefined ? Number.POSITIVE_INFINITY : Math.max(inside.length, unpackingCost);
      if (inside === undefined || left < 0) return true;
      if (await this.#isInPieces(inside, signal)) return true;
    }
    return false;
  }

  async #isInPieces(text: string, signal: AbortSignal | undefined): Promise<boolean> {
    // The pieces overlap by so much that a secret in two encodings at once lies whole in one of them.
    const overlap = 64 + 12 * this.#longest;
    const step = Math.max(sliceLength, 2 * overlap);
    for (let at = 0; at < text.length; at += step) {
      await ownEventLoopTurn();
      signal?.throwIfAborted();
      if (this.#isInPiece(text.slice(at, at + step + overlap))) return true;
    }
    return false;
  }

  #isInPiece(piece: string): boolean {
    let text = piece;
    for (let round = 0; round < decodingsMax; round += 1) {
      if (this.#odd.some((word) => text.includes(word)) || this.#isInSqueezed(squeezed(text))) return true;
      const decoded = decodedOnce(text);
      if (decoded === text) return false;
      text = decoded;
    }
    return false;
  }

  #isInSqueezed(text: string): boolean {
    for (let at = 0; at + windowLength <= text.length; at += 1) {
      const hash = hashAt(text, at);
      if (this.#begins[hash] && this.#needles.get(hash)?.some((needle) => text.startsWith(needle, at))) return true;
    }
    return false;
  }

  #add(needle: string): void {
    if (needle.length < windowLength) return;
    const hash = hashAt(needle, 0);
    this.#begins[hash] = 1;
    const beside = this.#needles.get(hash) ?? [];
    if (!beside.includes(needle)) this.#needles.set(hash, [...beside, needle]);
  }
}

/**
 * Why a value cannot be a secret that is looked for; read on after its name. A buyer whose own text comes back learns from
 * its being withheld that the secret is in it, and in two megabytes there is room for many guesses.
 */
export function searchProblem(secret: string): string | undefined {
  const isLong = secret.length >= secretLengthMin && squeezed(secret).length >= windowLength;
  if (isLong && (secret.length >= digitsLengthMin || !/^\d+$/.test(secret))) return undefined;
  return (
    `must have at least ${secretLengthMin} characters, ${windowLength} of them letters or digits, or ${digitsLengthMin} ` +
    "where all are digits: a shorter one cannot be told from ordinary text where it comes back"
  );
}

const digitsLengthMin = 14;
/** Characters of a secret that are looked for in other encodings. */
const encodedMax = 64;
const secretLengthMin = 8;
const windowLength = 6;
const hashesMax = 1 << 14;
const decodingsMax = 5;
/** Some milliseconds of work. */
const sliceLength = 16_384;

function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let index = at; index < at + windowLength; index += 1) hash = Math.imul(hash, 37) + text.charCodeAt(index);
  return hash & (hashesMax - 1);
}

/** A secret, and what it is to a reader who takes it for a number, or as credentials behind the word that says which kind. */
function wordsOf(secret: string): string[] {
  const words = [secret];
  const [, alone] = /^[A-Za-z][\w-]*:?\s+(\S+)$/.exec(secret.trim()) ?? [];
  if (alone) words.push(alone);
  if (/^\d+$/.test(secret) && secret.length > 15) words.push(String(Number(secret)));
  const credentials = /^(?:Basic )?([A-Za-z0-9+/_-]{8,}={0,2})$/i.exec(secret)?.[1];
  const inside = credentials && Buffer.from(credentials, "base64").toString("utf8");
  if (inside && /^[\x20-\x7e]{8,}$/.test(inside)) words.push(inside, inside.slice(inside.indexOf(":") + 1));
  return words.filter((word, index) => index === 0 || word.length >= secretLengthMin);
}

function needlesOf(word: string): string[] {
  const percented = encodeURIComponent(Buffer.from(word).toString());
  const spellings = new Set([
    word,
    percented,
    percented.replace(/%../g, (byte) => byte.toLowerCase()),
    JSON.stringify(word).slice(1, -1),
    word.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`),
  ]);
  const once = [...spellings].flatMap((spelling) => encodingsOf(Buffer.from(spelling)));
  const wide = encodingsOf(Buffer.from(word, "utf16le"));
  const twice = once.flatMap((encoded) => encodingsOf(Buffer.from(encoded)));
  return [...spellings, ...once, ...wide, ...twice];
}

/** Any 24 characters in a row of a secret that is longer than most hold one of these. */
function partsOf(word: string): string[] {
  const parts: string[] = [];
  if (word.length >= 32) for (let at = 0; at + 16 <= word.length; at += 8) parts.push(word.slice(at, at + 16));
  return parts;
}

/** Stretches of base64 that begin as gzip or zlib does. */
function* packedIn(text: string): Generator<string> {
  for (const [found] of text.matchAll(/(?:H4sI|e[AFJN])(?:[\w+/-]|\\\/){16,}/g)) yield found.replaceAll("\\", "");
}

/** Empty for what only looks like it; undefined when it is longer than `lengthMax`. */
async function unpacked(packed: string, lengthMax: number): Promise<string | undefined> {
  // Data that is cut off is unpacked as far as it goes.
  const options = { maxOutputLength: lengthMax, finishFlush: constants.Z_SYNC_FLUSH };
  return unpack(Buffer.from(packed, "base64"), options).then(String, (error: NodeJS.ErrnoException) =>
    error.code === "ERR_BUFFER_TOO_LARGE" ? undefined : "",
  );
}

const unpack = promisify(unzip);
/** Characters over all that is packed in one text: as much as the longest answer has. */
const unpackedMax = 4_194_304;
/** What trying to unpack counts for at the least. */
const unpackingCost = 2_048;

function encodingsOf(bytes: Buffer): string[] {
  return [
    bytes.toString("hex"),
    [...bytes].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(""),
    [...bytes].join(""),
    ...[0, 1, 2].map((before) => base64Core(bytes, before)),
  ];
}

/** The characters of base64 that are equal whatever stands around the bytes; `before` bytes stand in front. */
function base64Core(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  return whole.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
}

const squeezed = (text: string) => text.replace(/[^A-Za-z0-9\u{80}-\u{10ffff}]+/gu, "").toLowerCase();

function decodedOnce(text: string): string {
  if (!/[%\\&]/.test(text)) return text;
  return text
    .replace(/%u([0-9a-f]{4})|(?:%[0-9a-f]{2})+/gi, (run, code) => (code ? fromCode(code, 16) : percentDecoded(run)))
    .replace(/\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|[nrtbf0])/gi, (_run, ...[braced, four, two]) =>
      braced || four || two ? fromCode(braced ?? four ?? two, 16) : " ",
    )
    .replace(/\\(.)/gs, "$1")
    .replace(/&(?:#x0*([0-9a-f]{1,6})|#0*(\d{1,7})|[a-z]{2,8}(?=;));?/gi, (_run, hex, decimal) =>
      hex || decimal ? fromCode(hex ?? decimal, hex ? 16 : 10) : " ",
    );
}

function fromCode(digits: string, radix: number): string {
  const code = Number.parseInt(digits, radix);
  return code <= 0x10ffff ? String.fromCodePoint(code) : " ";
}
