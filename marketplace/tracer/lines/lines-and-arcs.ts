import { arcThrough, areNear, type Circle, offCircle, rootMeanSquare } from "./round.ts";
import { distanceTo, lineThrough, type Place, type StraightLine } from "./straight-line.ts";

/** A stretch of points, from one to before another, and the line or the circle that it follows. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly line?: StraightLine;
  readonly circle?: Circle;
}

/**
 * The fewest lines and arcs that points follow one after the other, as rounded frames and icons are made of; null where it takes
 * too many. Source: polygonal approximation by dynamic programming, as in Perez & Vidal, "Optimum polygonal approximation of digitized
 * curves" (1994), here with arcs besides.
 */
export function linesAndArcs(points: readonly Place[], width: number, missMax: number): Stretch[] | null {
  const n = points.length;
  if (n < pointsMin || n > pointsMax) return null;
  const apart = Math.max(1, Math.ceil(n / breaksMax));
  const breaks: number[] = [];
  for (let i = 0; i < n; i += apart) breaks.push(i);
  breaks.push(n);
  const best: { cost: number; stretch: Stretch | null; before: number }[] = breaks.map((_, k) => ({
    cost: k === 0 ? 0 : Number.POSITIVE_INFINITY,
    stretch: null,
    before: -1,
  }));
  for (let i = 0; i + 1 < breaks.length; i++) {
    if (best[i].cost === Number.POSITIVE_INFINITY) continue;
    for (let j = i + 1, failed = 0; j < breaks.length && failed < failedMax; j++) {
      const found = fitted(points, breaks[i], breaks[j], width, missMax);
      failed = found ? 0 : failed + 1;
      if (!found || best[i].cost + found.cost >= best[j].cost) continue;
      best[j] = { cost: best[i].cost + found.cost, stretch: found.stretch, before: i };
    }
  }
  const stretches: Stretch[] = [];
  for (let k = best.length - 1; k > 0; k = best[k].before) {
    const { stretch } = best[k];
    if (!stretch || stretches.length === stretchesMax) return null;
    stretches.unshift(stretch);
  }
  return stretches;
}

const pointsMin = 12;
const pointsMax = 700;
const breaksMax = 72;
const stretchesMax = 24;
/** Longer stretches in a row that neither line nor arc fits, after which the search ends. */
const failedMax = 4;

/** Costs in numbers to write, and a little for how far the points miss. */
function fitted(points: readonly Place[], from: number, to: number, width: number, missMax: number) {
  const own = points.slice(from, to);
  if (own.length < 3) return null;
  const line = lineThrough(own);
  if (areNear(own, missMax, (point) => distanceTo(line, point)))
    return { stretch: { from, to, line }, cost: 2 + rootMeanSquare(own, (point) => distanceTo(line, point)) };
  const circle = own.length < 5 ? null : arcThrough(own, missMax);
  if (!circle || circle.r < radiusMin * width) return null;
  return { stretch: { from, to, circle }, cost: 3 + rootMeanSquare(own, (point) => offCircle(circle, point)) };
}

/** A stroke bends no tighter than about its own edge, by its width. */
const radiusMin = 0.45;
