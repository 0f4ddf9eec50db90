import { type PixelEdges, sortedEdges } from "./pixel-edges.ts";
import { find, join, type SizedSets } from "./union-find.ts";

/**
 * Step 2: cuts the picture into many small areas of even colour, the starting point of the merge.
 *
 * In: premultiplied RGBA, `scale` (k of the paper, in colour levels: how much unevenness a small area may have) and the
 * most areas to return. Out: a label 0..count-1 per pixel. Areas are 8-connected.
 * Source: Felzenszwalb & Huttenlocher, "Efficient Graph-Based Image Segmentation" (2004); edges sorted by counting.
 */
export function segment(
  pixels: Uint8Array,
  width: number,
  height: number,
  scale: number,
  regionsMax: number,
): { labels: Int32Array; count: number } {
  const n = width * height;
  const sets = { parent: new Int32Array(n), size: new Int32Array(n).fill(1) };
  for (let p = 0; p < n; p++) sets.parent[p] = p;
  const edges = sortedEdges(pixels, width, height, sets);
  const steps = [1, width, width + 1, width - 1];
  const count = joinEven(sets, edges, steps, scale);
  if (count > regionsMax) joinSmall(sets, edges, steps, count, regionsMax);
  return labelled(sets);
}

/** Joins areas along edges no heavier than either is uneven, lightest first; how many areas are left. */
function joinEven(
  sets: SizedSets,
  { from, step, weightEnd }: PixelEdges,
  steps: readonly number[],
  scale: number,
): number {
  const { parent, size } = sets;
  // The most an edge may weigh and still join the area of this root. Edges come lightest first, so an area that one
  // could not join is done.
  const limit = new Float32Array(parent.length);
  let count = 0;
  for (let p = 0; p < parent.length; p++) {
    if (parent[p] !== p) continue;
    limit[p] = scale / size[p];
    count++;
  }
  for (let weight = 1, e = 0, last = 0; weight < 256 && weight <= last + scale; weight++) {
    for (const end = weightEnd[weight]; e < end; e++) {
      const p = from[e];
      const a = find(parent, p);
      if (weight > limit[a]) continue;
      const b = find(parent, p + steps[step[e]]);
      if (a === b || weight > limit[b]) continue;
      const root = join(sets, a, b);
      limit[root] = weight + scale / size[root];
      last = weight;
      count--;
    }
  }
  return count;
}

/**
 * Noise leaves every pixel an area of its own. The paper's own remedy: a least size, raised until no more areas are left
 * than there may be.
 */
function joinSmall(
  sets: SizedSets,
  { from, step }: PixelEdges,
  steps: readonly number[],
  areas: number,
  regionsMax: number,
): void {
  const { parent, size } = sets;
  const n = parent.length;
  const small = new Uint8Array(n);
  let count = areas;
  for (let least = 2; count > regionsMax && least < n; least *= 2) {
    for (let p = 0; p < n; p++) {
      parent[p] = find(parent, p);
      small[p] = size[parent[p]] < least ? 1 : 0;
    }
    for (let e = 0; e < from.length && count > regionsMax; e++) {
      const p = from[e];
      const q = p + steps[step[e]];
      if (small[p] === 0 && small[q] === 0) continue;
      const a = find(parent, p);
      const b = find(parent, q);
      if (a === b || (size[a] >= least && size[b] >= least)) continue;
      join(sets, a, b);
      count--;
    }
  }
}

function labelled({ parent }: SizedSets): { labels: Int32Array; count: number } {
  const labels = new Int32Array(parent.length).fill(-1);
  let count = 0;
  for (let p = 0; p < labels.length; p++) {
    const root = find(parent, p);
    if (labels[root] === -1) labels[root] = count++;
    // A root is the least pixel of its area, so it is labelled before any other pixel of it is met.
    labels[p] = labels[root];
  }
  return { labels, count };
}
