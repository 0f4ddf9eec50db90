import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Font {
  readonly path: string;
  /** Width of a text in a font size of 1. */
  widthOf(text: string): number;
  /** The text without what the font has no drawing for. */
  drawable(text: string): string;
}

function read(name: string): Font {
  const path = fileURLToPath(new URL(`fonts/${name}`, import.meta.url));
  const file = new Tables(readFileSync(path));
  const glyphs = file.glyphs();
  const advanceOf = file.advances();
  const has = (character: string) => glyphs.has(character.codePointAt(0) as number);
  return {
    path,
    widthOf: (text) => {
      return [...text].reduce(
        (sum, character) => sum + advanceOf(glyphs.get(character.codePointAt(0) as number) ?? 0),
        0,
      );
    },
    drawable: (text) =>
      [...text.replaceAll(/\s+/g, " ")]
        .filter((character) => character === " " || has(character))
        .join("")
        .trim(),
  };
}

/** The few tables of a TrueType font that say how wide a text is. Source: OpenType 1.9, cmap, hhea, hmtx, head. */
class Tables {
  readonly #bytes: Buffer;
  readonly #offsets = new Map<string, number>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const count = bytes.readUInt16BE(4);
    for (let at = 12, n = 0; n < count; n += 1, at += 16) {
      this.#offsets.set(bytes.toString("latin1", at, at + 4), bytes.readUInt32BE(at + 8));
    }
  }

  /** By code point; of the basic plane (cmap format 4). */
  glyphs(): ReadonlyMap<number, number> {
    const table = this.#at("cmap");
    const count = this.#bytes.readUInt16BE(table + 2);
    const found = new Map<number, number>();
    for (let n = 0; n < count; n += 1) {
      const subtable = table + this.#bytes.readUInt32BE(table + 4 + n * 8 + 4);
      if (this.#bytes.readUInt16BE(subtable) === 4) this.#readSegments(subtable, found);
    }
    return found;
  }

  /** The advance of each glyph, at a font size of 1. */
  advances(): (glyph: number) => number {
    const unitsPerEm = this.#bytes.readUInt16BE(this.#at("head") + 18);
    const measured = this.#bytes.readUInt16BE(this.#at("hhea") + 34);
    const table = this.#at("hmtx");
    return (glyph) => this.#bytes.readUInt16BE(table + 4 * Math.min(glyph, measured - 1)) / unitsPerEm;
  }

  #readSegments(table: number, found: Map<number, number>): void {
    const bytes = this.#bytes;
    const doubled = bytes.readUInt16BE(table + 6);
    const [ends, starts] = [table + 14, table + 16 + doubled];
    const [deltas, ranges] = [starts + doubled, starts + 2 * doubled];
    for (let at = 0; at < doubled; at += 2) {
      const [start, end] = [bytes.readUInt16BE(starts + at), bytes.readUInt16BE(ends + at)];
      const [delta, range] = [bytes.readUInt16BE(deltas + at), bytes.readUInt16BE(ranges + at)];
      for (let code = start; code <= end && code < 0xffff; code += 1) {
        const indirect = range === 0 ? code : bytes.readUInt16BE(ranges + at + range + 2 * (code - start));
        const glyph = indirect === 0 ? 0 : (indirect + delta) & 0xffff;
        if (glyph !== 0) found.set(code, glyph);
      }
    }
  }

  #at(table: string): number {
    const offset = this.#offsets.get(table);
    if (offset === undefined) throw new Error(`the font has no table "${table}"`);
    return offset;
  }
}

/**
 * Geist, cut out of its variable fonts (@fontsource-variable/geist, -mono; OFL) at the weights that pictures use, as the renderer
 * reads neither WOFF2 nor axes: latin and cyrillic of the text, latin of the code.
 */
export const fonts = {
  text: read("geist-400.ttf"),
  strong: read("geist-600.ttf"),
  mono: read("geist-mono-500.ttf"),
} as const;
