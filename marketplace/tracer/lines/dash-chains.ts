import { lengthOf } from "../curves/length.ts";
import type { Dash, DashedLine } from "./dashes.ts";
import { fitOpen } from "./fit-path.ts";
import type { Place } from "./straight-line.ts";

/**
 * The dashes of a line that bends, followed from one to both sides; null where they are few or do not
 * lie where the pattern has them.
 */
export function chainOf(seed: Dash, all: readonly Dash[], work: Work): DashedLine | null {
  const ahead = follow(seed, all, new Set([seed]), work);
  const behind = follow(turned(seed), all, new Set([seed, ...ahead.map(({ dash }) => dash)]), work);
  const chain = [...behind.reverse().map(({ way }) => turned(way)), seed, ...ahead.map(({ way }) => way)];
  if (chain.length < chainMin) return null;
  const inner = chain.slice(1, -1);
  const length = inner.reduce((sum, dash) => sum + dash.length, 0) / inner.length;
  const isWhole = (dash: Dash) => Math.abs(dash.length - length) < lengthOff * length + 0.6;
  if (!inner.every(isWhole)) return null;
  // The pattern begins with a whole piece; where the line ends, one may be cut short.
  const row = isWhole(chain[0]) ? chain : chain.reverse().map(turned);
  return isWhole(row[0]) ? lineAlong(row, length) : null;
}

const chainMin = 6;
const lengthOff = 0.2;

/** How many pieces may still be looked at. */
export interface Work {
  left: number;
}

/** The dash, seen in the other direction. */
function turned(dash: Dash): Dash {
  return { ...dash, dx: -dash.dx, dy: -dash.dy };
}

/** The pieces that follow one in its direction: each, and the same as it is gone along. */
function follow(seed: Dash, all: readonly Dash[], taken: Set<Dash>, work: Work): { dash: Dash; way: Dash }[] {
  const found: { dash: Dash; way: Dash }[] = [];
  let pitch = 0;
  for (let from = seed; ; ) {
    work.left -= all.length;
    const next = work.left < 0 ? null : nextOf(from, all, taken);
    if (!next) return found;
    // The middle of a piece that was cut short lies nearer.
    const step = next.far + (from.length - next.dash.length) / 2;
    if (pitch > 0 && Math.abs(step - pitch) > pitchOff * pitch + 0.4) return found;
    pitch ||= step;
    taken.add(next.dash);
    found.push(next);
    from = next.way;
  }
}

const pitchOff = 0.05;

/** The nearest piece ahead that is alike and to which a bend as of a circle leads. */
function nextOf(from: Dash, all: readonly Dash[], taken: ReadonlySet<Dash>) {
  let best: { dash: Dash; way: Dash; far: number } | null = null;
  for (const dash of all) {
    const [x, y] = [dash.x - from.x, dash.y - from.y];
    const far = lengthOf(x, y);
    if (far > reach * from.length || (best && far >= best.far) || taken.has(dash)) continue;
    if (Math.abs(dash.width - from.width) > 0.6 || dash.length > (1 + lengthOff) * from.length + 0.8) continue;
    const leaves = angle(from, { dx: x, dy: y });
    const way = x * dash.dx + y * dash.dy < 0 ? turned(dash) : dash;
    const arrives = angle({ dx: x, dy: y }, way);
    if (Math.abs(leaves) > turnMax || Math.abs(arrives) > turnMax || Math.abs(leaves - arrives) > evenMax) continue;
    best = { dash, way, far };
  }
  return best;
}

/** How far off the next piece may lie, in lengths; how much the line may turn to it and on, and the one less than the other. */
const reach = 3;
const turnMax = 0.36;
const evenMax = 0.4;

type Direction = Pick<Dash, "dx" | "dy">;

function angle(a: Direction, b: Direction): number {
  return Math.atan2(a.dx * b.dy - a.dy * b.dx, a.dx * b.dx + a.dy * b.dy);
}

function lineAlong(row: readonly Dash[], length: number): DashedLine | null {
  const points: Place[] = [];
  const middles: number[] = [];
  let along = 0;
  const add = (x: number, y: number) => {
    const last = points[points.length - 1];
    if (last) along += lengthOf(x - last.x, y - last.y);
    points.push({ x, y });
  };
  const end = (dash: Dash, side: 1 | -1) =>
    add(dash.x + (side * dash.dx * dash.length) / 2, dash.y + (side * dash.dy * dash.length) / 2);
  end(row[0], -1);
  row.forEach((dash, i) => {
    add(dash.x, dash.y);
    middles.push(along);
    if (i + 1 < row.length) bend(dash, row[i + 1], add);
  });
  end(row[row.length - 1], 1);
  const [first, last] = [middles[0], middles[middles.length - 2]];
  const pitch = (last - first) / (middles.length - 2);
  // Lengths are written in quarters of a pixel.
  const dashes = [Math.round(4 * length) / 4, Math.round(4 * (pitch - length)) / 4] as const;
  const written = dashes[0] + dashes[1];
  const isInPlace = middles.slice(0, -1).every((at, i) => Math.abs(at - first - i * written) < 0.12 * length + 0.4);
  if (!isInPlace || dashes[1] <= 0) return null;
  const width = row.slice(1, -1).reduce((sum, dash) => sum + dash.width, 0) / (row.length - 2);
  const shape = fitOpen(points, width, [points[0], points[points.length - 1]]);
  return { shape, width, dashes, areas: row.map(({ area }) => area) };
}

/** Places between two pieces, about a pixel apart: the cubic of Hermite. */
function bend(from: Dash, to: Dash, add: (x: number, y: number) => void): void {
  const far = lengthOf(to.x - from.x, to.y - from.y);
  const n = Math.max(2, Math.round(far));
  for (let i = 1; i < n; i++) {
    const t = i / n;
    const [a, b] = [(1 + 2 * t) * (1 - t) ** 2, t * t * (3 - 2 * t)];
    const [u, v] = [far * t * (1 - t) ** 2, far * t * t * (t - 1)];
    add(a * from.x + b * to.x + u * from.dx + v * to.dx, a * from.y + b * to.y + u * from.dy + v * to.dy);
  }
}
