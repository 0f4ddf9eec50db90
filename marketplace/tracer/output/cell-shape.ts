import { keepTo } from "../deadline.ts";
import type { Outline } from "../drawing.ts";
import { pathData } from "./path-data.ts";

/** Cells of a grid, a byte each, in a frame of one empty cell all round. */
export interface Cells {
  /** With the frame. */
  readonly width: number;
  readonly height: number;
  readonly at: Uint8Array;
}

/** What a shape does with a cell: it must leave it free, may cover it (something opaque is drawn there later), or must. */
export const free = 0;
export const optional = 1;
export const needed = 2;

export interface CellShape {
  /** Of lines only, in cells. */
  readonly outlines: readonly Outline[];
  readonly evenOdd: boolean;
}

/**
 * The shape with the shortest path that covers every needed cell and no free one. Cells that touch at a corner only are one
 * outline which crosses itself there, where that is shorter (even-odd), and apart otherwise.
 */
export function shortestShape(cells: Cells, deadlineMs: number): CellShape {
  let best: CellShape | null = null;
  let bestLength = Number.POSITIVE_INFINITY;
  for (const from of cells.at.includes(optional) ? [optional, needed] : [needed]) {
    for (const evenOdd of [false, true]) {
      const filled = fewestCorners(cells, from, evenOdd ? 0 : 2, deadlineMs);
      if (evenOdd && !hasTouching(filled)) continue;
      const outlines = outlinesOf(filled, evenOdd);
      const length = pathData(outlines, 1).length + (evenOdd ? evenOddBytes : 0);
      if (length < bestLength) [best, bestLength] = [{ outlines, evenOdd }, length];
    }
  }
  return best!;
}

const evenOddBytes = ' fill-rule="evenodd"'.length;

/** Whether cells touch at a corner only. */
function hasTouching({ width, at }: Cells): boolean {
  return at.some((cell, i) => i > width && cell === at[i - width - 1] && at[i - 1] !== cell && at[i - width] !== cell);
}

/** A shape in other cells' numbers. */
export function movedBy({ outlines, evenOdd }: CellShape, across: number, down: number): CellShape {
  const moved = ({ x, y, kinds, points }: Outline): Outline => ({
    x: x + across,
    y: y + down,
    kinds,
    points: points.map((v, i) => v + (i % 2 === 0 ? across : down)),
  });
  return { outlines: outlines.map(moved), evenOdd };
}

/** 1 for what to cover, such that little changes would not save corners: begun from the cells that are at least `from`. */
function fewestCorners(cells: Cells, from: number, crossing: number, deadlineMs: number): Cells {
  const filled = { ...cells, at: cells.at.map((cell) => (cell >= from ? 1 : 0)) };
  for (let pass = 0; pass < passesMax; pass++) {
    keepTo(deadlineMs);
    const added = flipRects(cells, filled, 1, crossing);
    const taken = flipRects(cells, filled, 0, crossing);
    if (added + taken === 0) break;
  }
  return filled;
}

const passesMax = 16;

/** Gives rectangles in the corners of what is not `to` that value, where corners are saved; returns how often. */
function flipRects(cells: Cells, filled: Cells, to: 0 | 1, crossing: number): number {
  const { width, height, at } = filled;
  let flips = 0;
  for (let y = 1; y < height; y++) {
    for (let i = y * width + 1; i < (y + 1) * width; i++) {
      // Of the four cells around this node one alone is not `to`.
      if (at[i - width - 1] + at[i - width] + at[i - 1] + at[i] !== 1 + 2 * to) continue;
      const alone = [i - width - 1, i - width, i - 1, i].find((cell) => at[cell] !== to)!;
      if (cells.at[alone] !== optional) continue;
      const right = alone === i || alone === i - width;
      const below = alone >= i - 1;
      const across = edge(at, alone, right ? 1 : -1, below ? -width : width);
      const down = edge(at, alone, below ? width : -width, right ? -1 : 1);
      const x = i - y * width;
      const rect = { x: right ? x : x - across, y: below ? y : y - down, width: across, height: down };
      if (flip(cells, filled, rect, to, crossing)) flips++;
    }
  }
  return flips;
}

/** How many cells on from a cell the border to those beside it goes. */
function edge(at: Uint8Array, from: number, step: number, beside: number): number {
  const value = at[from];
  let n = 0;
  for (let i = from; at[i] === value && at[i + beside] === 1 - value; i += step) n++;
  return n;
}

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function flip(cells: Cells, filled: Cells, rect: Rect, to: 0 | 1, crossing: number): boolean {
  const kept: number[] = [];
  const { width, at } = filled;
  for (let y = rect.y; y < rect.y + rect.height; y++) {
    for (let x = rect.x; x < rect.x + rect.width; x++) {
      const i = y * width + x;
      if (at[i] === to) continue;
      if (cells.at[i] !== optional) return false;
      kept.push(i);
    }
  }
  const before = cornersIn(filled, rect, crossing);
  for (const i of kept) at[i] = to;
  if (cornersIn(filled, rect, crossing) < before) return true;
  for (const i of kept) at[i] = 1 - to;
  return false;
}

/** Corners of the outlines at the nodes of a rectangle's cells; `crossing`: what two cells that touch there count. */
function cornersIn({ width, at }: Cells, rect: Rect, crossing: number): number {
  let corners = 0;
  for (let y = rect.y; y <= rect.y + rect.height; y++) {
    for (let x = rect.x; x <= rect.x + rect.width; x++) {
      const i = y * width + x;
      const sum = at[i - width - 1] + at[i - width] + at[i - 1] + at[i];
      if (sum === 1 || sum === 3) corners++;
      else if (sum === 2 && at[i] === at[i - width - 1]) corners += crossing;
    }
  }
  return corners;
}

/**
 * The outlines of filled cells, in units of cells from the frame's corner. Crossing: they go straight on where cells touch at
 * a corner; otherwise they have the shape on their right and leave such cells apart.
 */
function outlinesOf(filled: Cells, crossing: boolean): Outline[] {
  const { width } = filled;
  const steps = [1, width, -1, -width];
  const ways = waysOf(filled, crossing);
  const open = ways.slice();
  const turns = crossing ? [0, 1, 3] : [1, 0, 3];
  const outlines: Outline[] = [];
  for (let start = 0; start < open.length; start++) {
    while (open[start] !== 0) {
      const first = 31 - Math.clz32(open[start] & -open[start]);
      const corners: number[] = [];
      let [node, direction] = [start, first];
      do {
        open[node] &= ~(1 << direction);
        node += steps[direction];
        if (crossing) open[node] &= ~(1 << ((direction + 2) % 4));
        const turn = turns.find((by) => (ways[node] >> ((direction + by) % 4)) & 1)!;
        if (turn !== 0) corners.push(node);
        direction = (direction + turn) % 4;
      } while (node !== start || direction !== first);
      outlines.push(shortest(corners, width, outlines.at(-1), crossing));
    }
  }
  return outlines;
}

/** Bits of the ways on from each node: right, down, left, up; crossing: all, otherwise those with the shape on their right. */
function waysOf({ width, at }: Cells, crossing: boolean): Uint8Array {
  const ways = new Uint8Array(at.length);
  for (let i = width + 1; i < at.length; i++) {
    const [nw, ne, sw, se] = [at[i - width - 1], at[i - width], at[i - 1], at[i]];
    ways[i] = crossing
      ? (ne ^ se) | ((sw ^ se) << 1) | ((nw ^ sw) << 2) | ((nw ^ ne) << 3)
      : (se & ~ne) | ((sw & ~se) << 1) | ((nw & ~sw) << 2) | ((ne & ~nw) << 3);
  }
  return ways;
}

/** The outline through these corners that is shortest to write after another: where it begins, and which way it goes. */
function shortest(corners: number[], width: number, after: Outline | undefined, eitherWay: boolean): Outline {
  const forward = bestStart(corners, width, after);
  const back = eitherWay ? bestStart(corners.reverse(), width, after) : forward;
  if (eitherWay && forward.saved >= back.saved) corners.reverse();
  const { start } = forward.saved >= back.saved ? forward : back;
  const points: number[] = [];
  for (let k = 1; k < corners.length; k++) {
    const corner = corners[(start + k) % corners.length];
    points.push(corner % width, Math.floor(corner / width));
  }
  const kinds = new Array<number>(corners.length - 1).fill(1);
  return { x: corners[start] % width, y: Math.floor(corners[start] / width), kinds, points };
}

/** The corner to begin at, where the line back to it need not be written, and the bytes saved beside writing all lines. */
function bestStart(corners: readonly number[], width: number, after: Outline | undefined) {
  let best = { start: 0, saved: Number.NEGATIVE_INFINITY };
  let signs = 0;
  for (let i = 0, last = corners.length - 1; i < corners.length; last = i++) {
    const x = corners[i] % width;
    const y = Math.floor(corners[i] / width);
    const step = x - (corners[last] % width) + y - Math.floor(corners[last] / width);
    if (step < 0) signs++;
    const saved = digits(step) - (after ? digits(x - after.x) + digits(y - after.y) : 0);
    if (saved > best.saved) best = { start: i, saved };
  }
  return { start: best.start, saved: best.saved - signs };
}

/** Bytes of a number with its sign. */
function digits(v: number): number {
  const size = v < 0 ? -v : v;
  return (v < 0 ? 1 : 0) + (size < 10 ? 1 : size < 100 ? 2 : size < 1000 ? 3 : 4);
}
