import { ByRow, firstFrom } from "./by-row.ts";
import type { Letter } from "./letters.ts";
import { type AreaShapes, colourOff } from "./shapes-of-areas.ts";

/** Most levels between the colours of what is of one line. */
export const levelsAlike = 48;

/** How far from its line a letter, or a part of the line, may be, px. */
export function lineOff(height: number): number {
  return Math.max(1.5, lineOffMax * height);
}

/** In heights. */
export const lineOffMax = 0.12;

/** A run of letters. What is asked of it for each other run is kept, not counted anew. */
export class TextLine {
  readonly letters: Letter[] = [];
  /** The least of its areas, as it was found. */
  readonly first: number;
  right = 0;
  private readonly heights: number[] = [];
  private readonly feet: number[] = [];

  constructor(letters: readonly Letter[]) {
    this.first = letters.reduce((least, { area }) => Math.min(least, area), letters[0].area);
    this.add(letters);
  }

  get on(): number {
    return this.letters[0].on;
  }

  get left(): number {
    return this.letters[0].left;
  }

  /** The usual height of its letters. */
  get high(): number {
    return this.heights[this.heights.length >> 1];
  }

  /** Where most of them stand. */
  get foot(): number {
    return this.feet[this.feet.length >> 1];
  }

  add(letters: readonly Letter[]): void {
    for (const letter of letters) {
      this.letters.push(letter);
      this.right = Math.max(this.right, letter.right);
      insert(this.heights, letter.height);
      insert(this.feet, letter.bottom);
    }
  }
}

function insert(sorted: number[], value: number): void {
  sorted.splice(
    firstFrom(sorted, value, (one) => one),
    0,
    value,
  );
}

/** Runs that go on where another ends, after something that is no letter, as one. */
export function joinLines(runs: readonly (readonly Letter[])[], height: number, shapes: AreaShapes): TextLine[] {
  const joined = new Map<TextLine, number>();
  const byFoot = new ByRow<TextLine>(height);
  const lines = runs.map((letters) => new TextLine(letters));
  for (const next of lines.sort((one, other) => one.left - other.left || one.first - other.first)) {
    const before = lineBefore(next, byFoot, joined, shapes);
    if (before) {
      byFoot.remove(before.on, before.foot, before);
      before.add(next.letters);
    } else joined.set(next, joined.size);
    const line = before ?? next;
    byFoot.add(line.on, line.foot, line);
  }
  return [...joined.keys()].sort((one, other) => one.letters[0].area - other.letters[0].area);
}

/** The earliest line that another goes on. Runs come from left to right: a line that has ended is not looked at again. */
function lineBefore(
  next: TextLine,
  byFoot: ByRow<TextLine>,
  numbers: ReadonlyMap<TextLine, number>,
  shapes: AreaShapes,
): TextLine | null {
  const off = lineOff((next.high + 1) / (1 - heightOffMax));
  let earliest: TextLine | null = null;
  for (const lines of byFoot.between(next.on, next.foot - off, next.foot + off)) {
    let open = 0;
    for (const line of lines) {
      if (next.left - line.right > gapMax * line.high) continue;
      lines[open++] = line;
      if (earliest && numbers.get(line)! >= numbers.get(earliest)!) continue;
      if (goesOn(line, next, shapes)) earliest = line;
    }
    lines.length = open;
  }
  return earliest;
}

function goesOn(line: TextLine, next: TextLine, shapes: AreaShapes): boolean {
  const { high } = line;
  const gap = next.left - line.right;
  return (
    Math.abs(line.foot - next.foot) <= lineOff(high) &&
    Math.abs(next.high - high) <= heightOffMax * high + 1 &&
    gap > -high &&
    gap <= gapMax * high &&
    colourOff(shapes, line.letters[0].area, next.letters[0].area) <= levelsAlike
  );
}

/** Widest gap between two runs of one line, in heights. */
const gapMax = 2;
const heightOffMax = 0.25;
