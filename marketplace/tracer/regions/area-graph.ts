import { PairTable } from "./pair-table.ts";
import type { RunAreas } from "./segment.ts";

/** A diagonal touch counts as this much border: enough to follow a hairline, too little to bridge areas. */
const diagonalLength = 0.5;

/** Which areas touch, and along what length; edges are joined as areas are. */
export class AreaGraph {
  edges = 0;
  a: Int32Array;
  b: Int32Array;
  length: Float32Array;
  cost: Float64Array;
  stamp: Int32Array;
  readonly degree: Int32Array;
  private readonly head: Int32Array;
  private next: Int32Array;
  private readonly table: PairTable;

  private readonly apart: Uint8Array | undefined;

  constructor(count: number, apart?: Uint8Array) {
    this.apart = apart;
    const capacity = Math.max(64, count * 4);
    this.a = new Int32Array(capacity);
    this.b = new Int32Array(capacity);
    this.length = new Float32Array(capacity);
    this.cost = new Float64Array(0);
    this.stamp = new Int32Array(0);
    this.next = new Int32Array(capacity * 2);
    this.head = new Int32Array(count).fill(-1);
    this.degree = new Int32Array(count);
    this.table = new PairTable(capacity);
  }

  touch(p: number, q: number, length: number): void {
    if (this.apart && (this.apart[p] === 1 || this.apart[q] === 1)) return;
    let e = this.table.get(p, q);
    if (e < 0) {
      e = this.edges++;
      if (e === this.a.length) this.grow();
      this.a[e] = p;
      this.b[e] = q;
      this.table.set(p, q, e);
      this.link(e * 2, p);
      this.link(e * 2 + 1, q);
    }
    this.length[e] += length;
  }

  seal(): this {
    this.cost = new Float64Array(this.edges);
    this.stamp = new Int32Array(this.edges);
    return this;
  }

  remove(e: number, p: number, q: number): void {
    this.table.set(p, q, -1);
    this.a[e] = -1;
  }

  /** The live edge of `label` with the least `cost`, or -1. */
  cheapest(label: number, cost: (e: number) => number): number {
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let half = this.head[label]; half >= 0; half = this.next[half]) {
      const e = half >> 1;
      if (this.a[e] < 0) continue;
      const c = cost(e);
      if (c < least) {
        least = c;
        best = e;
      }
    }
    return best;
  }

  /** Hands all edges of `from` to `to`; an edge both had becomes one, and is named to `shared`. */
  move(from: number, to: number, shared: (e: number) => void): void {
    for (let half = this.head[from], after = 0; half >= 0; half = after) {
      after = this.next[half];
      const e = half >> 1;
      if (this.a[e] < 0) continue;
      const other = (half & 1) === 0 ? this.b[e] : this.a[e];
      const same = this.table.get(to, other);
      if (same >= 0) {
        this.length[same] += this.length[e];
        this.remove(e, from, other);
        shared(same);
        continue;
      }
      this.table.set(from, other, -1);
      if ((half & 1) === 0) this.a[e] = to;
      else this.b[e] = to;
      this.table.set(to, other, e);
      this.link(half, to);
    }
  }

  private link(half: number, label: number): void {
    this.next[half] = this.head[label];
    this.head[label] = half;
    this.degree[label]++;
  }

  private grow(): void {
    const capacity = this.a.length * 2;
    this.a = enlarged(this.a, new Int32Array(capacity));
    this.b = enlarged(this.b, new Int32Array(capacity));
    this.length = enlarged(this.length, new Float32Array(capacity));
    this.next = enlarged(this.next, new Int32Array(capacity * 2));
  }
}

function enlarged<T extends Int32Array | Float32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

/** The graph of a picture's areas. Those that are `apart` have no edges. */
export function neighbours({ runs, areaOf, count }: RunAreas, width: number, apart?: Uint8Array): AreaGraph {
  const { begins, rows } = runs;
  const graph = new AreaGraph(count, apart);
  const height = rows.length - 1;
  for (let y = 0; y < height; y++) {
    const end = rows[y + 1];
    let other = end;
    for (let run = rows[y]; run < end; run++) {
      const last = begins[run + 1] - 1;
      const here = areaOf[run];
      const right = run + 1 < end ? areaOf[run + 1] : here;
      if (y + 1 === height) {
        if (right !== here) graph.touch(here, right, 1);
        continue;
      }
      for (let p = begins[run]; ; p = begins[++other] - width) {
        const stop = Math.min(begins[other + 1] - width, last + 1);
        if (p === last && right !== here) graph.touch(here, right, 1);
        const below = areaOf[other];
        if (below !== here) graph.touch(here, below, stop - p);
        if (stop <= last) continue;
        if (p < last && right !== here) graph.touch(here, right, 1);
        break;
      }
      const ends = begins[other + 1] - width === last + 1;
      if (right !== here) touchAcross(graph, here, right, areaOf[other], areaOf[ends ? other + 1 : other]);
      if (ends) other++;
    }
  }
  return graph.seal();
}

/** The diagonals of a block of 2 × 2: the areas of its upper and of its lower row. */
function touchAcross(graph: AreaGraph, here: number, right: number, below: number, across: number): void {
  if (across === right || across === below) return;
  if (across !== here && below !== here) graph.touch(here, across, diagonalLength);
  if (right !== below && here !== below) graph.touch(right, below, diagonalLength);
}
