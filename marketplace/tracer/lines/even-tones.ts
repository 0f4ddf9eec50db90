import { lengthOf } from "../curves/length.ts";
import type { Areas } from "../regions/areas.ts";
import { find, unite } from "../regions/union-find.ts";
import type { Candidate } from "./candidates.ts";

/**
 * For each area the one in whose colour it is drawn: where a thin line turns it covers its pixels less, or shares them
 * between two rows, and these are areas of a lighter tone. Such a piece goes on where the line ends, in a colour between the
 * line's and what lies beside it. Null where there is none.
 */
export function evenTones(areas: Areas, candidates: readonly Candidate[], isNarrow: Uint8Array): Int32Array | null {
  const { map, empty } = areas;
  const parent = Int32Array.from({ length: map.count }, (_, area) => area);
  const looks = new Map<number, Look>();
  const lighter = new Uint8Array(map.count);
  for (const { area, places } of candidates) {
    if (map.sizes[area] > lineSizeMax || isNarrow[area] === 0) continue;
    const refused = new Set<number>();
    for (const q of places) {
      for (const step of around(map.stride)) {
        const other = map.areas[q + step];
        if (other < 0 || other === area || isNarrow[other] === 0 || empty[other] === 1) continue;
        if (refused.has(other) || map.sizes[other] > lineSizeMax || find(parent, other) === find(parent, area))
          continue;
        const own = looks.get(other) ?? lookOf(q + step, areas, isNarrow);
        looks.set(other, own);
        if (!isLighter(own, levelsOf(area, areas))) refused.add(other);
        else if (endsAt(q, area, areas) && endsAt(q + step, other, areas)) {
          if (!looks.has(area)) looks.set(area, lookOf(q, areas, isNarrow));
          unite(parent, area, other);
          lighter[other] = 1;
        }
      }
    }
  }
  return drawnAs(groupsOf(parent, looks), looks, lighter, areas);
}

/** The colour of an area, four levels, and those of one or two that lie beside it and are no lines. */
interface Look {
  readonly own: readonly number[];
  readonly grounds: readonly (readonly number[])[];
}

const lineSizeMax = 6000;
const around = (stride: number) => [-stride - 1, -stride, 1 - stride, -1, 1, stride - 1, stride, stride + 1];

/** Whether the pixels of an area around one of its places lie all to one side of it. */
function endsAt(q: number, area: number, { map: { areas, stride } }: Areas): boolean {
  let [x, y, n] = [0, 0, 0];
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) {
      if (areas[q + dy * stride + dx] !== area) continue;
      x += dx;
      y += dy;
      n++;
    }
  }
  return lengthOf(x, y) >= (n < shortMax ? 0.7 : 1.5) * n;
}

const reach = 4;
/** A place with fewer pixels around it than this has the whole piece around it. */
const shortMax = 7;

/** Whether a colour is that of a line which covers its pixels in part, over what lies beside. */
function isLighter({ own, grounds }: Look, ink: readonly number[]): boolean {
  if (grounds.length === 0) return false;
  const [one, other] = [grounds[0], grounds[grounds.length - 1]];
  return mixes.some((mix) => {
    const ground = one.map((level, c) => level * mix + other[c] * (1 - mix));
    const span = ink.map((level, c) => level - ground[c]);
    const squares = span.reduce((sum, v) => sum + v * v, 0);
    const share = own.reduce((sum, level, c) => sum + (level - ground[c]) * span[c], 0) / (squares || 1);
    const off = own.map((level, c) => level - ground[c] - share * span[c]);
    return share > shareMin && share < shareMax && Math.max(...off.map(Math.abs)) <= offMax;
  });
}

const mixes = [0, 0.25, 0.5, 0.75, 1];
const shareMin = 0.35;
const shareMax = 1.05;
const offMax = 14;

function levelsOf(area: number, { planes }: Areas): number[] {
  return [0, 3, 6, 9].map((c) => planes[area * 12 + c]);
}

/** What an area looks like, found from one of its places on. */
function lookOf(from: number, areas: Areas, isNarrow: Uint8Array): Look {
  const { areas: at, stride } = areas.map;
  const area = at[from];
  const beside = new Map<number, number>();
  const pixels = new Set([from]);
  for (const q of pixels) {
    for (const step of around(stride)) {
      const other = at[q + step];
      if (other === area) pixels.add(q + step);
      else if (other >= 0 && isNarrow[other] === 0) beside.set(other, (beside.get(other) ?? 0) + 1);
    }
  }
  const most = [...beside].sort(([, a], [, b]) => b - a).slice(0, 2);
  return { own: levelsOf(area, areas), grounds: most.map(([other]) => levelsOf(other, areas)) };
}

function groupsOf(parent: Int32Array, looks: ReadonlyMap<number, Look>): number[][] {
  const groups = new Map<number, number[]>();
  for (const area of looks.keys()) {
    const root = find(parent, area);
    const group = groups.get(root);
    if (group) group.push(area);
    else groups.set(root, [area]);
  }
  return [...groups.values()].filter((group) => group.length > 1);
}

/**
 * For each area the largest of its group that is no other's lighter piece, where it may be a piece of that; else itself. Null
 * where all are drawn as themselves.
 */
function drawnAs(
  groups: readonly (readonly number[])[],
  looks: ReadonlyMap<number, Look>,
  lighter: Uint8Array,
  areas: Areas,
): Int32Array | null {
  const { sizes, count } = areas.map;
  const as = Int32Array.from({ length: count }, (_, area) => area);
  let some = false;
  for (const group of groups) {
    const darkest = group.filter((area) => lighter[area] === 0);
    const inks = darkest.length > 0 ? darkest : group;
    const ink = inks.reduce((best, area) => (sizes[area] > sizes[best] ? area : best));
    const levels = levelsOf(ink, areas);
    for (const area of group) {
      const look = looks.get(area);
      if (area === ink || !look || !isLighter(look, levels)) continue;
      as[area] = ink;
      some = true;
    }
  }
  return some ? as : null;
}
