import { lengthOf } from "../curves/length.ts";
import { areNear } from "./round.ts";
import { distanceTo, lineThrough, type Place, type StraightLine } from "./straight-line.ts";

/** Straight stretches that follow points, and by how much these miss them: the root of the mean square, px. */
export interface Straights {
  readonly lines: readonly StraightLine[];
  /** The first point of each stretch but the first. */
  readonly splits: readonly number[];
  readonly miss: number;
}

/**
 * The few straight stretches that points make, where these bend too little to be seen as corners; null where it takes many,
 * or short ones: a curve. A stretch that is none is divided where two lines follow it best.
 */
export function straightsThrough(points: readonly Place[], shortest: number): Straights | null {
  const sums = new Sums(points);
  const ranges: [number, number][] = [[0, points.length]];
  for (let i = 0; i < ranges.length; ) {
    const [from, to] = ranges[i];
    const own = points.slice(from, to);
    if (lengthOf(own[own.length - 1].x - own[0].x, own[own.length - 1].y - own[0].y) < shortest) return null;
    const line = lineThrough(own);
    if (areNear(own, missMax, (point) => distanceTo(line, point))) {
      i++;
      continue;
    }
    if (ranges.length === stretchesMax || to - from < 2 * pointsMin) return null;
    const split = sums.bestSplit(from, to);
    ranges.splice(i, 1, [from, split], [split, to]);
  }
  joinAlike(ranges, points);
  const squares = ranges.reduce((sum, [from, to]) => sum + sums.squares(from, to), 0);
  return {
    lines: ranges.map(([from, to]) => lineThrough(points.slice(from, to))),
    splits: ranges.slice(1).map(([from]) => from),
    miss: Math.sqrt(squares / points.length),
  };
}

/** Stretches that are one line together become one: what was divided first may have been divided at no corner. */
function joinAlike(ranges: [number, number][], points: readonly Place[]): void {
  for (let i = 0; i + 1 < ranges.length; ) {
    const [from, to] = [ranges[i][0], ranges[i + 1][1]];
    const own = points.slice(from, to);
    const line = lineThrough(own);
    if (areNear(own, missMax, (point) => distanceTo(line, point))) ranges.splice(i, 2, [from, to]);
    else i++;
  }
}

const missMax = 0.25;
const stretchesMax = 6;
const pointsMin = 4;

/** Sums over the points before each, so that how straight any stretch is takes no walk along it. */
class Sums {
  private readonly sums: Float64Array;

  constructor(points: readonly Place[]) {
    this.sums = new Float64Array((points.length + 1) * 5);
    const [{ x: atX, y: atY }] = points;
    points.forEach((point, i) => {
      const [x, y] = [point.x - atX, point.y - atY];
      [x, y, x * x, x * y, y * y].forEach((term, k) => {
        this.sums[(i + 1) * 5 + k] = this.sums[i * 5 + k] + term;
      });
    });
  }

  /** The squared distances of a stretch's points from the line that follows it best. */
  squares(from: number, to: number): number {
    const [x, y, xx, xy, yy] = [0, 1, 2, 3, 4].map((k) => this.sums[to * 5 + k] - this.sums[from * 5 + k]);
    const n = to - from;
    const [a, b, c] = [xx - (x * x) / n, xy - (x * y) / n, yy - (y * y) / n];
    return Math.max(0, (a + c - lengthOf(a - c, 2 * b)) / 2);
  }

  bestSplit(from: number, to: number): number {
    let [best, least] = [from + pointsMin, Number.POSITIVE_INFINITY];
    for (let i = from + pointsMin; i <= to - pointsMin; i++) {
      const squares = this.squares(from, i) + this.squares(i, to);
      if (squares < least) [best, least] = [i, squares];
    }
    return best;
  }
}
