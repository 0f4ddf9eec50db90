import type { Contours } from "../curves/contours.ts";
import type { AreaMap } from "../regions/components.ts";
import { find, unite } from "../regions/union-find.ts";
import { ByRow, firstFrom } from "./by-row.ts";
import { type Letter, lettersOf } from "./letters.ts";
import { type AreaShapes, colourOff } from "./shapes-of-areas.ts";
import { joinLines, levelsAlike, lineOff, lineOffMax, type TextLine } from "./text-lines.ts";

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
  const [tops, feet] = [new ByRow<number>(map.height), new ByRow<number>(map.height)];
  letters.forEach(({ on, top, bottom }, i) => {
    tops.add(on, top, i);
    feet.add(on, bottom, i);
  });
  letters.forEach((one, i) => {
    const off = lineOff(tallerMax * one.height);
    const beside = [
      ...tops.between(one.on, one.top - off, one.top + off),
      ...feet.between(one.on, one.bottom - off, one.bottom + off),
    ];
    const next = nextTo(i, letters, beside, shapes);
    if (next >= 0) unite(parent, i, next);
  });
  const lines = new Map<number, Letter[]>();
  letters.forEach((letter, i) => {
    const line = lines.get(find(parent, i));
    if (line) line.push(letter);
    else lines.set(find(parent, i), [letter]);
  });
  const texts = [...lines.values()].filter((line) => isText(line));
  const runs = joinLines(texts, map.height, shapes);
  if (runs.length === 0) return null;
  const runOf = new Int32Array(map.count).fill(-1);
  runs.forEach(({ letters: ofLine }, run) => {
    for (const { area } of ofLine) runOf[area] = run;
  });
  addMarks(runs, runOf, map, shapes);
  return runOf;
}

/** The letter that follows the i-th on its line, or -1; letters and each list of those beside it are from left to right. */
function nextTo(i: number, letters: readonly Letter[], beside: readonly number[][], shapes: AreaShapes): number {
  const one = letters[i];
  const reach = one.right + gapMax * one.height * tallerMax;
  let next = letters.length;
  for (const row of beside) {
    for (let at = firstFrom(row, i + 1, (k) => k); at < row.length && row[at] < next; at++) {
      const other = letters[row[at]];
      if (other.left > reach) break;
      if (areOnALine(one, other) && colourOff(shapes, one.area, other.area) <= levelsAlike) next = row[at];
    }
  }
  return next < letters.length ? next : -1;
}

/** Widest gap between two letters, also of two words, in heights. */
const gapMax = 1;
const tallerMax = 2;

function areOnALine(one: Letter, other: Letter): boolean {
  const tall = Math.max(one.height, other.height);
  if (Math.min(one.height, other.height) * tallerMax < tall) return false;
  const gap = other.left - one.right;
  if (gap > gapMax * tall || gap < -0.3 * tall) return false;
  const most = lineOff(tall);
  return Math.abs(one.bottom - other.bottom) <= most || Math.abs(one.top - other.top) <= most;
}

function isText(line: readonly Letter[]): boolean {
  if (line.length < 2) return false;
  const high = median(line.map(({ height }) => height));
  const foot = median(line.map(({ bottom }) => bottom));
  const share = (is: (letter: Letter) => boolean) => line.filter(is).length / line.length;
  const across = Math.max(...line.map(({ right }) => right)) - line[0].left;
  if (across < high) return false;
  if (median(line.map(({ thick }) => thick)) > strokeMax * high) return false;
  if (median(line.slice(1).map(({ left }, i) => left - line[i].right)) > gapUsualMax(high) * high) return false;
  if (share(({ bottom }) => Math.abs(bottom - foot) <= lineOff(high)) < onLineShareMin) return false;
  // Bars, dots, stars: letters differ.
  if (share(({ full }) => full > 0.93) > blocksShareMax) return false;
  if (line.every((letter) => areAlike(letter, line[0]))) return false;
  return line.length > 2 || isPair(line[0], line[1]);
}

const strokeMax = 0.3;
/** Widest gap between most letters, in heights. Of what is as tall as icons, letters stand closer than these. */
const gapUsualMax = (high: number) => (high > iconMin ? 0.25 : 0.45);
const iconMin = 40;
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
function addMarks(runs: readonly TextLine[], runOf: Int32Array, map: AreaMap, shapes: AreaShapes): void {
  const { boxes, inside, border } = shapes;
  const leftOf = (a: number) => boxes[a * 4];
  const may = Array.from(runOf.keys()).filter((a) => runOf[a] < 0 && inside[a] >= 0 && border[a] === 0);
  const byTop = new ByRow<number>(map.height);
  for (const a of may.sort((one, other) => leftOf(one) - leftOf(other))) byTop.add(inside[a], boxes[a * 4 + 1], a);
  runs.forEach(({ letters, on, high, left: start, right: end }, run) => {
    const [left, right] = [start - 0.4 * high, end + 0.4 * high];
    const top = Math.min(...letters.map((letter) => letter.top)) - 0.45 * high;
    const bottom = Math.max(...letters.map((letter) => letter.bottom)) + 0.3 * high;
    for (const row of byTop.between(on, top, bottom)) {
      for (let at = firstFrom(row, left, leftOf); at < row.length && leftOf(row[at]) <= right; at++) {
        const a = row[at];
        const [t, r, b] = boxes.subarray(a * 4 + 1, a * 4 + 4);
        if (runOf[a] >= 0 || r > right || b > bottom || b - t > 1.6 * high) continue;
        if (colourOff(shapes, a, letters[0].area) <= levelsAlike) runOf[a] = run;
      }
    }
  });
}

/** The runs of areas that were numbered anew: letters are as they were. */
export function carried(runOf: Int32Array, before: AreaMap, after: AreaMap): Int32Array {
  const now = new Int32Array(after.count).fill(-1);
  const { begins } = before.runs;
  const { begins: laterBegins } = after.runs;
  let later = 0;
  for (let r = 0; r < before.areaOf.length; r++) {
    const run = runOf[before.areaOf[r]];
    if (run < 0) continue;
    while (laterBegins[later + 1] <= begins[r]) later++;
    for (let l = later; laterBegins[l] < begins[r + 1]; l++) now[after.areaOf[l]] = run;
  }
  return now;
}
