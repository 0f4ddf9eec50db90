import { lengthOf } from "../curves/length.ts";
import { solve } from "../regions/least-squares.ts";
import type { EdgePixel } from "./edges.ts";
import { type Slope, slopesOf } from "./point-slopes.ts";
import { pointsAlong } from "./points-along.ts";
import { numbersOf, withNumbers } from "./shape-numbers.ts";
import type { Place } from "./straight-line.ts";
import type { FoundStroke } from "./strokes-of.ts";

/**
 * Moves strokes to where the pixels at their area's edge are covered as they should be: where they bend about as much as they
 * are wide, or others are near, no middle can be measured. Each pixel speaks of the place of a stroke that is nearest to it.
 * `smoothness` is how much vertices resist being corners. Null where it is too much
 * work. Source: Levenberg-Marquardt, as
 * in Nocedal & Wright, "Numerical Optimization" (2006) §10.3.
 */
export function refined(
  strokes: readonly FoundStroke[],
  edges: readonly EdgePixel[],
  work: Work,
  smoothness = 0,
): FoundStroke[] | null {
  let moved = strokes.map((stroke) => new Movable(stroke));
  const needed = moved.reduce((sum, { xs }) => sum + xs.length, 0) * edges.length;
  if (needed > work.left) return null;
  work.left -= needed;
  const places = edges.map((edge) => new Nearest(edge));
  for (let round = 0; round < roundsMax; round++) {
    const systems = moved.map((stroke) => new System(stroke));
    for (const place of places) {
      place.find(moved, round % searchEvery !== 0);
      place.ask(systems);
    }
    if (smoothness > 0) for (const [i, system] of systems.entries()) system.smooth(moved[i].stroke, smoothness);
    const steps = withOneWidth(
      moved,
      systems.map((system) => system.step()),
    );
    moved = moved.map((stroke, i) => stroke.by(steps[i]));
    if (steps.every((step) => step.every((value) => Math.abs(value) < stepMin))) break;
  }
  return moved.map((stroke) => stroke.found());
}

/** Steps after which all strokes have their average width: strokes that meet in one area were drawn alike. */
function withOneWidth(strokes: readonly Movable[], steps: readonly number[][]): number[][] {
  const total = strokes.reduce((sum, { xs }) => sum + xs.length, 0);
  const width = strokes.reduce(
    (sum, { xs, width }, i) => sum + (xs.length / total) * (width + steps[i][steps[i].length - 1]),
    0,
  );
  return steps.map((step, i) => step.with(-1, width - strokes[i].width));
}

const roundsMax = 8;
/** What may still be done for a picture: pixels by points of strokes. */
export interface Work {
  left: number;
  /** Areas in a row that no strokes were moved to. */
  failures: number;
}

/** Every fourth round the nearest place is searched everywhere, in the rounds between only about its last place. */
const searchEvery = 4;
/** Steps that change nothing to be seen, px. */
const stepMin = 0.01;
const stepMax = 1;

/** A stroke, and points along it that are as many wherever it moves. */
class Movable {
  readonly xs: Float64Array;
  readonly ys: Float64Array;
  readonly width: number;
  readonly stroke: FoundStroke;
  /** Between two of its points, at most. */
  readonly longest: number;
  private readonly points: readonly Place[];
  private readonly counts: number[];

  constructor(stroke: FoundStroke, counts: number[] = []) {
    this.stroke = stroke;
    this.counts = counts;
    this.width = stroke.width;
    this.points = pointsAlong(stroke.shape, apart, counts);
    this.xs = Float64Array.from(this.points, ({ x }) => x);
    this.ys = Float64Array.from(this.points, ({ y }) => y);
    this.longest = this.points.reduce((most, { x, y }, i) => {
      const next = this.points[i + 1] ?? this.points[stroke.closed ? 0 : i];
      return Math.max(most, lengthOf(next.x - x, next.y - y));
    }, 0);
  }

  slopes(): Slope[] {
    return slopesOf(this.stroke.shape, this.points, this.counts);
  }

  /** Where the last of the steps is that of the width. */
  by(steps: readonly number[]): Movable {
    const { shape, width } = this.stroke;
    const numbers = numbersOf(shape).map((value, k) => value + steps[k]);
    const wider = Math.max(0.5, width + steps[steps.length - 1]);
    return new Movable({ ...this.stroke, shape: withNumbers(shape, numbers), width: wider }, this.counts);
  }

  found(): FoundStroke {
    const { stroke, points } = this;
    const [first, last] = [points[0], points[points.length - 1]];
    return { ...stroke, points, ends: stroke.closed ? stroke.ends : [stroke.ends[0] && first, stroke.ends[1] && last] };
  }
}

/** Between points along a stroke, px. */
const apart = 1.2;

/** What the pixels near one stroke say of its numbers: sums of the equations that they make. */
class System {
  private readonly slopes: readonly Slope[];
  private readonly normal: Float64Array;
  private readonly right: Float64Array;
  private readonly row: Float64Array;
  private readonly used: Int32Array;

  constructor(stroke: Movable) {
    this.slopes = stroke.slopes();
    const n = this.slopes.length + 1;
    this.normal = new Float64Array(n * n);
    this.right = new Float64Array(n);
    this.row = new Float64Array(n);
    this.used = new Int32Array(n);
  }

  /** A pixel is covered by `off` more than it is drawn; it lies in direction (ux, uy) from the place of the stroke. */
  add(off: number, weight: number, { from, to, share, ux, uy }: Nearest): void {
    const { row, slopes } = this;
    for (let k = 0; k < slopes.length; k++) {
      const { first, xs, ys } = slopes[k];
      const [a, b] = [from - first, to - first];
      row[k] = 0;
      if (a >= 0 && a < xs.length) row[k] += (xs[a] * ux + ys[a] * uy) * (1 - share);
      if (b >= 0 && b < xs.length) row[k] += (xs[b] * ux + ys[b] * uy) * share;
    }
    row[slopes.length] = 0.5;
    this.addRow(off, weight);
  }

  /** Each vertex wants to be midway between its neighbours. */
  smooth({ shape, closed }: FoundStroke, weight: number): void {
    const numbers = numbersOf(shape);
    const n = numbers.length;
    for (let k = closed ? 0 : 2; k < (closed ? n : n - 2); k++) {
      const [before, after] = [(k + n - 2) % n, (k + 2) % n];
      this.row.fill(0);
      this.row[k] = -1;
      this.row[before] += 0.5;
      this.row[after] += 0.5;
      this.addRow(numbers[k] - (numbers[before] + numbers[after]) / 2, weight);
    }
  }

  private addRow(off: number, weight: number): void {
    const { row, normal, right, used } = this;
    const n = row.length;
    let count = 0;
    for (let i = 0; i < n; i++) if (row[i] !== 0) used[count++] = i;
    for (let a = 0; a < count; a++) {
      const i = used[a];
      right[i] += weight * row[i] * off;
      for (let b = 0; b < count; b++) normal[i * n + used[b]] += weight * row[i] * row[used[b]];
    }
  }

  step(): number[] {
    const n = this.row.length;
    for (let k = 0; k < n; k++) this.normal[k * n + k] += damping;
    if (!solve(this.normal, this.right, n, 1)) return new Array(n).fill(0);
    return Array.from(this.right, (step) => Math.max(-stepMax, Math.min(stepMax, step)));
  }
}

/** A number that no pixel depends on stays as it is. */
const damping = 0.2;

/** The place of a stroke nearest to a pixel: between two of its points, in a direction, and how far from the stroke's edge. */
class Nearest {
  from = -1;
  to = -1;
  share = 0;
  ux = 0;
  uy = 0;
  private stroke = -1;
  private distance = 0;
  private readonly edge: EdgePixel;

  constructor(edge: EdgePixel) {
    this.edge = edge;
  }

  /** `near`: where it was before, or not far from there. */
  find(strokes: readonly Movable[], near: boolean): void {
    if (near && this.stroke < 0) return;
    let least = farMax;
    const [was, at] = [this.stroke, this.from];
    this.stroke = -1;
    for (let i = near ? was : 0; i < (near ? was + 1 : strokes.length); i++) {
      const count = strokes[i].xs.length - (strokes[i].stroke.closed ? 0 : 1);
      const [first, last] = near ? [Math.max(0, at - nearby), Math.min(count, at + nearby)] : [0, count];
      least = this.seek(strokes[i], i, first, last, least);
    }
    if (this.stroke >= 0) this.place(strokes[this.stroke]);
  }

  /** Takes the nearest place of a stretch of a stroke, if it is nearer to its edge than `least`; how near that is. */
  private seek(
    { xs, ys, width, longest }: Movable,
    stroke: number,
    first: number,
    last: number,
    least: number,
  ): number {
    const { x, y } = this.edge;
    let reach = least + width / 2;
    let found = false;
    for (let i = first; i < last; i++) {
      const next = i + 1 === xs.length ? 0 : i + 1;
      const [px, py] = [x - xs[i], y - ys[i]];
      // From here no point of the next pieces can be near enough.
      const pieces = Math.floor((Math.sqrt(px * px + py * py) - reach) / longest);
      if (pieces > 0) {
        i += pieces - 1;
        continue;
      }
      const [dx, dy] = [xs[next] - xs[i], ys[next] - ys[i]];
      const t = Math.max(0, Math.min(1, (px * dx + py * dy) / (dx * dx + dy * dy || 1)));
      const off = (px - dx * t) ** 2 + (py - dy * t) ** 2;
      if (off >= reach * reach) continue;
      reach = Math.sqrt(off);
      found = true;
      this.from = i;
      this.to = next;
      this.share = t;
    }
    if (!found) return least;
    this.stroke = stroke;
    return reach - width / 2;
  }

  private place({ xs, ys, width, stroke: { closed, cap } }: Movable): void {
    const { from, to, share } = this;
    const [dx, dy] = [xs[to] - xs[from], ys[to] - ys[from]];
    const [px, py] = [this.edge.x - xs[from] - dx * share, this.edge.y - ys[from] - dy * share];
    const far = lengthOf(px, py) || 1;
    [this.ux, this.uy, this.distance] = [px / far, py / far, far - width / 2];
    const side = share === 0 && from === 0 ? -1 : share === 1 && to === xs.length - 1 ? 1 : 0;
    if (closed || cap === "round" || side === 0) return;
    // Beyond an end that is cut off square.
    const long = (lengthOf(dx, dy) || 1) * side;
    const [along, off] = [(px * dx + py * dy) / long, (px * dy - py * dx) / long];
    if (along > Math.abs(off) - width / 2) [this.ux, this.uy, this.distance] = [dx / long, dy / long, along];
    else {
      const sign = Math.sign(off) / long;
      [this.ux, this.uy, this.distance] = [dy * sign, -dx * sign, Math.abs(off) - width / 2];
    }
  }

  /** Adds the pixel's measurement to the system of its stroke. */
  ask(systems: readonly System[]): void {
    const { share, weight } = this.edge;
    if (this.stroke < 0 || Math.abs(this.distance) > farMax) return;
    const drawn = Math.max(0, Math.min(1, 0.5 - this.distance));
    // A whole pixel that is drawn whole says nothing of where the edge runs.
    if ((drawn === 1 && share >= 1) || (drawn === 0 && share <= 0)) return;
    systems[this.stroke].add(Math.max(-offMax, Math.min(offMax, share - drawn)), weight, this);
  }
}

/** Pixels farther from a stroke's edge are of something else, px. */
const farMax = 2.5;
/** Points along a stroke. */
const nearby = 6;
const offMax = 0.6;
