import { type AreaMap, areaPasses } from "../regions/components.ts";

/** One closed outline of an area, as unit steps along pixel edges with the area on the right hand. */
export interface Contour {
  readonly area: number;
  /** First vertex, px. */
  readonly x: number;
  readonly y: number;
  /** Steps `from` ≤ i < `to` of `steps`. */
  readonly from: number;
  readonly to: number;
  /** Enclosed px²: positive round an area, negative round a hole in it. */
  readonly enclosed: number;
}

export interface Contours {
  /** 0 east, 1 south, 2 west, 3 north. */
  readonly steps: Uint8Array;
  /** All outlines; `outer[area]` is the one round the area. */
  readonly all: readonly Contour[];
  readonly outer: Int32Array;
  /** Per area: the outline of the hole it lies in, or -1. */
  readonly container: Int32Array;
  /** Per area: how many areas it is nested in. */
  readonly depth: Int32Array;
}

/**
 * Step 4a: follows every outline of every area once. Source: crack following, as in Pavlidis, "Algorithms for Graphics
 * and Image Processing" (1982) §7.5; nesting as in Suzuki & Abe (1985).
 */
export function contours(map: AreaMap): Contours {
  const { runs, areaOf, stride, width, height, count } = map;
  const { begins, rows } = runs;
  const aboves = abovesOf(map);
  const follower = new Follower(map, aboves);
  const all: Contour[] = [];
  const outer = new Int32Array(count).fill(-1);
  const begin = (area: number, x: number, y: number) => {
    const q = (y + 1) * stride + 1 + x;
    if ((follower.seen[q] & passed) !== 0) return;
    const from = follower.used;
    const enclosed = follower.follow(q, x, all.length);
    if (outer[area] === -1) outer[area] = all.length;
    all.push({ area, x, y, from, to: follower.used, enclosed });
  };
  for (let y = 0, above = 0; y < height; y++) {
    for (let run = rows[y]; run < rows[y + 1]; run++) {
      const area = areaOf[run];
      const end = begins[run + 1];
      for (let p = begins[run]; p < end; ) {
        if (y > 0) while (begins[above + 1] + width <= p) above++;
        const stop = y > 0 ? Math.min(end, begins[above + 1] + width) : end;
        if (y === 0 || areaOf[above] !== area) for (let q = p; q < stop; q++) begin(area, q - y * width, y);
        p = stop;
      }
    }
  }
  return { steps: follower.steps, all, outer, ...nesting(map, all, outer, aboves, follower.below) };
}

/** The pixel above the first of each area. */
function abovesOf({ runs, areaOf, stride, width, count }: AreaMap): Int32Array {
  const { begins, rows } = runs;
  const aboves = new Int32Array(count);
  let known = 0;
  // Areas are numbered in reading order.
  for (let y = 0; y + 1 < rows.length; y++) {
    for (let run = rows[y]; run < rows[y + 1]; run++) {
      if (areaOf[run] === known) aboves[known++] = y * stride + 1 + begins[run] - y * width;
    }
  }
  return aboves;
}

/** What each area lies in: told by the outline that passes above its first pixel. */
function nesting(
  { areas, count }: AreaMap,
  all: readonly Contour[],
  outer: Int32Array,
  aboves: Int32Array,
  below: ReadonlyMap<number, number>,
): Pick<Contours, "container" | "depth"> {
  const container = new Int32Array(count).fill(-1);
  const depth = new Int32Array(count);
  for (let area = 0; area < count; area++) {
    const neighbour = areas[aboves[area]];
    if (neighbour < 0) continue;
    const passing = below.get(aboves[area]) ?? -1;
    container[area] = outer[neighbour] === passing ? container[neighbour] : passing;
    const around = container[area];
    depth[area] = around < 0 ? 0 : depth[all[around].area] + 1;
  }
  return { container, depth };
}

/** Marks of a pixel: that its upper side has been passed, and that it is to be known which outline passes its lower one. */
const passed = 1;
const asked = 2;

/** Goes round outlines, and remembers where it has been. */
class Follower {
  steps = new Uint8Array(1 << 16);
  used = 0;
  /** The marks of each pixel. */
  readonly seen: Uint8Array;
  /** The outline that passes below a pixel, for those that are asked for: tells what a later area lies in. */
  readonly below = new Map<number, number>();
  private readonly map: AreaMap;

  constructor(map: AreaMap, asks: Int32Array) {
    this.map = map;
    this.seen = new Uint8Array(map.areas.length);
    for (let i = 0; i < asks.length; i++) this.seen[asks[i]] = asked;
  }

  /** Goes once round from above pixel `q`, eastwards, which lies in column `x`; what outline `id` encloses, px². */
  follow(q: number, x: number, id: number): number {
    const { map, seen, below } = this;
    const { areas, stride } = map;
    const ahead = [1, stride, -1, -stride];
    const area = areas[q];
    let direction = 0;
    let inside = q;
    let outside = q - stride;
    let column = x;
    let enclosed = 0;
    do {
      this.push(direction);
      if (direction === 0) {
        seen[inside] |= passed;
        column++;
      } else if (direction === 1) enclosed += column;
      else if (direction === 2) {
        if ((seen[inside] & asked) !== 0) below.set(inside, id);
        column--;
      } else enclosed -= column;
      const nextInside = inside + ahead[direction];
      const nextOutside = outside + ahead[direction];
      const insideSame = areas[nextInside] === area;
      const outsideSame = areas[nextOutside] === area;
      const left = insideSame ? outsideSame : outsideSame && areaPasses(map, area, areas[outside], areas[nextInside]);
      if (left) {
        // The area is also ahead on the left: turn towards it.
        inside = nextOutside;
        direction = (direction + 3) & 3;
      } else if (insideSame) {
        inside = nextInside;
        outside = nextOutside;
      } else {
        outside = nextInside;
        direction = (direction + 1) & 3;
      }
    } while (inside !== q || direction !== 0);
    return enclosed;
  }

  private push(direction: number): void {
    if (this.used === this.steps.length) {
      const grown = new Uint8Array(this.used * 2);
      grown.set(this.steps);
      this.steps = grown;
    }
    this.steps[this.used++] = direction;
  }
}
