import { ownEventLoopTurn } from "../../shared/event-loop.ts";
import { percentDecoded } from "../percent-decoded.ts";
import { base58Start, rareEncodingsOf } from "./rare-encodings.ts";
import { unpackedMax, unpackingTriesMax, unwrappedMax, wrappedIn } from "./wrapped-text.ts";

/**
 * Finds secrets in what a run gives out, also where they come back encoded: by percent, JSON, HTML, hex, as numbers of
 * bytes, in base32, base58, base85 or in base64 at any offset (as part of Basic credentials, say), or in two of those, one
 * within the other; with other letters for its own (ROT13); in texts that are in base64 or hex, packed or not, up to `wrappingsMax` deep; backwards; and of a long one a longer
 * part, in base64 too. Case, everything that is no letter or digit, characters
 * that are not seen and tags within make no difference, so that no line break, dash or quotation mark hides one.
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
    for (const word of whole)
      for (const part of [base58Start(word), ...encodedPartsOf(word)]) this.#add(squeezed(part));
    this.#odd = words.filter((word) => squeezed(word).length < windowLength);
    this.#longest = Math.max(0, ...words.map((word) => word.length));
    for (const word of words) for (const needle of needlesOf(word)) this.#add(squeezed(needle));
  }

  /**
   * True also where a text cannot be searched through: it holds more that is packed, or encoded, than is unwrapped. Other requests get
   * their turn every so often, since a text can have megabytes; once `signal` aborts, throws its reason.
   */
  async isIn(text: string, signal?: AbortSignal): Promise<boolean> {
    if (this.#longest === 0) return false;
    const budget = { packed: unpackedMax, plain: unwrappedMax, tries: unpackingTriesMax };
    let inside = text;
    for (let depth = 0; inside !== "" && depth <= wrappingsMax; depth += 1) {
      if (await this.#isInPieces(inside, signal)) return true;
      const wrapped = await wrappedIn(inside, budget, signal);
      if (wrapped === undefined) return true;
      inside = wrapped;
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
      const bare = text.replace(tag, "");
      if (bare !== text && this.#isInSqueezed(squeezed(bare))) return true;
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
/** How deep base64, hex and what is packed are unwrapped, where what stands within is text. */
const wrappingsMax = 3;
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
  const others = otherBytesOf(word).flatMap(encodingsOf);
  const twice = once.flatMap((encoded) => encodingsOf(Buffer.from(encoded)));
  const backward = [backwards(word), ...once.map(backwards), ...encodingsOf(Buffer.from(backwards(word)))];
  return [...spellings, ...backward, ...once, ...others, ...twice, ...rareEncodingsOf(word)];
}

/** What it is in other bytes than UTF-8, and what UTF-8 is to a reader who takes it for Latin-1. */
function otherBytesOf(word: string): Buffer[] {
  const wide = Buffer.from(word, "utf16le");
  const utf16 = [wide, Buffer.from(wide).swap16()];
  if (!/[\x80-\u{10ffff}]/u.test(word)) return utf16;
  const misread = Buffer.from(Buffer.from(word).toString("latin1"));
  return [...utf16, misread, ...(/^[\0-\xff]*$/.test(word) ? [Buffer.from(word, "latin1")] : [])];
}

const backwards = (word: string) => [...word].toReversed().join("");

/** Any 24 characters in a row of a secret that is longer than most hold one of these. */
function partsOf(word: string): string[] {
  const parts: string[] = [];
  if (word.length >= 32) for (let at = 0; at + 16 <= word.length; at += 8) parts.push(word.slice(at, at + 16));
  return parts;
}

/** Most parts of a long secret in base64, as the beginning of it is looked for. */
function* encodedPartsOf(word: string): Generator<string> {
  if (squeezed(word).length < 32) return;
  const end = Math.min(word.length, encodedPartsMax);
  for (let at = 8; at + 16 <= end; at += 8) {
    const bytes = Buffer.from(word.slice(at, at + 16));
    for (const before of [0, 1, 2]) yield base64Core(bytes, before);
  }
}

const encodedPartsMax = 512;

function encodingsOf(bytes: Buffer): string[] {
  return [
    bytes.toString("hex"),
    [...bytes].map((byte) => `0x${byte.toString(16).padStart(2, "0")}`).join(""),
    [...bytes].join(""),
    [...bytes].map((byte) => String(byte).padStart(3, "0")).join(""),
    ...[0, 1, 2].map((before) => base64Core(bytes, before)),
  ];
}

/** The characters of base64 that are equal whatever stands around the bytes; `before` bytes stand in front. */
function base64Core(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  return whole.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6));
}

/** In one form of each character, without those that are not seen. */
function squeezed(text: string): string {
  const plain = /[\x80-\u{10ffff}]/u.test(text) ? text.normalize("NFKC").replace(/\p{DI}+/gu, "") : text;
  return plain.replace(/[^A-Za-z0-9\u{80}-\u{10ffff}]+/gu, "").toLowerCase();
}

/** Of HTML, within a text. */
const tag = /<\/?[a-z][^<>]{0,200}>/gi;

function decodedOnce(text: string): string {
  if (!/[%\\&]/.test(text)) return text;
  return text
    .replace(/(?:\\{1,8}(?:x[0-9a-f]{2}|[0-3][0-7]{2}))+/gi, bytesDecoded)
    .replace(/%u([0-9a-f]{4})|(?:%[0-9a-f]{2})+/gi, (run, code) => (code ? fromCode(code, 16) : percentDecoded(run)))
    .replace(/\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|[nrtbf0])/gi, (_run, ...[braced, four]) =>
      braced || four ? fromCode(braced ?? four, 16) : " ",
    )
    .replace(/\\(.)/gs, "$1")
    .replace(/&([a-z])(acute|grave|circ|uml|tilde|cedil|ring|caron);/gi, (_run, letter, mark: string) =>
      `${letter}${marks[mark.toLowerCase()]}`.normalize("NFC"),
    )
    .replace(/&(?:#x0*([0-9a-f]{1,6})|#0*(\d{1,7})|(amp)|[a-z]{2,8}(?=;));?/gi, (_run, ...[hex, decimal, amp]) => {
      if (amp) return "&";
      return hex || decimal ? fromCode(hex ?? decimal, hex ? 16 : 10) : " ";
    });
}

/** Bytes that are written as \x73 or \163, one after another. */
function bytesDecoded(run: string): string {
  const bytes = [...run.matchAll(/\\(?:x(..)|(\d{3}))/gi)].map(([, hex, octal]) =>
    hex ? Number.parseInt(hex, 16) : Number.parseInt(octal!, 8),
  );
  return percentDecoded(bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""));
}

/** Of letters in HTML's names: what combines with the letter before. */
const marks: Readonly<Record<string, string>> = {
  acute: "\u0301",
  grave: "\u0300",
  circ: "\u0302",
  uml: "\u0308",
  tilde: "\u0303",
  cedil: "\u0327",
  ring: "\u030a",
  caron: "\u030c",
};

function fromCode(digits: string, radix: number): string {
  const code = Number.parseInt(digits, radix);
  return code <= 0x10ffff ? String.fromCodePoint(code) : " ";
}
