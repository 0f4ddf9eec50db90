import { keepTo } from "../deadline.ts";
import { fillRun, type Runs, runsOf, valuesOf } from "../image/runs.ts";
import { type AreaGraph, neighbours } from "./area-graph.ts";
import { moments, planeError, stride, unionError } from "./colour-model.ts";
import { Heap } from "./heap.ts";
import type { RunAreas } from "./segment.ts";
import { eachAlone, find } from "./union-find.ts";

export interface MergeInput extends RunAreas {
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** 1 for areas that are never joined to others. */
  readonly apart?: Uint8Array;
  /** `performance.now()` after which the merge throws DeadlinePassedError. */
  readonly deadlineMs: number;
}

/**
 * Step 3: joins neighbours, always the pair whose union adds the least squared colour error per pixel of border it
 * saves. The whole run is remembered, so the picture can be had at any fineness between the first areas and the last.
 *
 * Source: Koepfler, Lopez & Morel, "A Multiscale Algorithm for Image Segmentation by Variational Method" (1994), the
 * greedy form of the Mumford-Shah functional; costs are re-computed only when a pair reaches the top of the heap.
 */
export class Merging {
  /** Length of all borders left after each merge, px. */
  readonly borders: Float64Array;
  readonly count: number;
  merges = 0;

  private readonly sums: Float64Array;
  private readonly errors: Float64Array;
  private readonly parent: Int32Array;
  private readonly versions: Int32Array;
  private readonly joined: Int32Array;
  private readonly runs: Runs;
  private readonly areaOf: Int32Array;
  private readonly pixels: Uint8Array;
  private readonly width: number;
  private readonly height: number;
  private readonly deadlineMs: number;
  private readonly graph: AreaGraph;
  private readonly heap: Heap;
  private border: number;

  constructor({ pixels, width, height, runs, areaOf, count, apart, deadlineMs }: MergeInput) {
    this.pixels = pixels;
    this.width = width;
    this.height = height;
    this.count = count;
    this.deadlineMs = deadlineMs;
    this.runs = runs;
    this.areaOf = areaOf;
    this.sums = moments(pixels, width, runs, areaOf, count);
    this.errors = new Float64Array(count);
    for (let i = 0; i < count; i++) this.errors[i] = planeError(this.sums, i);
    this.parent = eachAlone(count);
    this.versions = new Int32Array(count);
    this.joined = new Int32Array(count * 2);
    this.borders = new Float64Array(count);
    this.graph = neighbours({ runs, areaOf, count }, width, apart);
    this.border = 0;
    this.heap = new Heap(this.graph.edges);
    for (let e = 0; e < this.graph.edges; e++) {
      this.border += this.graph.length[e];
      this.reprice(e);
    }
  }

  /** Goes on merging while the cheapest pair costs less than `lambda` and more than `leftMin` areas are left. */
  run(lambda: number, leftMin = 1): void {
    const { graph, heap } = this;
    while (heap.size > 0 && this.count - this.merges > leftMin) {
      const key = heap.topKey;
      if (key >= lambda) return;
      const e = heap.topId;
      const a = graph.a[e];
      if (a < 0 || key !== graph.cost[e]) {
        heap.pop();
        continue;
      }
      if (graph.stamp[e] !== this.versions[a] + this.versions[graph.b[e]]) {
        this.price(e);
        if (graph.cost[e] > key) {
          heap.replaceTop(graph.cost[e]);
          continue;
        }
        graph.cost[e] = key;
      }
      heap.pop();
      this.join(e);
      if ((this.merges & 1023) === 0) keepTo(this.deadlineMs);
    }
  }

  /** Joins every area under `leastPx` to the neighbour it costs least to join, if that costs less than `costMax`. */
  absorb(leastPx: number, costMax: number): void {
    for (let size = 1; size < leastPx; size++) {
      for (let a = 0; a < this.count; a++) {
        if (this.parent[a] !== a || this.sums[a * stride] > size) continue;
        const e = this.graph.cheapest(a, (edge) => {
          this.price(edge);
          return this.graph.cost[edge];
        });
        if (e >= 0 && this.graph.cost[e] < costMax) this.join(e);
      }
    }
  }

  /** A label per first area after the first `merges` merges, numbered in the order of the first areas. */
  names(merges: number): Int32Array {
    const parent = eachAlone(this.count);
    for (let m = 0; m < merges; m++) parent[this.joined[m * 2 + 1]] = this.joined[m * 2];
    const names = new Int32Array(this.count).fill(-1);
    for (let i = 0, next = 0; i < names.length; i++) {
      const root = find(parent, i);
      if (names[root] === -1) names[root] = next++;
      if (i !== root) names[i] = names[root];
    }
    return names;
  }

  /** The picture after the first `merges` merges: a label per pixel and the moments of each area. */
  after(merges: number): { labels: Int32Array; sums: Float64Array } {
    const { count, pixels, width, height, areaOf } = this;
    const { begins } = this.runs;
    const names = this.names(merges);
    const labels = new Int32Array(width * height);
    for (let run = 0; run < areaOf.length; run++) fillRun(labels, names[areaOf[run]], begins[run], begins[run + 1]);
    // Only the last state's moments are kept; those of an earlier one are counted anew.
    if (merges !== this.merges) {
      const runs = runsOf(labels, width, height);
      return { labels, sums: moments(pixels, width, runs, valuesOf(runs, labels), count - merges) };
    }
    const sums = new Float64Array((count - merges) * stride);
    for (let i = 0; i < count; i++) {
      if (this.parent[i] !== i) continue;
      for (let k = 0; k < stride; k++) sums[names[i] * stride + k] = this.sums[i * stride + k];
    }
    return { labels, sums };
  }

  private price(e: number): void {
    const { graph, sums, errors, versions } = this;
    const a = graph.a[e];
    const b = graph.b[e];
    const growth = unionError(sums, a, b) - errors[a] - errors[b];
    graph.cost[e] = Math.max(0, growth) / (graph.length[e] + elementCost);
    graph.stamp[e] = versions[a] + versions[b];
  }

  private readonly reprice = (e: number): void => {
    this.price(e);
    this.heap.push(this.graph.cost[e], e);
  };

  private join(e: number): void {
    const { graph, sums, errors, versions } = this;
    let keep = graph.a[e];
    let drop = graph.b[e];
    if (graph.degree[keep] < graph.degree[drop]) [keep, drop] = [drop, keep];
    errors[keep] = unionError(sums, keep, drop);
    for (let k = 0; k < stride; k++) sums[keep * stride + k] += sums[drop * stride + k];
    versions[keep] += versions[drop] + 1;
    this.parent[drop] = keep;
    this.border -= graph.length[e];
    graph.remove(e, keep, drop);
    graph.move(drop, keep, this.reprice);
    this.joined[this.merges * 2] = keep;
    this.joined[this.merges * 2 + 1] = drop;
    this.borders[this.merges] = this.border;
    this.merges++;
  }
}

/** What one more element costs, in pixels of border: a speck must earn more than its own outline. */
const elementCost = 6;
