import { ApiError } from "./errors.ts";

/** What a JSON text may hold, however few bytes it has. */
export interface JsonLimits {
  /** Levels of objects and lists within each other. */
  readonly depthMax: number;
  /** Braces, brackets, commas and colons outside of strings: parsing costs by these and not by the byte. */
  readonly tokensMax: number;
}

/** More than any route has a use for, and parsed in a few milliseconds. */
export const usualJson: JsonLimits = { depthMax: 100, tokensMax: 20_000 };

/** From its first byte in the body to the one after its last, without the quotes. */
export interface LongText {
  readonly from: number;
  readonly to: number;
  /** Printable ASCII without escapes, as a picture in base64 is: what is written is the text. */
  readonly isPlain: boolean;
}

/** Handling so much text takes milliseconds. Node keeps a text of this length, made of a buffer, outside of V8's heap. */
export const longTextBytes = 1_048_576;

/**
 * Looks at the bytes of a JSON text as they arrive, so that one that would be dear to parse is refused before it is
 * parsed, and before the rest of it is read. It judges nothing else: whether the text is JSON, the parser says.
 */
export class JsonScan {
  readonly #limits: JsonLimits;
  #depth = 0;
  #tokens = 0;
  #inString = false;
  #escaped = false;
  #seen = 0;
  #textFrom = 0;
  #isPlain = false;
  #wasLong = false;
  /** The values that are long texts, in their order. */
  readonly longTexts: LongText[] = [];
  /** A character is written as `\u…`: what PostgreSQL cannot keep can be written in no other way. */
  hasUnicodeEscapes = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Values, names and brackets so far. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Throws ApiError 400 naming what there is too much of. */
  see(chunk: Buffer): void {
    const before = this.#seen;
    this.#seen += chunk.length;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let isPlain = this.#isPlain;
    // In a small body without escapes the end of a string is searched for; in all others every byte is looked at.
    const leaps = chunk.length <= 16_384 && !chunk.includes(backslash);
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (!inString) {
        if (byte !== quote) this.#count(byte);
        else {
          const end = leaps ? chunk.indexOf(quote, at + 1) : -1;
          this.#wasLong = false;
          if (end !== -1) at = end;
          else {
            inString = true;
            isPlain = true;
            this.#textFrom = before + at + 1;
          }
        }
      } else if (escaped) {
        escaped = false;
        if (byte === letterU) this.hasUnicodeEscapes = true;
      } else if (byte === backslash) {
        escaped = true;
        isPlain = false;
      } else if (byte === quote) {
        inString = false;
        this.#noteText(before + at, isPlain);
      } else if (byte < space || byte > tilde) isPlain = false;
    }
    this.#inString = inString;
    this.#escaped = escaped;
    this.#isPlain = isPlain;
  }

  #noteText(to: number, isPlain: boolean): void {
    this.#wasLong = to - this.#textFrom >= longTextBytes;
    if (this.#wasLong) this.longTexts.push({ from: this.#textFrom, to, isPlain });
  }

  #count(byte: number): void {
    switch (byte) {
      case openBrace:
      case openBracket:
        this.#depth += 1;
        if (this.#depth > this.#limits.depthMax) {
          throw tooMuch(`is nested more than ${this.#limits.depthMax} levels deep`);
        }
        break;
      case closeBrace:
      case closeBracket:
        this.#depth -= 1;
        return;
      case colon:
        // The string was a name, not a value.
        if (this.#wasLong) this.longTexts.pop();
        this.#wasLong = false;
        break;
      case comma:
        break;
      default:
        return;
    }
    this.#tokens += 1;
    if (this.#tokens > this.#limits.tokensMax) throw tooMuch(`has more than ${this.#limits.tokensMax} parts`);
  }
}

function tooMuch(what: string): ApiError {
  return new ApiError("bad_request", `The body ${what}.`);
}

const [quote, backslash, letterU, space, tilde] = [0x22, 0x5c, 0x75, 0x20, 0x7e];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];
