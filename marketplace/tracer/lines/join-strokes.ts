import { lengthOf } from "../curves/length.ts";
import type { Areas } from "../regions/areas.ts";
import type { AreaMap } from "../regions/components.ts";
import { chainFrom, keyOf, type Link, type OwnStroke, shapeOfChain } from "./chain-strokes.ts";
import { HiddenGaps } from "./hidden-gaps.ts";
import type { LiftedStroke } from "./lines.ts";
import { lineThrough, type StraightLine } from "./straight-line.ts";
import { middleAhead } from "./to-middle.ts";
import { type WayOn, wayOn } from "./ways-on.ts";

/** The areas that are drawn beneath strokes, and the picture with these. */
interface Beneath {
  readonly areas: Areas;
  readonly pixels: Uint8Array;
}

/** The stroke on each pixel, the areas as they were, and what is drawn beneath the strokes. */
interface Scene {
  readonly at: Int32Array;
  readonly map: AreaMap;
  readonly beneath: Beneath;
}

/** Where a stroke stops because something else begins. */
interface End {
  readonly stroke: number;
  readonly side: 0 | 1;
  /** From the end outwards. */
  readonly line: StraightLine;
}

/**
 * Strokes that go on beneath other things become one again: a grid's line behind bars, a curve that others cross. Out:
 * the strokes, none drawn over a thing that covers it; and the new number of each. Source: good continuation, as in
 * Grossberg & Mingolla (1985).
 */
export function joinStrokes(
  found: readonly OwnStroke[],
  at: Int32Array,
  map: AreaMap,
  beneath: Beneath,
): { strokes: LiftedStroke[]; names: Int32Array } {
  const ends = found.flatMap((stroke, i) => endsOf(stroke, i));
  const gaps = ends.length > 0 ? new HiddenGaps(beneath.areas, at, found.length) : null;
  const next = linked(ends, found, gaps, { at, map, beneath });
  const endPlace = (stroke: number, side: 0 | 1) => {
    const end = ends.find((one) => one.stroke === stroke && one.side === side);
    const isStraight = found[stroke].shape.kind === "line" || found[stroke].shape.kind === "polyline";
    const hides = (pixel: number) => gaps?.hidesEnd(stroke, beneath.areas.map.flat[pixel]) === true;
    return (end && isStraight && middleAhead(end.line, at, map, hides)) || found[stroke].ends[side];
  };
  const names = new Int32Array(found.length).fill(-1);
  const joined: (LiftedStroke & { readonly members: readonly number[] })[] = [];
  const begin = (stroke: number, side: 0 | 1) => {
    const chain = chainFrom(stroke, side, next, found, endPlace);
    for (const member of chain.members) names[member] = joined.length;
    const { colour, cap } = found[stroke];
    const width = chain.members.reduce((sum, i) => sum + found[i].width, 0) / chain.members.length;
    const isAsFound = chain.members.length === 1 && chain.ends.every((end) => found[stroke].ends.includes(end));
    const shape = isAsFound ? found[stroke].shape : shapeOfChain(chain, width);
    joined.push({ shape, stroke: { colour, width, cap }, closed: chain.closed, members: chain.members });
  };
  for (let i = 0; i < found.length; i++) {
    for (const side of [0, 1] as const) if (names[i] < 0 && !next.has(keyOf(i, side))) begin(i, side);
  }
  for (let i = 0; i < found.length; i++) if (names[i] < 0) begin(i, 0);
  const turn = inOrder(joined.length, coverings(ends, next, at, map), names);
  const order = joined.map((_, i) => i).sort((a, b) => turn[a] - turn[b] || a - b);
  const place = new Int32Array(joined.length);
  order.forEach((i, k) => {
    place[i] = k;
  });
  return { strokes: order.map((i) => joined[i]), names: names.map((name) => place[name]) };
}

function endsOf({ points, ends, abuts, width }: OwnStroke, stroke: number): End[] {
  return ([0, 1] as const).flatMap((side) => {
    const end = ends[side];
    if (!abuts[side] || !end) return [];
    const ordered = side === 0 ? points : points.toReversed();
    const reach = Math.max(6, 3 * width);
    const near = ordered.filter((p, i) => i < 30 && lengthOf(p.x - ordered[0].x, p.y - ordered[0].y) <= reach);
    if (near.length < 2) return [];
    const { dx, dy } = lineThrough(near);
    return [{ stroke, side, line: { ...end, dx: -dx, dy: -dy } }];
  });
}

/** Which end goes on as which: straight on or round on one circle before round a corner, the nearest first. */
function linked(
  ends: readonly End[],
  found: readonly OwnStroke[],
  gaps: HiddenGaps | null,
  scene: Scene,
): Map<number, Link> {
  const pairs: { one: End; other: End; way: WayOn; over: number[]; areas: Set<number> }[] = [];
  for (let i = 0; i < ends.length; i++) {
    for (let j = i + 1; j < ends.length; j++) {
      const [one, other] = [ends[i], ends[j]];
      if (!areAlike(found[one.stroke], found[other.stroke])) continue;
      const way = wayOn(
        { stroke: found[one.stroke], line: one.line },
        { stroke: found[other.stroke], line: other.line },
      );
      const cover = way && coverOf(one, other, way, scene);
      if (way && cover) pairs.push({ one, other, way, ...cover });
    }
  }
  const corners = pairs.filter(({ way }) => way.bends);
  const isShared = ({ one, other, way }: (typeof pairs)[number]) =>
    way.bends &&
    corners.some((pair) => pair.way !== way && [pair.one, pair.other].some((end) => end === one || end === other));
  pairs.sort((a, b) => Number(a.way.bends) - Number(b.way.bends) || a.way.length - b.way.length);
  const next = new Map<number, Link>();
  for (const pair of pairs) {
    const { one, other, over, areas, way } = pair;
    const [a, b] = [keyOf(one.stroke, one.side), keyOf(other.stroke, other.side)];
    // Where several corners are possible at one place, none is taken: lines that end at a node of a graph have several.
    if (next.has(a) || next.has(b) || isShared(pair) || gaps?.join(one.stroke, other.stroke, areas) === false) continue;
    next.set(a, { stroke: other.stroke, side: other.side, bends: way.bends, over });
    next.set(b, { stroke: one.stroke, side: one.side, bends: way.bends, over });
  }
  return next;
}

function areAlike(one: OwnStroke, other: OwnStroke): boolean {
  const far = Math.max(
    Math.abs(one.colour.r - other.colour.r),
    Math.abs(one.colour.g - other.colour.g),
    Math.abs(one.colour.b - other.colour.b),
  );
  return far <= 12 && Math.abs(one.width - other.width) <= 0.3 + 0.1 * one.width;
}

/** The strokes and the areas over the gap between two ends, if all of it lies beneath other things than lie beside the ends. */
function coverOf(
  one: End,
  other: End,
  { places, length, bends }: WayOn,
  { at, map: { flat, width, height }, beneath: { areas: beneath, pixels } }: Scene,
) {
  const pixel = (x: number, y: number) => {
    const [px, py] = [Math.floor(x), Math.floor(y)];
    return px < 0 || py < 0 || px >= width || py >= height ? -1 : py * width + px;
  };
  const { x, y, dx, dy } = one.line;
  const beside = new Set<number>();
  for (const side of [-1, 1]) {
    for (const back of [3, 5]) {
      for (const off of [2.5, 4]) {
        const p = pixel(x - dx * back - dy * off * side, y - dy * back + dx * off * side);
        if (p >= 0 && at[p] < 0) beside.add(flat[p]);
      }
    }
  }
  // The area ahead of the end hides it, even if a round one lies beside the end, too.
  const ahead = pixel(x + dx * aheadMin, y + dy * aheadMin);
  if (ahead >= 0 && at[ahead] < 0) beside.delete(flat[ahead]);
  const over = new Set<number>();
  const areas = new Set<number>();
  for (let i = 1; i < places.length; i++) {
    const s = (length * i) / places.length;
    const p = pixel(places[i].x, places[i].y);
    if (p < 0) return null;
    if (at[p] >= 0) over.add(at[p]);
    else if (s > 1.5 && s < length - 1.5) {
      if (beside.has(flat[p])) return null;
      if (isOf(p, beneath, pixels)) areas.add(beneath.map.flat[p]);
    }
  }
  for (const { stroke } of [one, other]) over.delete(stroke);
  return bends && over.size + areas.size === 0 ? null : { over: [...over], areas };
}

/** Px from a stroke's end to what it ends at. */
const aheadMin = 2;

/** Whether a pixel has the colour of its area, and is no blend. */
function isOf(p: number, { map, planes }: Areas, pixels: Uint8Array): boolean {
  const { flat, width, height } = map;
  const [x, y] = [(p % width) + 0.5 - width / 2, Math.floor(p / width) + 0.5 - height / 2];
  return [0, 1, 2, 3].every((c) => {
    const i = flat[p] * 12 + c * 3;
    return Math.abs(planes[i] + planes[i + 1] * x + planes[i + 2] * y - pixels[p * 4 + c]) <= blendMin;
  });
}

const blendMin = 12;

/** Pairs of strokes, the second of which lies over the first. */
function coverings(
  ends: readonly End[],
  next: ReadonlyMap<number, Link>,
  at: Int32Array,
  { width, height }: AreaMap,
): (readonly [number, number])[] {
  const pairs: [number, number][] = [];
  for (const { stroke, side, line } of ends) {
    for (const over of next.get(keyOf(stroke, side))?.over ?? []) pairs.push([stroke, over]);
    for (let s = 0; s <= 2; s++) {
      const [x, y] = [Math.floor(line.x + line.dx * s), Math.floor(line.y + line.dy * s)];
      const over = x < 0 || y < 0 || x >= width || y >= height ? -1 : at[y * width + x];
      if (over >= 0 && over !== stroke) pairs.push([stroke, over]);
    }
  }
  return pairs;
}

/** A number for each joined stroke that is less than those of all that lie over it. */
function inOrder(count: number, pairs: readonly (readonly [number, number])[], names: Int32Array): Int32Array {
  const turn = new Int32Array(count);
  for (let round = 0; round < 12; round++) {
    let changed = false;
    for (const [below, above] of pairs) {
      const [under, over] = [names[below], names[above]];
      if (under === over || turn[over] > turn[under]) continue;
      turn[over] = turn[under] + 1;
      changed = true;
    }
    if (!changed) break;
  }
  return turn;
}
