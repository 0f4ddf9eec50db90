import { lengthOf } from "../curves/length.ts";
import type { Shape } from "../drawing.ts";
import type { AreaCover } from "./cover.ts";
import type { EdgePixel } from "./edges.ts";
import { fitCurves } from "./fit-path.ts";
import { refined, type Work } from "./refine.ts";
import { withRoundCorners } from "./round-corners.ts";
import type { Place } from "./straight-line.ts";
import { type FoundStroke, fitStroke, roundShare } from "./strokes-of.ts";

type Strokes = readonly FoundStroke[];

/** Strokes, and how they make up their area; null where they are elsewhere. */
export interface Laid {
  readonly strokes: Strokes;
  readonly cover: AreaCover | null;
}

/** Strokes where the edges of their area lead them: as they were measured, with round corners, and drawn anew. */
export function* movedBy(
  found: Strokes,
  edges: readonly EdgePixel[],
  work: Work,
  lay: (strokes: Strokes) => Laid,
): Generator<Laid> {
  const moved = (strokes: Strokes, smoothness = 0) => refined(strokes, edges, work, smoothness) ?? strokes;
  if (found.every(({ isMeasured }) => isMeasured)) {
    yield nearest(capsOf(found).map((strokes) => lay(moved(strokes))));
    yield nearest(capsOf(found).map((strokes) => lay(moved(strokes.map(curved)))));
  }
  if (found.some(({ abuts }) => abuts.includes(true))) return;
  const free = nearest(bothCaps(found).map((strokes) => lay(moved(strokes.map(loosened), smoothness))));
  if (!free.cover || free.cover.miss > freeMissMax) return;
  const fitted = moved(
    free.strokes.map((stroke) => ({
      ...stroke,
      shape: fitStroke(stroke.points, stroke.width, stroke.closed, stroke.ends),
    })),
  );
  yield lay(fitted);
  yield lay(moved(fitted.map(curved)));
  yield lay(
    moved(free.strokes.map((stroke) => ({ ...stroke, shape: fitCurves(betweenPoints(stroke), stroke.closed) }))),
  );
}

/** Midway between points, so that a line of straight pieces has no corners. */
function betweenPoints({ points, closed }: FoundStroke): Place[] {
  const next = (i: number) => points[i + 1] ?? (closed ? points[0] : points[i]);
  return points.map(({ x, y }, i) => ({ x: (x + next(i).x) / 2, y: (y + next(i).y) / 2 }));
}

function nearest(ways: readonly Laid[]): Laid {
  return ways.reduce((one, other) => ((other.cover?.miss ?? 1) < (one.cover?.miss ?? 1) ? other : one));
}

/** How much a free line resists its bends, by the pixels that pull at it. */
const smoothness = 0.5;
/** What free lines miss by more is made of no lines. */
const freeMissMax = 0.16;

function curved(stroke: FoundStroke): FoundStroke {
  return { ...stroke, shape: withRoundCorners(stroke.shape, stroke.width) ?? stroke.shape };
}

/** A stroke as straight pieces, about as long as it is wide, along where it was thinned to. */
function loosened(stroke: FoundStroke): FoundStroke {
  const {
    way,
    width,
    closed,
    ends: [start, end],
  } = stroke;
  const every = Math.max(2, Math.round(0.8 * width));
  const knots = way.filter((_, i) => i % every === every >> 1 || way.length <= every);
  const all = [...(start ? [start] : []), ...knots, ...(end ? [end] : [])];
  const shape: Shape = { kind: closed ? "polygon" : "polyline", points: all.flatMap(({ x, y }) => [x, y]) };
  return { ...stroke, shape };
}

/** Where no end says how strokes are cut, their joins may be round instead. */
export function capsOf(found: Strokes): Strokes[] {
  return found.some(({ tips }) => tips.includes(true)) ? [found] : bothCaps(found);
}

function bothCaps(found: Strokes): Strokes[] {
  return (["butt", "round"] as const).map((cap) => found.map((stroke) => withCap(stroke, cap)));
}

function withCap(stroke: FoundStroke, cap: FoundStroke["cap"]): FoundStroke {
  if (cap === stroke.cap) return stroke;
  const { way, width, tips } = stroke;
  const farther = roundShare * width * (cap === "butt" ? 1 : -1);
  const [start, end] = stroke.ends.map((place, side) => {
    const near = side === 0 ? way[Math.min(way.length - 1, 2)] : way[Math.max(0, way.length - 3)];
    const long = place && lengthOf(place.x - near.x, place.y - near.y);
    if (!place || !long || !tips[side]) return place;
    const share = Math.max(-1, farther / long);
    return { x: place.x + (place.x - near.x) * share, y: place.y + (place.y - near.y) * share };
  });
  return { ...stroke, cap, ends: [start, end] };
}
