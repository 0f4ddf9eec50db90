import { lengthOf } from "../curves/length.ts";
import { coverArea, nearCoveredEnds } from "./cover.ts";
import { edgesOf } from "./edges.ts";
import { capsOf, type Laid, movedBy } from "./moved-strokes.ts";
import { roughMin, roughSizeMax } from "./paths.ts";
import type { Measured } from "./profile.ts";
import type { Work } from "./refine.ts";
import type { FoundStroke } from "./strokes-of.ts";

/** Strokes that cover an area, which is where, and how far their edges are off. */
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
  const lay = (strokes: readonly FoundStroke[]): Laid => ({
    strokes,
    cover: coverArea(places, edges, strokes, picture),
  });
  const laid = asMeasured ? capsOf(found).map(lay) : [];
  const measured = bestOf(laid);
  const isNear = measured !== null && measured.miss <= closeMax;
  const isFar = places.length > roughSizeMax && laid.every(({ cover }) => (cover?.miss ?? 1) > farMissMin);
  if (isNear || isFar || found[0].width < roughMin || isThick(places, found, picture)) return measured;
  if (work.failures >= failuresMax) return measured;
  const isEnd = nearCoveredEnds(found);
  const clear = edges.filter(({ x, y }) => !isEnd(x, y));
  const missMax = measured ? betterMin * measured.miss : areShort(found) ? closeMax : movedMissMax;
  for (const { strokes, cover } of movedBy(found, clear, work, lay)) {
    if (cover && cover.miss <= missMax && cover.strays <= movedStrayMax && areAlike(strokes)) {
      work.failures = 0;
      return { strokes, owners: cover.owners, miss: cover.miss };
    }
  }
  if (!measured) work.failures++;
  return measured;
}

/** A picture in which this many areas in a row came to nothing is no drawing of lines. */
const failuresMax = 12;
/** Edges that are off by no more are as near as they can be. */
const closeMax = 0.06;
/** A large area that is off by this much has more than a few bends that could not be measured. */
const farMissMin = 0.15;
/** By how much less the edges must be off for strokes to be moved. */
const betterMin = 0.8;
/** How far edges may be off where they themselves say where strokes lie. */
const movedMissMax = 0.08;
const movedStrayMax = 0.005;

/** Whether strokes are hardly longer than wide: what an outline draws as well, and how their ends are cut is most of it. */
function areShort(strokes: readonly FoundStroke[]): boolean {
  return strokes.every(({ way, width }) => way.length < shortMax * width);
}

const shortMax = 6;

/** Strokes as they were found, or with round joins where these are clearly nearer. */
function bestOf([asFound, asRound]: readonly Laid[]): Covering | null {
  const [found, round] = [asFound, asRound].map((way) =>
    way?.cover?.isWhole ? { ...way.cover, strokes: way.strokes } : null,
  );
  return round && round.miss < 0.9 * (found?.miss ?? 1) ? round : found;
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

/** Whether strokes lie on something, or go round it: what runs between two other things all along is a part of one. */
function isOnGround(strokes: readonly FoundStroke[], { pixels, areas, stride, width }: Measured): boolean {
  const height = areas.length / stride - 2;
  let same = 0;
  let other = 0;
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
