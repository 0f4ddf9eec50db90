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
  /** A character is written as `\u…`: what PostgreSQL cannot keep can be written in no other way. */
  hasUnicodeEscapes = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** Throws ApiError 400 naming what there is too much of. */
  see(chunk: Buffer): void {
    let inString = this.#inString;
    let escaped = this.#escaped;
    // Of a small body without escapes a string's end is found at once; of all others byte by byte.
    const leaps = chunk.length <= 16_384 && !chunk.includes(backslash);
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (!inString) {
        if (byte !== quote) this.#count(byte);
        else {
          const end = leaps ? chunk.indexOf(quote, at + 1) : -1;
          if (end === -1) inString = true;
          else at = end;
        }
      } else if (escaped) {
        escaped = false;
        if (byte === letterU) this.hasUnicodeEscapes = true;
      } else if (byte === backslash) escaped = true;
      else if (byte === quote) inString = false;
    }
    this.#inString = inString;
    this.#escaped = escaped;
  }

  #count(byte: number | undefined): void {
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
      case comma:
      case colon:
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

const [quote, backslash, letterU] = [0x22, 0x5c, 0x75];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];
const [comma, colon] = [0x2c, 0x3a];
