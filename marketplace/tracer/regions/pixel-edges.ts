import { find, joinMembers, type SizedSets } from "./union-find.ts";

/** Pairs of neighbouring pixels, in rising order of colour distance. */
export interface PixelEdges {
  /** The pixel above or to the left, and which way the other lies: 0 right, 1 below, 2 below right, 3 below left. */
  readonly from: Int32Array;
  readonly step: Uint8Array;
  /** Where the edges of each weight, 0..255 levels, end. */
  readonly weightEnd: Int32Array;
}

/** The edges of a picture, premultiplied RGBA; pairs of equal pixels are joined at once and not listed. */
export function sortedEdges(pixels: Uint8Array, width: number, height: number, sets: SizedSets): PixelEdges {
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
  const weights = new Uint8Array(width * height * 4);
  const counts = new Int32Array(257);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const right = x + 1 < width;
      const below = y + 1 < height;
      let toRight = 255;
      if (right) {
        toRight = words[p] === words[p + 1] ? 0 : distance(pixels, p, p + 1);
        if (toRight === 0) joinNext(sets, p);
        else addEdge(weights, counts, p * 4, toRight);
      }
      if (!below) continue;
      const down = words[p] === words[p + width] ? 0 : distance(pixels, p, p + width);
      if (down === 0) {
        // Beside an equal pair the two are joined by way of that.
        if (x === 0 || words[p] !== words[p - 1] || words[p] !== words[p + width - 1]) joinMembers(sets, p, p + width);
      } else addEdge(weights, counts, p * 4 + 1, down);
      // A diagonal matters only where neither straight way round is open: a hairline, one pixel wide.
      if (down <= diagonalMin) continue;
      if (right && toRight > diagonalMin) {
        const across = distance(pixels, p, p + width + 1);
        if (across === 0) joinMembers(sets, p, p + width + 1);
        else addEdge(weights, counts, p * 4 + 2, across);
      }
      if (x > 0 && weights[(p - 1) * 4] > diagonalMin) {
        const across = distance(pixels, p, p + width - 1);
        if (across === 0) joinMembers(sets, p, p + width - 1);
        else addEdge(weights, counts, p * 4 + 3, across);
      }
    }
  }
  return byWeight(weights, counts);
}

/** Joins a pixel with the next, which in most cases is of no set yet. */
function joinNext(sets: SizedSets, p: number): void {
  const { parent, size } = sets;
  if (parent[p + 1] !== p + 1 || size[p + 1] > 1) {
    joinMembers(sets, p, p + 1);
    return;
  }
  const root = find(parent, p);
  parent[p + 1] = root;
  size[root]++;
}

const diagonalMin = 8;

/** `counts` has the number of edges of each weight, one place further on: added up, these say where those of a weight begin. */
function addEdge(weights: Uint8Array, counts: Int32Array, slot: number, weight: number): void {
  weights[slot] = weight;
  counts[weight + 1]++;
}

/** Sorts by counting: `weights` has four for each pixel, 0 where there is no edge. */
function byWeight(weights: Uint8Array, counts: Int32Array): PixelEdges {
  // The four weights of a pixel at once: most have none.
  const any = new Uint32Array(weights.buffer);
  const place = counts.slice();
  for (let w = 1; w <= 256; w++) place[w] += place[w - 1];
  const total = place[256];
  const from = new Int32Array(total);
  const step = new Uint8Array(total);
  for (let p = 0; p < any.length; p++) {
    if (any[p] === 0) continue;
    for (let k = 0; k < 4; k++) {
      const w = weights[p * 4 + k];
      if (w === 0) continue;
      const e = place[w]++;
      from[e] = p;
      step[e] = k;
    }
  }
  return { from, step, weightEnd: place };
}

function distance(pixels: Uint8Array, p: number, q: number): number {
  const a = p * 4;
  const b = q * 4;
  const r = Math.abs(pixels[a] - pixels[b]);
  const g = Math.abs(pixels[a + 1] - pixels[b + 1]);
  const u = Math.abs(pixels[a + 2] - pixels[b + 2]);
  const o = Math.abs(pixels[a + 3] - pixels[b + 3]);
  return Math.max(r, g, u, o);
}
