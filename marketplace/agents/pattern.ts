/**
 * A creator's `pattern`, matched in time linear in the text: all ways through the pattern are followed at once, one
 * character at a time, so no pattern can make the service hang. The language is ECMA-262's with the `u` flag, less
 * what cannot be matched that way: back-references and look-around. Throws PatternError naming what is refused.
 */
export function compilePattern(source: string): (text: string) => boolean {
  if (source.length > sourceLengthMax) throw new PatternError(`is longer than ${sourceLengthMax} characters`);
  try {
    new RegExp(source, "u");
  } catch {
    throw new PatternError("is not a regular expression");
  }
  const program: Step[] = [];
  emit(program, new Parser(source).parse());
  push(program, { kind: "match" });
  return (text) => matches(program, Array.from(text));
}

export class PatternError extends Error {
  override readonly name = "PatternError";
}

const sourceLengthMax = 200;
const stepsMax = 500;

class Parser {
  readonly #source: string[];
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
    if (char === "[") return oneCharacter(this.#class());
    if (char === "\\") return this.#escape();
    return char === "." ? oneCharacter(".") : { kind: "character", test: (given) => given === char };
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
    if (char === "c") return oneCharacter(`\\c${this.#next()}`);
    if (char === "x") return oneCharacter(`\\x${this.#next()}${this.#next()}`);
    if (/[upP]/.test(char) && this.#peek() === "{") return oneCharacter(`\\${char}${this.#braces()}`);
    if (char === "u") return oneCharacter(`\\u${this.#next()}${this.#next()}${this.#next()}${this.#next()}`);
    return oneCharacter(`\\${char}`);
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
function oneCharacter(source: string): Node {
  const expression = new RegExp(`^${source}$`, "u");
  return { kind: "character", test: (given) => expression.test(given) };
}

function emit(program: Step[], node: Node): void {
  switch (node.kind) {
    case "character":
    case "assert":
      push(program, node);
      return;
    case "sequence":
      // Whatever is emitted takes a step, nothing too, so that the limit on steps also bounds the work of compiling.
      if (node.items.length === 0) push(program, nothing(program));
      for (const item of node.items) emit(program, item);
      return;
    case "either":
      emitEither(program, node.options);
      return;
    case "repeat":
      emitRepeat(program, node);
      return;
  }
}

function emitEither(program: Step[], options: readonly Node[]): void {
  const ends: Fork[] = [];
  for (const option of options.slice(0, -1)) {
    const fork = push(program, { kind: "fork", to: [program.length + 1, 0] });
    emit(program, option);
    ends.push(push(program, { kind: "fork", to: [] }));
    fork.to[1] = program.length;
  }
  emit(program, options.at(-1)!);
  for (const end of ends) end.to.push(program.length);
}

function emitRepeat(program: Step[], { item, min, max }: Repeat): void {
  if (max === 0) push(program, nothing(program));
  for (let n = 0; n < min; n += 1) emit(program, item);
  if (max === Number.POSITIVE_INFINITY) {
    const start = program.length;
    const fork = push(program, { kind: "fork", to: [start + 1] });
    emit(program, item);
    push(program, { kind: "fork", to: [start] });
    fork.to.push(program.length);
    return;
  }
  const ways: Fork[] = [];
  for (let n = min; n < max; n += 1) {
    ways.push(push(program, { kind: "fork", to: [program.length + 1] }));
    emit(program, item);
  }
  for (const way of ways) way.to.push(program.length);
}

const nothing = (program: readonly Step[]): Fork => ({ kind: "fork", to: [program.length + 1] });

function push<S extends Step>(program: Step[], step: S): S {
  if (program.length >= stepsMax) throw new PatternError("is too large; use smaller repetitions");
  program.push(step);
  return step;
}

function matches(program: readonly Step[], text: readonly string[]): boolean {
  let here: number[] = [];
  for (let at = 0; at <= text.length; at += 1) {
    const seen = new Uint8Array(program.length);
    const waiting: number[] = [];
    const open = [0, ...here];
    while (open.length > 0) {
      const index = open.pop()!;
      if (seen[index]) continue;
      seen[index] = 1;
      const step = program[index]!;
      if (step.kind === "match") return true;
      if (step.kind === "fork") open.push(...step.to);
      else if (step.kind === "character") waiting.push(index);
      else if (step.holds(text[at - 1], text[at])) open.push(index + 1);
    }
    const char = text[at];
    here = char === undefined ? [] : waiting.filter((index) => (program[index] as Character).test(char)).map(after);
  }
  return false;
}

const after = (index: number) => index + 1;
const isWord = (char: string | undefined) => char !== undefined && /^\w$/.test(char);

interface Character {
  readonly kind: "character";
  readonly test: (char: string) => boolean;
}
interface Assertion {
  readonly kind: "assert";
  readonly holds: (before: string | undefined, after: string | undefined) => boolean;
}
interface Repeat {
  readonly kind: "repeat";
  readonly item: Node;
  readonly min: number;
  readonly max: number;
}
interface Fork {
  readonly kind: "fork";
  readonly to: number[];
}
type Node =
  | Character
  | Assertion
  | Repeat
  | { readonly kind: "sequence"; readonly items: readonly Node[] }
  | { readonly kind: "either"; readonly options: readonly Node[] };
type Step = Character | Assertion | Fork | { readonly kind: "match" };
