import {
  type Assertion,
  type Character,
  type Node,
  PatternError,
  parsePattern,
  type Repeat,
} from "./pattern-syntax.ts";

/**
 * A creator's `pattern`, matched in time linear in the text: all ways through the pattern are followed at once, one
 * character at a time, so no pattern can make the service hang. The language is ECMA-262's with the `u` flag, without
 * back-references and look-around, which cannot be matched that way. Throws PatternError naming what is refused.
 */
export function compilePattern(source: string): Pattern {
  const program: Step[] = [];
  emit(program, parsePattern(source));
  push(program, { kind: "match" });
  const classes = new Set(program.filter((step) => step.kind === "character").map(({ test }) => test)).size;
  return Object.assign(matcherOf(program), { workPerCharacter: program.length + classWork * classes });
}

/** Whether a text matches. Takes at most `workPerCharacter` times its characters, and one, in the unit of one step. */
export interface Pattern {
  (text: string): boolean;
  readonly workPerCharacter: number;
}

const stepsMax = 500;
/** What it costs to ask the built-in engine about one character, in steps. */
const classWork = 12;

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

/**
 * Follows all ways through the program at once, a character at a time. The program lies in flat arrays: the creator of
 * an agent chooses how often this loop turns.
 */
function matcherOf(program: readonly Step[]): (text: string) => boolean {
  const size = program.length;
  const tests = [...new Set(program.flatMap((step) => (step.kind === "character" ? step.test : [])))];
  const kinds = Uint8Array.from(program, ({ kind }) => kindNumbers[kind]);
  const test = Int32Array.from(program, (step) => (step.kind === "character" ? tests.indexOf(step.test) : -1));
  const first = Int32Array.from(program, (step, index) => (step.kind === "fork" ? step.to[0]! : index + 1));
  const second = Int32Array.from(program, (step) => (step.kind === "fork" ? (step.to[1] ?? -1) : -1));
  const asserts = program.map((step) => (step.kind === "assert" ? step.holds : undefined));
  /** The place in the text, counted from 1, at which a step was reached last. */
  const reachedAt = new Int32Array(size);
  /** Steps that were reached and not yet followed; each at most twice, since a step is looked at only when it is taken. */
  const open = new Int32Array(3 * size + 1);
  const next = new Int32Array(size);
  /** What each test says of the character here: 0 nothing yet. */
  const verdicts = new Int8Array(tests.length);

  return (text) => {
    reachedAt.fill(0);
    let waiting = 0;
    let before: number | undefined;
    for (let at = 0, place = 1; at <= text.length; place += 1) {
      const here = text.codePointAt(at);
      verdicts.fill(0);
      open[0] = 0;
      let opened = 1;
      for (let index = 0; index < waiting; index += 1) open[opened++] = next[index]!;
      waiting = 0;
      while (opened > 0) {
        const index = open[--opened]!;
        if (reachedAt[index] === place) continue;
        reachedAt[index] = place;
        const kind = kinds[index];
        if (kind === kindNumbers.fork) {
          open[opened++] = first[index]!;
          if (second[index]! >= 0) open[opened++] = second[index]!;
        } else if (kind === kindNumbers.character) {
          const which = test[index]!;
          if (verdicts[which] === 0) verdicts[which] = here !== undefined && tests[which]!(here) ? 1 : -1;
          if (verdicts[which] === 1) next[waiting++] = index + 1;
        } else if (kind === kindNumbers.match) return true;
        else if (asserts[index]!(before, here)) open[opened++] = index + 1;
      }
      before = here;
      at += here !== undefined && here > 0xffff ? 2 : 1;
    }
    return false;
  };
}

const kindNumbers = { character: 0, assert: 1, fork: 2, match: 3 } as const;

interface Fork {
  readonly kind: "fork";
  readonly to: number[];
}
type Step = Character | Assertion | Fork | { readonly kind: "match" };
