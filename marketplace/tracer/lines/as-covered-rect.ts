import type { Points } from "../curves/points.ts";
import { unsurePoints } from "../curves/primitives.ts";
import type { Shape } from "../drawing.ts";
import { areNear } from "./round.ts";

/**
 * The rectangle with sharp corners that an outline is, if strokes lie over a part of it: a bar that a curve crosses, or that
 * stands on an axis. Most of each side must be seen, or lie beneath a stroke that runs along it.
 */
export function asCoveredRect(points: Points, enclosed: number): Shape | null {
  const { x, y, count, beneath } = points;
  if (count < 24 || !beneath.subarray(0, count).includes(1)) return null;
  const unsure = unsurePoints(points);
  if (!unsure) return null;
  const all = Array.from({ length: count }, (_, i) => i);
  const [left, right] = sidesOf(x, unsure, count);
  const [top, bottom] = sidesOf(y, unsure, count);
  const [width, height] = [right.at - left.at, bottom.at - top.at];
  if (width < 3 || height < 3 || Math.abs(width * height - enclosed) > enclosedOffMax * enclosed) return null;
  if (Math.min(left.points, right.points) < sideShareMin * height) return null;
  if (Math.min(top.points, bottom.points) < sideShareMin * width) return null;
  const off = (i: number) => {
    const across = Math.abs(x[i] - (left.at + right.at) / 2) - width / 2;
    const down = Math.abs(y[i] - (top.at + bottom.at) / 2) - height / 2;
    return Math.max(across, down);
  };
  const seen = all.filter((i) => unsure[i] === 0).map((i) => ({ x: off(i), y: 0 }));
  return areNear(seen, missMax, ({ x: miss }) => miss) ? { kind: "rect", x: left.at, y: top.at, width, height } : null;
}

const enclosedOffMax = 0.04;
const sideShareMin = 0.35;
const missMax = 0.3;
/** How far apart points of one side may lie, px. */
const sideMax = 0.9;

interface Side {
  readonly at: number;
  /** How many lie along it. */
  readonly points: number;
}

/** The two sides along which most points lie, in the lower and in the upper half of their range. */
function sidesOf(values: Float64Array, unsure: Uint8Array, count: number): readonly [Side, Side] {
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => values[a] - values[b]);
  const middle = (values[order[0]] + values[order[count - 1]]) / 2;
  const half = order.findIndex((i) => values[i] > middle);
  return [fullest(order.slice(0, half), values, unsure), fullest(order.slice(half), values, unsure)];
}

/** Where most of sorted places lie close together; where it is depends on the sure ones, if there are some. */
function fullest(order: readonly number[], values: Float64Array, unsure: Uint8Array): Side {
  let [from, to] = [0, 0];
  for (let i = 0, j = 0; i < order.length; i++) {
    while (j < order.length && values[order[j]] - values[order[i]] <= sideMax) j++;
    if (j - i > to - from) [from, to] = [i, j];
  }
  const near = order.slice(from, to);
  const sure = near.filter((i) => unsure[i] === 0);
  const used = sure.length > 2 ? sure : near;
  return { at: used.reduce((sum, i) => sum + values[i], 0) / used.length, points: near.length };
}
