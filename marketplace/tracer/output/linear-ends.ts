import { type Fill, fillColours, type Shape } from "../drawing.ts";
import { type Box, boxesOf } from "./boxes.ts";

type Linear = Extract<Fill, { kind: "linear" }>;

/** Where between its ends a gradient is at (x, y): `a` · x + `b` · y + `c`, 0 at its start and 1 at its end. */
interface Ramp {
  readonly a: number;
  readonly b: number;
  readonly c: number;
}

/** x1, y1, x2 and y2. */
type Ends = readonly [number, number, number, number];

/**
 * Where a linear gradient begins and ends, as attributes. It may begin anywhere on a line across it, so where numbers can be left out;
 * and in shares of the box around the shape that it fills, where they are as exact: these are shorter.
 */
export function linearEnds(fill: Linear, shape: Shape, unit: number): string {
  if (fill.asRead !== undefined) return fill.asRead;
  const plain = [fill.x1, fill.y1, fill.x2, fill.y2].map((v) => Math.round(v * unit)) as unknown as Ends;
  const ramp = rampOf([fill.x1 * unit, fill.y1 * unit, fill.x2 * unit, fill.y2 * unit]);
  const boxes = boxesOf(shape, unit);
  if (!boxes || !ramp) return inUnits(plain);
  const offMax = levelsMax / Math.max(1, spanOf(fill));
  const near = (ends: Ends, mapped: (box: Box) => Box) =>
    boxes.every((box) => offOf(ramp, ends, box, mapped(box)) <= offMax);
  const inFile = [plain, ...placesOf(ramp, 0).filter((ends) => near(ends, (box) => box))].map(inUnits);
  const [strict, loose] = boxes;
  const middle = strict.map((v, i) => (v + loose[i]) / 2) as unknown as Box;
  const inBox = [1, 2, 3].flatMap((digits) =>
    placesOf(withinBox(ramp, middle), digits).filter((ends) => near(ends, () => whole)),
  );
  return [...inBox.map(inShares), ...inFile].reduce((best, text) => (text.length < best.length ? text : best));
}

/** How far a colour may be off for a gradient to be written in fewer characters, levels. */
const levelsMax = 1;
const whole: Box = [0, 0, 1, 1];

function rampOf([x1, y1, x2, y2]: Ends): Ramp | null {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const square = dx * dx + dy * dy;
  return square === 0 ? null : { a: dx / square, b: dy / square, c: -(dx * x1 + dy * y1) / square };
}

/** A ramp of the file's units as one of shares of a box. */
function withinBox({ a, b, c }: Ramp, [left, top, right, bottom]: Box): Ramp {
  return { a: a * (right - left), b: b * (bottom - top), c: a * left + b * top + c };
}

/** Where a gradient whose ends are shares of a box has them in the units of that. */
export function outOfBox({ x1, y1, x2, y2 }: Linear, [left, top, right, bottom]: Box): Omit<Linear, "kind" | "stops"> {
  const { a, b, c } = rampOf([x1, y1, x2, y2])!;
  const [dx, dy] = [a / (right - left), b / (bottom - top)];
  const square = dx * dx + dy * dy;
  const at = (c - dx * left - dy * top) / square;
  return { x1: -at * dx, y1: -at * dy, x2: (1 / square - at) * dx, y2: (1 / square - at) * dy };
}

/** Pairs of ends for a ramp, rounded, one number of each 0 or 1. */
function placesOf({ a, b, c }: Ramp, digits: number): Ends[] {
  const square = a * a + b * b;
  const [dx, dy] = [a / square, b / square];
  const starts = [
    [-c / a, 0],
    [0, -c / b],
    [(1 - c) / a - dx, -dy],
    [1 - dx, (1 - c - a) / b - dy],
    [-c * dx, -c * dy],
  ];
  const round = (v: number) => Math.round(v * 10 ** digits) / 10 ** digits;
  return starts
    .map(([x, y]) => [round(x), round(y), round(x + dx), round(y + dy)] as const)
    .filter((ends) => ends.every(Number.isFinite) && rampOf(ends));
}

/** How far a pair of ends is from a ramp at the corners of a box; `mapped` is that box in the units of the ends. */
function offOf({ a, b, c }: Ramp, ends: Ends, box: Box, mapped: Box): number {
  const other = rampOf(ends)!;
  let most = 0;
  for (const [i, j] of [
    [0, 1],
    [2, 1],
    [0, 3],
    [2, 3],
  ]) {
    const is = other.a * mapped[i] + other.b * mapped[j] + other.c;
    most = Math.max(most, Math.abs(a * box[i] + b * box[j] + c - is));
  }
  return most;
}

/** The most a channel differs between two stops, levels. */
function spanOf(fill: Linear): number {
  const colours = fillColours(fill);
  const spans = [
    colours.map(({ r }) => r),
    colours.map(({ g }) => g),
    colours.map(({ b }) => b),
    colours.map(({ opacity }) => 255 * opacity),
  ].map((levels) => Math.max(...levels) - Math.min(...levels));
  const steps = fill.stops.length > 2 ? fill.stops.length - 1 : 1;
  return Math.max(...spans) * steps;
}

function inUnits([x1, y1, x2, y2]: Ends): string {
  const y = y2 === 0 ? "" : ` y2="${y2}"`;
  return ` gradientUnits="userSpaceOnUse"${begin(x1, y1)} x2="${x2}"${y}`;
}

function inShares([x1, y1, x2, y2]: Ends): string {
  const [x, y] = [x2 === 1 ? "" : ` x2="${short(x2)}"`, y2 === 0 ? "" : ` y2="${short(y2)}"`];
  return begin(x1, y1) + x + y;
}

/** 0 need not be written. */
function begin(x: number, y: number): string {
  return `${x === 0 ? "" : ` x1="${short(x)}"`}${y === 0 ? "" : ` y1="${short(y)}"`}`;
}

function short(v: number): string {
  return String(v).replace(/^(-?)0\./, "$1.");
}
