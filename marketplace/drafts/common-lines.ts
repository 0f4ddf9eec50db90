/** Steps of the search, at most: some milliseconds. Beyond, what was found until then stays, and the rest counts as changed whole. */
const stepsMax = 100_000;
/** Longer texts are not searched at all. */
const linesMax = 8_000;
/** Lines taken away and put there, at most; what is remembered grows with their square. */
const changesMax = 250;

type Pair = readonly [old: number, now: number];

/**
 * The lines that stay when one text becomes another, as positions in both, in order. With as few changes as can be, in time that grows
 * with the changes. Source: An O(ND) Difference Algorithm and Its Variations, Myers, 1986.
 */
export function commonLines(old: readonly string[], now: readonly string[]): Pair[] {
  if (old.length === 0 || now.length === 0 || old.length + now.length > linesMax) return [];
  const numbers = new Map<string, number>();
  const numberOf = (line: string) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
  return pairsOf(Int32Array.from(old, numberOf), Int32Array.from(now, numberOf));
}

/** How far each diagonal (old less now) is reached after each number of changes, one list each, its middle the diagonal 0. */
type Reached = readonly Int32Array[];

/** No way leads there. */
const nowhere = -2;

function pairsOf(old: Int32Array, now: Int32Array): Pair[] {
  const reached: Int32Array[] = [];
  for (let [changes, steps] = [0, 0]; changes <= changesMax && steps <= stepsMax; changes += 1) {
    const before = reached.at(-1);
    const here = new Int32Array(2 * changes + 1).fill(nowhere);
    for (let diagonal = -changes; diagonal <= changes && steps <= stepsMax; diagonal += 2) {
      const from = before ? enteredAt(before, diagonal, old.length, now.length) : 0;
      if (from === nowhere) continue;
      let x = from;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      steps += 1 + x - from;
      here[diagonal + changes] = x;
    }
    reached.push(here);
    if (here[old.length - now.length + changes] === old.length) break;
  }
  return wayTo(farthestOf(reached), reached, now.length, old.length);
}

/** Where a diagonal is entered by one change more than in `before`. */
function enteredAt(before: Int32Array, diagonal: number, oldLength: number, nowLength: number): number {
  return Math.max(byTaking(before, diagonal, oldLength), byPutting(before, diagonal, nowLength));
}

function byTaking(before: Int32Array, diagonal: number, oldLength: number): number {
  const x = (before[diagonal - 1 + (before.length - 1) / 2] ?? nowhere) + 1;
  return x > 0 && x <= oldLength ? x : nowhere;
}

function byPutting(before: Int32Array, diagonal: number, nowLength: number): number {
  const x = before[diagonal + 1 + (before.length - 1) / 2] ?? nowhere;
  return x >= 0 && x - diagonal <= nowLength ? x : nowhere;
}

/** The diagonal on which the most lines of both were passed with the last of the changes. */
function farthestOf(reached: Reached): number {
  const middle = reached.length - 1;
  const passed = [...reached[middle]!].map((x, at) => (x === nowhere ? -1 : 2 * x - (at - middle)));
  return passed.indexOf(Math.max(...passed)) - middle;
}

/** The lines that stay on the way to where the last changes reach the diagonal, from the beginning on. */
function wayTo(end: number, reached: Reached, nowLength: number, oldLength: number): Pair[] {
  const pairs: Pair[] = [];
  let diagonal = end;
  for (let changes = reached.length - 1; changes >= 0; changes -= 1) {
    const before = reached[changes - 1];
    const taken = before ? byTaking(before, diagonal, oldLength) : nowhere;
    const from = before ? Math.max(taken, byPutting(before, diagonal, nowLength)) : 0;
    for (let x = reached[changes]![diagonal + changes]!; x > from; x -= 1) pairs.push([x - 1, x - 1 - diagonal]);
    diagonal += taken === from ? -1 : 1;
  }
  return pairs.toReversed();
}
