import { crossings, neighboursOf, thin } from "./thin.ts";

/** A stretch of a middle line between two places where lines meet or end. */
export interface Branch {
  /** Places in the map of areas (components.ts). */
  readonly pixels: readonly number[];
  /** The nodes at its two ends; -1 where it ends by itself. */
  readonly ends: [number, number];
  /** The branch has no ends. */
  readonly closed: boolean;
}

export interface Graph {
  readonly branches: readonly Branch[];
  /** Where lines meet, px. */
  readonly nodes: readonly { readonly x: number; readonly y: number }[];
  /** Width of the lines on the mean, px. */
  readonly width: number;
}

/** The middle lines of a shape as a graph, if it is nowhere much wider than `widest`; `on` is scratch, 1 for its pixels. */
export function graphOf(pixels: Int32Array, on: Uint8Array, stride: number, widest: number): Graph | null {
  const size = pixels.length;
  const skeleton = thin(pixels, on, stride, 0.75 * widest + 2);
  if (!skeleton) return null;
  const { branches, clusters } = new Walker(skeleton, on, stride).walkAll();
  for (const q of skeleton) on[q] = 0;
  const total = branches.reduce((sum, branch) => sum + lengthOf(branch, stride), 0);
  const width = Math.max(1, size / Math.max(1, total));
  const nodes = clusters.map((cluster) => ({
    x: mean(cluster.map((q) => (q % stride) - 0.5)),
    y: mean(cluster.map((q) => Math.floor(q / stride) - 0.5)),
  }));
  return simplified(branches, nodes, width, stride);
}

const mean = (values: readonly number[]) => values.reduce((sum, v) => sum + v, 0) / values.length;

export function lengthOf({ pixels }: Branch, stride: number): number {
  let length = 1;
  for (let i = 1; i < pixels.length; i++) {
    const step = Math.abs(pixels[i] - pixels[i - 1]);
    length += step === 1 || step === stride ? 1 : Math.SQRT2;
  }
  return length;
}

/** Follows the pixels of a middle line from node to node. */
class Walker {
  private readonly skeleton: Int32Array;
  private readonly on: Uint8Array;
  private readonly around: readonly number[];
  /** Sides before corners, so that a staircase is one way. */
  private readonly ahead: readonly number[];
  private readonly nodeAt = new Map<number, number>();
  private readonly visited = new Set<number>();

  constructor(skeleton: Int32Array, on: Uint8Array, stride: number) {
    this.skeleton = skeleton;
    this.on = on;
    this.around = neighboursOf(stride);
    this.ahead = [0, 2, 4, 6, 1, 3, 5, 7].map((k) => this.around[k]);
  }

  walkAll(): { branches: Branch[]; clusters: number[][] } {
    const clusters = this.clusters();
    const branches: Branch[] = [];
    const add = (branch: Branch) => {
      if (branch.pixels.length > 1 || !branch.ends.includes(-1)) branches.push(branch);
    };
    clusters.forEach((cluster, node) => {
      for (const q of cluster) for (const step of this.ahead) if (this.isFree(q + step)) add(this.walk(q + step, node));
    });
    for (const q of this.skeleton) {
      if (this.isFree(q) && crossings(this.on, q, this.around) < 2) add(this.walk(q, -1));
    }
    for (const q of this.skeleton) if (this.isFree(q)) add({ ...this.walk(q, -1), closed: true });
    return { branches, clusters };
  }

  private isFree(q: number): boolean {
    return this.on[q] === 1 && !this.visited.has(q) && !this.nodeAt.has(q);
  }

  /** Pixels where three lines or more meet, those that touch together; four may leave a block of 2 × 2. */
  private clusters(): number[][] {
    const [, , right, across, below] = this.around;
    const meeting = new Set(this.skeleton.filter((q) => crossings(this.on, q, this.around) > 2));
    for (const q of this.skeleton) {
      const block = [q, q + right, q + across, q + below];
      if (block.every((p) => this.on[p] === 1)) for (const p of block) meeting.add(p);
    }
    const found: number[][] = [];
    for (const first of meeting) {
      if (this.nodeAt.has(first)) continue;
      const cluster = [first];
      this.nodeAt.set(first, found.length);
      for (const q of cluster) {
        for (const step of this.around) {
          if (!meeting.has(q + step) || this.nodeAt.has(q + step)) continue;
          this.nodeAt.set(q + step, found.length);
          cluster.push(q + step);
        }
      }
      found.push(cluster);
    }
    return found;
  }

  private walk(start: number, from: number): Branch {
    const pixels = [start];
    this.visited.add(start);
    for (let q = start; ; ) {
      const other = this.nodeBeside(q, from);
      if (other >= 0) return { pixels, ends: [from, other], closed: false };
      const next = this.ahead.find((step) => this.isFree(q + step));
      if (next === undefined) {
        const back = from >= 0 && pixels.length > 3 && this.touches(q, from);
        return { pixels, ends: [from, back ? from : -1], closed: false };
      }
      q += next;
      this.visited.add(q);
      pixels.push(q);
    }
  }

  private nodeBeside(q: number, from: number): number {
    for (const step of this.ahead) {
      const node = this.nodeAt.get(q + step);
      if (node !== undefined && node !== from) return node;
    }
    return -1;
  }

  private touches(q: number, node: number): boolean {
    return this.around.some((step) => this.nodeAt.get(q + step) === node);
  }
}

/**
 * Thinning leaves a fork at each square end, and two meetings of three where four lines cross: the short branches go, and
 * the nodes at their ends become one.
 */
function simplified(all: readonly Branch[], places: Graph["nodes"], width: number, stride: number): Graph {
  const nodes = places.map((place) => ({ ...place }));
  const into = nodes.map((_, i) => i);
  const root = (node: number): number => (node < 0 || into[node] === node ? node : root(into[node]));
  const degree = nodes.map(() => 0);
  for (const { ends } of all) for (const end of ends) if (end >= 0) degree[end]++;
  let branches = all.filter((branch) => {
    const [a, b] = branch.ends;
    if (branch.closed || (a >= 0 && b >= 0) || (a < 0 && b < 0)) return true;
    return degree[Math.max(a, b)] < 3 || lengthOf(branch, stride) >= spurShare * width + 1.2;
  });
  branches = branches.filter((branch) => {
    const [a, b] = branch.ends.map(root);
    if (a < 0 || b < 0 || a === b || lengthOf(branch, stride) >= bridgeShare * width + 1.5) return true;
    into[b] = a;
    nodes[a] = { x: (nodes[a].x + nodes[b].x) / 2, y: (nodes[a].y + nodes[b].y) / 2 };
    return false;
  });
  const left = nodes.map(() => 0);
  for (const { ends } of branches) for (const end of ends) if (end >= 0) left[root(end)]++;
  const named = (end: number) => (end < 0 || left[root(end)] < 2 ? -1 : root(end));
  return {
    branches: branches.map(({ pixels, ends: [a, b], closed }) => ({ pixels, ends: [named(a), named(b)], closed })),
    nodes,
    width,
  };
}

/** Branches shorter than these many widths are no lines. */
const spurShare = 0.9;
const bridgeShare = 0.8;
