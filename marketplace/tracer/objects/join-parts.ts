import { pairOf } from "./junctions.ts";

export interface Parts {
  readonly count: number;
  /** Px, and px of outline. */
  readonly sizes: Float64Array;
  readonly outlines: Float64Array;
  /** Px of border between two, by pair (`pairOf`); only of those that may be joined. */
  readonly borders: ReadonlyMap<number, number>;
  readonly says: ReadonlyMap<number, { readonly sum: number; readonly count: number }>;
  /** Levels between the colours of two. */
  readonly colourOff: (one: number, other: number) => number;
  /** Nearly white or black, as most things are somewhere. */
  readonly isPlain: (part: number) => boolean;
  /** Px of all that is no background. */
  readonly whole: number;
}

interface Meeting {
  border: number;
  sum: number;
  count: number;
}

/**
 * Joins parts to objects, always the pair that costs least: a small part to a large one, a part that lies mostly amid
 * another, and parts that the junctions call marks on one surface. Some of the parts that touch remain (`left` says how
 * many): parts of some size that stick out. Out: a name per part, that of one of its parts.
 */
export function joinParts(parts: Parts, costMax: number, left: { least: number; most: number }): Int32Array {
  const names = Int32Array.from({ length: parts.count }, (_, i) => i);
  const sizes = parts.sizes.slice();
  const outlines = parts.outlines.slice();
  const near = meetings(parts);
  const alive = new Set(Array.from(names).filter((part) => near[part].size > 0));
  const costOf = (one: number, other: number, { border, sum, count }: Meeting) => {
    const [small, large] = sizes[one] < sizes[other] ? [one, other] : [other, one];
    const amid = Math.min(1, Math.max(border / outlines[one], border / outlines[other]));
    const word = count > 0 ? sum / count : 0;
    return (
      (sizes[small] / parts.whole) *
      Math.max(amidMin, (1 - amid) ** 1.5) *
      (word > 0 ? markFactor ** word : 1 - word / 2) *
      shadeFactor(parts.colourOff(one, other), parts.isPlain(one) || border < meetingMin * Math.sqrt(sizes[small])) *
      bandFactor((2 * sizes[small]) / outlines[small], border / outlines[small], sizes[large])
    );
  };
  const best = names.map(() => -1);
  const costs = new Float64Array(parts.count).fill(Number.POSITIVE_INFINITY);
  const look = (part: number) => {
    costs[part] = Number.POSITIVE_INFINITY;
    for (const [other, meeting] of near[part]) {
      const cost = costOf(part, other, meeting);
      if (cost > costs[part] || (cost === costs[part] && other > best[part])) continue;
      costs[part] = cost;
      best[part] = other;
    }
  };
  for (const part of alive) look(part);
  for (;;) {
    let from = -1;
    for (const part of alive) if (near[part].size > 0 && (from < 0 || costs[part] < costs[from])) from = part;
    if (from < 0 || alive.size <= left.least) break;
    if (costs[from] >= costMax && [...alive].filter((part) => near[part].size > 0).length <= left.most) break;
    const into = best[from];
    const [keep, drop] = sizes[from] > sizes[into] ? [from, into] : [into, from];
    const border = near[keep].get(drop)!.border;
    sizes[keep] += sizes[drop];
    outlines[keep] += outlines[drop] - 2 * border;
    alive.delete(drop);
    for (let i = 0; i < names.length; i++) if (names[i] === drop) names[i] = keep;
    near[keep].delete(drop);
    for (const [other, meeting] of near[drop]) {
      near[other].delete(drop);
      if (other === keep) continue;
      const shared = near[keep].get(other) ?? { border: 0, sum: 0, count: 0 };
      shared.border += meeting.border;
      shared.sum += meeting.sum;
      shared.count += meeting.count;
      near[keep].set(other, shared);
      near[other].set(keep, shared);
    }
    look(keep);
    for (const other of near[keep].keys()) look(other);
  }
  return names;
}

/** What one that lies wholly amid another costs, to one that hardly touches it. */
const amidMin = 0.05;
/** What a mark on a surface costs, to a thing of its own. */
const markFactor = 0.15;

/** Two shades of one colour are rather one thing than two colours, most of all where that is no chance. */
function shadeFactor(off: number, byChance: boolean): number {
  const least = byChance ? shadeLeast : sameShadeLeast;
  return Math.min(1, Math.max(least, (off - shadeMin) / (shadeMax - shadeMin)));
}

const shadeMin = 22;
const shadeMax = 45;
const shadeLeast = 0.15;
const sameShadeLeast = 0.04;
/** Border, to the side of a square as large as the smaller. */
const meetingMin = 0.25;

/** A band along another, such as a rim, is rather of it. */
function bandFactor(thick: number, along: number, size: number): number {
  if (along < bandShareMin) return 1;
  return Math.min(1, Math.max(0.2, thick / (bandMax * Math.sqrt(size))));
}

const bandShareMin = 0.35;
/** Thickness, to the side of a square as large as the other. */
const bandMax = 0.3;

function meetings({ count, borders, says }: Parts): Map<number, Meeting>[] {
  const near = Array.from({ length: count }, () => new Map<number, Meeting>());
  for (const [pair, border] of borders) {
    const other = pair % count;
    const one = (pair - other) / count;
    const meeting = { border, ...(says.get(pairOf(one, other, count)) ?? { sum: 0, count: 0 }) };
    near[one].set(other, meeting);
    near[other].set(one, meeting);
  }
  return near;
}
