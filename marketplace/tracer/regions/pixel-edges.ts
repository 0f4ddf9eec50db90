import type { Runs } from "../image/runs.ts";
import { joinMembers, type SizedSets } from "./union-find.ts";

/** Pairs of neighbouring runs of pixels, in rising order of colour distance. */
export interface PixelEdges {
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Where the edges of each weight, 0..255 levels, end. */
  readonly weightEnd: Int32Array;
}

/**
 * The edges of a picture, premultiplied RGBA, between runs of equal pixels; those of equal colour are joined at once and not
 * listed. A pair that meets along several pixels is listed once, where it first meets: the others would join nothing more.
 */
export function sortedEdges(pixels: Uint8Array, words: Int32Array, runs: Runs, sets: SizedSets): PixelEdges {
  const list = new EdgeList(pixels, runs, sets);
  eachEdge(words, runs, list);
  list.place();
  eachEdge(words, runs, list);
  return list;
}

/** Sorts by counting: what is added once is counted, and added again placed. */
class EdgeList implements PixelEdges {
  from = new Int32Array(0);
  to = new Int32Array(0);
  /** While counting: how many edges there are of each weight, one place further on; then where the next one goes. */
  readonly weightEnd = new Int32Array(257);
  private readonly pixels: Uint8Array;
  private readonly sets: SizedSets;
  /** The distances in the order in which they are asked for, to be measured once. */
  private readonly distances: Uint8Array;
  private asked = 0;
  private placing = false;

  constructor(pixels: Uint8Array, { begins }: Runs, sets: SizedSets) {
    this.pixels = pixels;
    this.sets = sets;
    // To the right, as many below, two ways across.
    this.distances = new Uint8Array(begins.length * 5);
  }

  distance(p: number, q: number): number {
    const at = this.asked++;
    if (!this.placing) this.distances[at] = distance(this.pixels, p, q);
    return this.distances[at];
  }

  add(from: number, to: number, weight: number): void {
    if (weight === 0) {
      if (!this.placing) joinMembers(this.sets, from, to);
    } else if (this.placing) {
      const e = this.weightEnd[weight]++;
      this.from[e] = from;
      this.to[e] = to;
    } else this.weightEnd[weight + 1]++;
  }

  place(): void {
    const { weightEnd } = this;
    for (let weight = 1; weight <= 256; weight++) weightEnd[weight] += weightEnd[weight - 1];
    this.from = new Int32Array(weightEnd[256]);
    this.to = new Int32Array(weightEnd[256]);
    this.asked = 0;
    this.placing = true;
  }
}

/** A diagonal matters only where neither straight way round is open: a hairline, one pixel wide. */
const diagonalMin = 8;

/** Names the neighbours of every run, in the order of its pixels: the next in its row, and those below. */
function eachEdge(words: Int32Array, { begins, rows }: Runs, list: EdgeList): void {
  const height = rows.length - 1;
  const width = words.length / height;
  for (let y = 0; y < height; y++) {
    const end = rows[y + 1];
    let below = end;
    let toLeft = 0;
    for (let run = rows[y]; run < end; run++) {
      const begin = begins[run];
      const last = begins[run + 1] - 1;
      const toRight = run + 1 < end ? list.distance(last, last + 1) : 0;
      let down = 0;
      let across = -1;
      for (let p = begin; y + 1 < height; p = begins[++below] - width) {
        if (p === last && toRight > 0) list.add(run, run + 1, toRight);
        down = words[p] === words[p + width] ? 0 : list.distance(p, p + width);
        list.add(run, below, down);
        if (p === begin && down > diagonalMin && toLeft > diagonalMin && begins[below] === p + width)
          across = below - 1;
        if (across >= 0 && begin < last && p === begin) list.add(run, across, list.distance(p, p + width - 1));
        if (begins[below + 1] - width > last) {
          if (p < last && toRight > 0) list.add(run, run + 1, toRight);
          break;
        }
      }
      if (y + 1 === height) {
        if (toRight > 0) list.add(run, run + 1, toRight);
        continue;
      }
      const ends = begins[below + 1] - width === last + 1;
      if (ends && down > diagonalMin && toRight > diagonalMin)
        list.add(run, below + 1, list.distance(last, last + width + 1));
      if (across >= 0 && begin === last) list.add(run, across, list.distance(last, last + width - 1));
      if (ends) below++;
      toLeft = toRight;
    }
  }
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
