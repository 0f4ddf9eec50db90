import { asWords, joinedRuns, type Runs, runsOf } from "../image/runs.ts";
import { type PixelEdges, sortedEdges } from "./pixel-edges.ts";
import { find, join, type SizedSets } from "./union-find.ts";

/**
 * Step 2: cuts the picture into many small areas of even colour, the starting point of the merge.
 *
 * In: premultiplied RGBA, `scale` (k of the paper, in colour levels: how much unevenness a small area may have) and the
 * most areas to return. Out: areas 0..count-1, numbered in reading order. They are 8-connected.
 * Source: Felzenszwalb & Huttenlocher, "Efficient Graph-Based Image Segmentation" (2004); edges sorted by counting.
 */
export function segment(
  pixels: Uint8Array,
  width: number,
  height: number,
  scale: number,
  regionsMax: number,
): RunAreas {
  const words = asWords(pixels);
  const runs = runsOf(words, width, height);
  const { begins } = runs;
  const sets = { parent: new Int32Array(begins.length - 1), size: new Int32Array(begins.length - 1) };
  for (let run = 0; run < sets.parent.length; run++) {
    sets.parent[run] = run;
    sets.size[run] = begins[run + 1] - begins[run];
  }
  const edges = sortedEdges(pixels, words, runs, sets);
  const count = joinEven(sets, edges, scale);
  if (count > regionsMax) joinSmall(sets, edges, count, regionsMax);
  return named(sets, runs);
}

/** A picture cut into areas, by the longest stretches of one area in each row. */
export interface RunAreas {
  readonly runs: Runs;
  /** The area of each run. */
  readonly areaOf: Int32Array;
  readonly count: number;
}

/**
 * Joins areas along edges no heavier than either is uneven, lightest first; how many areas are left. What fades into its
 * surroundings at one end would be one area with them, step by step, also where the two differ: so an area grows no larger than
 * `evenMax` here, and the merge, which sees what all of an area differs by, joins the rest.
 */
function joinEven(sets: SizedSets, { from, to, weightEnd }: PixelEdges, scale: number): number {
  const { parent, size } = sets;
  // The most an edge may weigh and still join the area of this root. Edges come lightest first, so an area that one
  // could not join is done.
  const limit = new Float32Array(parent.length);
  let count = 0;
  for (let run = 0; run < parent.length; run++) {
    if (parent[run] !== run) continue;
    limit[run] = scale / size[run];
    count++;
  }
  for (let weight = 1, e = 0, last = 0; weight < 256 && weight <= last + scale; weight++) {
    for (const end = weightEnd[weight]; e < end; e++) {
      const a = find(parent, from[e]);
      if (weight > limit[a]) continue;
      const b = find(parent, to[e]);
      if (a === b || weight > limit[b] || size[a] + size[b] > evenMax) continue;
      const root = join(sets, a, b);
      limit[root] = weight + scale / size[root];
      last = weight;
      count--;
    }
  }
  return count;
}

/** Px. Pixels of one colour are one area before, however many. */
const evenMax = 4096;

/**
 * Noise leaves every pixel an area of its own. The paper's own remedy: a least size, raised until no more areas are left
 * than there may be.
 */
function joinSmall(sets: SizedSets, { from, to }: PixelEdges, areas: number, regionsMax: number): void {
  const { parent, size } = sets;
  const n = parent.length;
  const small = new Uint8Array(n);
  let count = areas;
  for (let least = 2; count > regionsMax && count > 1; least *= 2) {
    for (let run = 0; run < n; run++) {
      parent[run] = find(parent, run);
      small[run] = size[parent[run]] < least ? 1 : 0;
    }
    for (let e = 0; e < from.length && count > regionsMax; e++) {
      if (small[from[e]] === 0 && small[to[e]] === 0) continue;
      const a = find(parent, from[e]);
      const b = find(parent, to[e]);
      if (a === b || (size[a] >= least && size[b] >= least)) continue;
      join(sets, a, b);
      count--;
    }
  }
}

/** The areas by number. */
function named({ parent }: SizedSets, runs: Runs): RunAreas {
  const names = new Int32Array(parent.length);
  let count = 0;
  for (let run = 0; run < names.length; run++) {
    const root = find(parent, run);
    // A root is the first run of its area, so it is named before any other run of it is met.
    names[run] = root === run ? count++ : names[root];
  }
  const joined = joinedRuns(runs, names);
  return { runs: joined.runs, areaOf: joined.values, count };
}
