const sourceLengthMax = 200;

/** A pattern as a tree. Throws PatternError for a text that is no regular expression, and for one that is refused. */
export function parsePattern(source: string): Node {
  if (source.length > sourceLengthMax) throw new PatternError(`is longer than ${sourceLengthMax} characters`);
  try {
    new RegExp(source, "u");
  } catch {
    throw new PatternError("is not a regular expression");
  }
  return new Parser(source).parse();
}

export class PatternError extends Error {
  override readonly name = "PatternError";
}

class Parser {
  readonly #source: string[];
  /** Equal classes share one test, so that each is asked once a character. */
  readonly #tests = new Map<string, CharacterTest>();
  #at = 0;

  constructor(source: string) {
    this.#source = Array.from(source);
  }

  /** The whole pattern; RegExp has already made sure that it is well formed. */
  parse(): Node {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 ? options[0]! : { kind: "either", options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#source.length && this.#peek() !== "|" && this.#peek() !== ")") {
      items.push(this.#repeated(this.#item()));
    }
    return { kind: "sequence", items };
  }

  #item(): Node {
    const char = this.#next();
    if (char === "(") return this.#group();
    if (char === "^") return { kind: "assert", holds: (before) => before === undefined };
    if (char === "$") return { kind: "assert", holds: (_before, after) => after === undefined };
    if (char === "[") return this.#oneCharacter(this.#class());
    if (char === "\\") return this.#escape();
    return this.#oneCharacter(char === "." ? char : undefined, char.codePointAt(0));
  }

  #group(): Node {
    if (this.#take("?") && !this.#take(":")) throw new PatternError("uses look-around or a named group");
    const inside = this.parse();
    this.#next();
    return inside;
  }

  #class(): string {
    let text = "[";
    for (;;) {
      const char = this.#next();
      text += char;
      if (char === "\\") text += this.#next();
      else if (char === "]") return text;
    }
  }

  #escape(): Node {
    const char = this.#next();
    if (/[1-9k]/.test(char)) throw new PatternError("uses a back-reference");
    if (char === "b") return { kind: "assert", holds: (before, after) => isWord(before) !== isWord(after) };
    if (char === "B") return { kind: "assert", holds: (before, after) => isWord(before) === isWord(after) };
    if (char === "c") return this.#oneCharacter(`\\c${this.#next()}`);
    if (char === "x") return this.#oneCharacter(`\\x${this.#next()}${this.#next()}`);
    if (/[upP]/.test(char) && this.#peek() === "{") return this.#oneCharacter(`\\${char}${this.#braces()}`);
    if (char === "u") return this.#oneCharacter(`\\u${this.#next()}${this.#next()}${this.#next()}${this.#next()}`);
    return this.#oneCharacter(`\\${char}`);
  }

  #oneCharacter(source: string | undefined, code?: number): Node {
    const key = source ?? `=${code}`;
    const test = this.#tests.get(key) ?? (source === undefined ? (given: number) => given === code : classTest(source));
    this.#tests.set(key, test);
    return { kind: "character", test };
  }

  #repeated(item: Node): Node {
    const [min, max] = this.#bounds();
    if (min === 1 && max === 1) return item;
    this.#take("?");
    return { kind: "repeat", item, min, max };
  }

  #bounds(): [number, number] {
    if (this.#take("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#take("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#take("?")) return [0, 1];
    if (this.#peek() !== "{") return [1, 1];
    const [min = "", max = min] = this.#braces().slice(1, -1).split(",");
    return [Number(min), max === "" ? Number.POSITIVE_INFINITY : Number(max)];
  }

  #braces(): string {
    let text = "";
    do text += this.#next();
    while (!text.endsWith("}"));
    return text;
  }

  #peek(): string | undefined {
    return this.#source[this.#at];
  }

  #next(): string {
    const char = this.#source[this.#at];
    if (char === undefined) throw new PatternError("ends too early");
    this.#at += 1;
    return char;
  }

  #take(char: string): boolean {
    if (this.#peek() !== char) return false;
    this.#at += 1;
    return true;
  }
}

/** A class or escape stands for one character, so the built-in engine decides about it in constant time. */
function classTest(source: string): CharacterTest {
  const expression = new RegExp(`^${source}$`, "u");
  const known = new Int8Array(128);
  return (code) => {
    const said = known[code];
    if (said) return said > 0;
    const holds = expression.test(String.fromCodePoint(code));
    if (code < known.length) known[code] = holds ? 1 : -1;
    return holds;
  };
}

function isWord(code: number | undefined): boolean {
  if (code === undefined) return false;
  const isLetter = (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

type CharacterTest = (code: number) => boolean;
export interface Character {
  readonly kind: "character";
  readonly test: CharacterTest;
}
export interface Assertion {
  readonly kind: "assert";
  readonly holds: (before: number | undefined, after: number | undefined) => boolean;
}
export interface Repeat {
  readonly kind: "repeat";
  readonly item: Node;
  readonly min: number;
  readonly max: number;
}
export type Node =
  | Character
  | Assertion
  | Repeat
  | { readonly kind: "sequence"; readonly items: readonly Node[] }
  | { readonly kind: "either"; readonly options: readonly Node[] };
