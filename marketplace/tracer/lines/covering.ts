import { lengthOf } from "../curves/length.ts";
import type { Shape } from "../drawing.ts";
import { type AreaCover, coverArea, nearCoveredEnds } from "./cover.ts";
import { type EdgePixel, edgesOf } from "./edges.ts";
import { roughMin } from "./paths.ts";
import type { Measured } from "./profile.ts";
import { refined, type Work } from "./refine.ts";
import { withRoundCorners } from "./round-corners.ts";
import { type FoundStroke, fitStroke, roundShare } from "./strokes-of.ts";

/** Strokes that cover an area, and which is where. */
interface Covering {
  readonly strokes: readonly FoundStroke[];
  readonly owners: Int32Array;
  readonly miss: number;
}

/** Lays strokes over an area as they were measured, or as its edges show that they lie; null where they do not make it up. */
export function covering(
  found: FoundStroke[] | null,
  places: Int32Array,
  picture: Measured,
  work: Work,
): Covering | null {
  if (!found || !isOnGround(found, picture)) return null;
  const edges = edgesOf(places, picture);
  const asMeasured = found.every(({ isMeasured }) => isMeasured);
  const lay = (strokes: Strokes) => ({ strokes, cover: coverArea(places, edges, strokes, picture) });
  const measured = asMeasured ? bestOf(capsOf(found).map(lay)) : null;
  const isNear = measured !== null && measured.miss <= closeMax;
  if (isNear || found[0].width < roughMin || isThick(places, found, picture)) return measured;
  const isEnd = nearCoveredEnds(found);
  const clear = edges.filter(({ x, y }) => !isEnd(x, y));
  const missMax = measured ? betterMin * measured.miss : movedMissMax;
  for (const ways of movedBy(found, clear, work)) {
    const least = ways
      .map(lay)
      .reduce((one, other) => ((other.cover?.miss ?? 1) < (one.cover?.miss ?? 1) ? other : one));
    const { strokes, cover } = least;
    if (cover && cover.miss <= missMax && cover.strays <= movedStrayMax && areAlike(strokes))
      return { strokes, owners: cover.owners, miss: cover.miss };
  }
  return measured;
}

/** Edges that are off by no more are as near as they can be. */
const closeMax = 0.04;
/** By how much less the edges must be off for strokes to be moved. */
const betterMin = 0.75;
/** How far edges may be off where they themselves say where strokes lie. */
const movedMissMax = 0.08;
const movedStrayMax = 0.005;

type Strokes = readonly FoundStroke[];

/** Strokes where the edges of their area lead them, in a few ways each: as they were measured, with round corners, and drawn anew. */
function* movedBy(found: Strokes, edges: readonly EdgePixel[], work: Work): Generator<Strokes[]> {
  const moved = (ways: readonly Strokes[]) => ways.map((strokes) => refined(strokes, edges, work) ?? strokes);
  if (found.every(({ isMeasured }) => isMeasured)) {
    yield moved(capsOf(found));
    yield moved([found.map(curved)]);
  }
  if (found.some(({ abuts }) => abuts.includes(true))) return;
  const free = moved(bothCaps(found).map((strokes) => freely(strokes, edges, work) ?? strokes));
  yield free;
  yield moved(free.map((strokes) => strokes.map(curved)));
}

function curved(stroke: FoundStroke): FoundStroke {
  return { ...stroke, shape: withRoundCorners(stroke.shape, stroke.width) ?? stroke.shape };
}

/** Strokes drawn anew along the middles to which their edges lead, from where they were thinned to. */
function freely(found: Strokes, edges: readonly EdgePixel[], work: Work): Strokes | null {
  const loose = found.map((stroke) => ({ ...stroke, shape: looseShape(stroke) }));
  const led = refined(loose, edges, work, smoothness);
  return (
    led?.map((stroke) => ({
      ...stroke,
      shape: fitStroke(stroke.points, stroke.width, stroke.closed, stroke.ends),
    })) ?? null
  );
}

/** Whether strokes are of one width: lines with something at their ends are not. */
function areAlike(strokes: readonly FoundStroke[]): boolean {
  const widths = strokes.map(({ width }) => width);
  return Math.max(...widths) <= widthsApartMax * Math.min(...widths);
}

const widthsApartMax = 1.25;

/** Whether an area is thicker than strokes that meet: a filled shape at a line's end, which strokes could fill as well. */
function isThick(places: Int32Array, strokes: readonly FoundStroke[], { areas, area, stride }: Measured): boolean {
  const width = Math.max(...strokes.map((stroke) => stroke.width));
  const disc: number[] = [];
  const reach = Math.ceil(width / 2);
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) if (lengthOf(x, y) <= width / 2 + 0.5) disc.push(y * stride + x);
  let deep = 0;
  for (const q of places) if (disc.every((step) => areas[q + step] === area)) deep++;
  return deep > deepMax * width * width * strokes.length;
}

/** Where strokes meet so much of the square of their width lies deep within them, by their number. */
const deepMax = 0.5;

/** Straight pieces about as long as the stroke is wide. */
function looseShape({ way, width, closed, ends: [start, end] }: FoundStroke): Shape {
  const every = Math.max(2, Math.round(0.8 * width));
  const knots = way.filter((_, i) => i % every === every >> 1 || way.length <= every);
  const all = [...(start ? [start] : []), ...knots, ...(end ? [end] : [])];
  return { kind: closed ? "polygon" : "polyline", points: all.flatMap(({ x, y }) => [x, y]) };
}

/** How much a free line resists its bends, by the pixels that pull at it. */
const smoothness = 0.5;

function bothCaps(found: readonly FoundStroke[]): (readonly FoundStroke[])[] {
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

/** Where no end says how strokes are cut, their joins may be round instead. */
function capsOf(found: readonly FoundStroke[]): (readonly FoundStroke[])[] {
  return found.some(({ tips }) => tips.includes(true)) ? [found] : bothCaps(found);
}

function bestOf(ways: readonly { strokes: readonly FoundStroke[]; cover: AreaCover | null }[]): Covering | null {
  const [asFound, asRound] = ways;
  const found = asFound?.cover?.isWhole ? asFound.cover : null;
  const round = asRound?.cover?.isWhole ? asRound.cover : null;
  if (round && round.miss < 0.9 * (found?.miss ?? 1))
    return { strokes: asRound.strokes, owners: round.owners, miss: round.miss };
  return found && { strokes: asFound.strokes, owners: found.owners, miss: found.miss };
}

/** Whether strokes lie on something, or go round it: what runs between two other things all along is a part of one. */
function isOnGround(strokes: readonly FoundStroke[], { pixels, areas, stride, width }: Measured): boolean {
  const height = areas.length / stride - 2;
  let [same, other] = [0, 0];
  for (const { points, closed, width: wide } of strokes) {
    if (closed) return true;
    for (let i = 1; i < points.length; i++) {
      const { x, y } = points[i];
      const [dx, dy] = [x - points[i - 1].x, y - points[i - 1].y];
      const off = (wide / 2 + 2) / (lengthOf(dx, dy) || 1);
      const [one, two] = [1, -1].map((side) => {
        const [px, py] = [Math.floor(x - dy * off * side), Math.floor(y + dx * off * side)];
        return px < 0 || py < 0 || px >= width || py >= height ? -1 : (py * width + px) * 4;
      });
      if (one < 0 || two < 0) continue;
      if ([0, 1, 2, 3].every((c) => Math.abs(pixels[one + c] - pixels[two + c]) <= alikeMax)) same++;
      else other++;
    }
  }
  return same >= other;
}

/** How far apart two levels of one ground may be. */
const alikeMax = 12;
