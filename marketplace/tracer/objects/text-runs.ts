import type { Contours } from "../curves/contours.ts";
import type { AreaMap } from "../regions/components.ts";
import { find, unite } from "../regions/union-find.ts";
import { type Letter, lettersOf } from "./letters.ts";
import { type AreaShapes, colourOff } from "./shapes-of-areas.ts";

/**
 * Finds lines of letters: areas of about one colour and one height that lie apart on one ground, on a common line, close to
 * each other, in thin strokes, and that are not all alike, as the bars of a chart or a row of dots are. Nothing is read. Out:
 * the run each area is of, or -1, letters and what belongs to them, such as dots; null where there is none.
 *
 * Source: the grouping of letter candidates to lines in Epshtein, Ofek & Wexler, "Detecting Text in Natural Scenes with
 * Stroke Width Transform" (2010) §3.
 */
export function findTextRuns(map: AreaMap, chain: Contours, shapes: AreaShapes): Int32Array | null {
  const letters = lettersOf(map, chain, shapes);
  const parent = Int32Array.from(letters, (_, i) => i);
  letters.forEach((one, i) => {
    const next = nextTo(one, i, letters, shapes);
    if (next >= 0) unite(parent, i, next);
  });
  const lines = new Map<number, Letter[]>();
  letters.forEach((letter, i) => {
    const line = lines.get(find(parent, i));
    if (line) line.push(letter);
    else lines.set(find(parent, i), [letter]);
  });
  const first = (line: readonly Letter[]) => Math.min(...line.map(({ area }) => area));
  const texts = [...lines.values()].filter((line) => isText(line)).sort((one, other) => first(one) - first(other));
  const runs = onOneLine(texts, shapes);
  if (runs.length === 0) return null;
  const runOf = new Int32Array(map.count).fill(-1);
  runs.forEach((line, run) => {
    for (const { area } of line) runOf[area] = run;
  });
  addMarks(runs, runOf, map, shapes);
  return runOf;
}

/** The letter that follows another on its line, or -1. */
function nextTo(one: Letter, i: number, letters: readonly Letter[], shapes: AreaShapes): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  const reach = one.right + gapMax * one.height * tallerMax;
  for (let k = i + 1; k < letters.length && letters[k].left <= reach; k++) {
    const other = letters[k];
    const gap = other.left - one.right;
    if (gap >= least || other.on !== one.on || !areOnALine(one, other)) continue;
    if (colourOff(shapes, one.area, other.area) > levelsAlike) continue;
    best = k;
    least = gap;
  }
  return best;
}

/** Widest gap between two letters, also of two words, in heights. */
const gapMax = 1;
const tallerMax = 2;
const levelsAlike = 48;

function areOnALine(one: Letter, other: Letter): boolean {
  const tall = Math.max(one.height, other.height);
  if (Math.min(one.height, other.height) * tallerMax < tall) return false;
  const gap = other.left - one.right;
  if (gap > gapMax * tall || gap < -0.3 * tall) return false;
  const most = Math.max(1.5, lineOffMax * tall);
  return Math.abs(one.bottom - other.bottom) <= most || Math.abs(one.top - other.top) <= most;
}

const lineOffMax = 0.12;

/** Runs that go on where another ends, after something that is no letter, as one. */
function onOneLine(runs: readonly Letter[][], shapes: AreaShapes): Letter[][] {
  const joined: Letter[][] = [];
  for (const run of [...runs].sort((one, other) => one[0].left - other[0].left)) {
    const before = joined.find((line) => goesOn(line, run, shapes));
    if (before) before.push(...run);
    else joined.push([...run]);
  }
  return joined.sort((one, other) => one[0].area - other[0].area);
}

function goesOn(line: readonly Letter[], next: readonly Letter[], shapes: AreaShapes): boolean {
  const high = median(line.map(({ height }) => height));
  const foot = (run: readonly Letter[]) => median(run.map(({ bottom }) => bottom));
  const gap = next[0].left - Math.max(...line.map(({ right }) => right));
  return (
    line[0].on === next[0].on &&
    Math.abs(foot(line) - foot(next)) <= Math.max(1.5, lineOffMax * high) &&
    Math.abs(median(next.map(({ height }) => height)) - high) <= 0.25 * high + 1 &&
    gap > -high &&
    gap <= partsGapMax * high &&
    colourOff(shapes, line[0].area, next[0].area) <= levelsAlike
  );
}

/** Widest gap between two runs of one line, in heights. */
const partsGapMax = 2;

function isText(line: readonly Letter[]): boolean {
  if (line.length < 2) return false;
  const high = median(line.map(({ height }) => height));
  const foot = median(line.map(({ bottom }) => bottom));
  const share = (is: (letter: Letter) => boolean) => line.filter(is).length / line.length;
  const across = Math.max(...line.map(({ right }) => right)) - line[0].left;
  if (across < high) return false;
  if (median(line.map(({ thick }) => thick)) > strokeMax * high) return false;
  if (median(line.slice(1).map(({ left }, i) => left - line[i].right)) > gapUsualMax * high) return false;
  if (share(({ bottom }) => Math.abs(bottom - foot) <= Math.max(1.5, lineOffMax * high)) < onLineShareMin) return false;
  // Bars, dots, stars: letters differ.
  if (share(({ full }) => full > 0.93) > blocksShareMax) return false;
  if (line.every((letter) => areAlike(letter, line[0]))) return false;
  return line.length > 2 || isPair(line[0], line[1]);
}

const strokeMax = 0.3;
/** Widest gap between most letters, in heights. */
const gapUsualMax = 0.45;
const onLineShareMin = 0.6;
const blocksShareMax = 0.5;

/** Two alone are text only where they are close and of one height. */
function isPair(one: Letter, other: Letter): boolean {
  const tall = Math.max(one.height, other.height);
  const near =
    other.left - one.right <= 0.4 * tall && Math.abs(one.bottom - other.bottom) <= Math.max(1, lineOffMax * tall);
  return near && Math.abs(one.height - other.height) <= Math.max(1, 0.1 * tall);
}

function areAlike(one: Letter, other: Letter): boolean {
  const off = Math.max(1, 0.06 * one.height);
  const wide = ({ left, right }: Letter) => right - left;
  return (
    Math.abs(one.height - other.height) <= off &&
    Math.abs(wide(one) - wide(other)) <= off &&
    Math.abs(one.full - other.full) <= 0.05 &&
    Math.abs(one.thick - other.thick) <= 0.05 * one.thick
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

/** Gives dots, accents and points to the run they stand by. */
function addMarks(runs: readonly (readonly Letter[])[], runOf: Int32Array, map: AreaMap, shapes: AreaShapes): void {
  const { boxes, inside, border } = shapes;
  const byGround = new Map<number, number[]>();
  for (let a = 0; a < map.count; a++) {
    if (runOf[a] >= 0 || inside[a] < 0 || border[a] > 0) continue;
    const list = byGround.get(inside[a]);
    if (list) list.push(a);
    else byGround.set(inside[a], [a]);
  }
  runs.forEach((line, run) => {
    const high = median(line.map(({ height }) => height));
    const left = line[0].left - 0.4 * high;
    const right = Math.max(...line.map((letter) => letter.right)) + 0.4 * high;
    const top = Math.min(...line.map((letter) => letter.top)) - 0.45 * high;
    const bottom = Math.max(...line.map((letter) => letter.bottom)) + 0.3 * high;
    for (const a of byGround.get(line[0].on) ?? []) {
      const [l, t, r, b] = boxes.subarray(a * 4, a * 4 + 4);
      if (runOf[a] >= 0 || l < left || r > right || t < top || b > bottom || b - t > 1.6 * high) continue;
      if (colourOff(shapes, a, line[0].area) <= levelsAlike) runOf[a] = run;
    }
  });
}

/** The runs of areas that were numbered anew: letters are as they were. */
export function carried(runOf: Int32Array, before: AreaMap, after: AreaMap): Int32Array {
  const now = new Int32Array(after.count).fill(-1);
  for (let p = 0; p < after.flat.length; p++) {
    const run = runOf[before.flat[p]];
    if (run >= 0) now[after.flat[p]] = run;
  }
  return now;
}
