import { lengthOf } from "../curves/length.ts";
import type { Branch, Graph } from "./graph.ts";
import { type Measured, type Sample, sampleBranch } from "./profile.ts";
import { crossing, lineThrough, type Place, type StraightLine } from "./straight-line.ts";

/** One stroke: branches that go on into each other. */
export interface Path {
  readonly samples: readonly Sample[];
  readonly width: number;
  readonly closed: boolean;
  /** Where it ends at other strokes; null where it ends by itself. */
  readonly start: Place | null;
  readonly end: Place | null;
  /** The pixels that its middle was thinned to. */
  readonly way: readonly Place[];
  /** Whether the stroke was measured nearly everywhere, and is as wide there. */
  readonly isEven: boolean;
}

/** One end of a branch at a node, and the line that comes to it. */
interface Arrival {
  readonly branch: number;
  readonly side: 0 | 1;
  /** Pointing away from the node. */
  readonly line: StraightLine | null;
}

/**
 * The strokes of a graph of an area of `size` pixels: at each node those that go on straight are one; null where they are clearly not of
 * even width, or cannot all be measured and are not to be moved.
 */
export function pathsOf(graph: Graph, picture: Measured, size: number): Path[] | null {
  const mayBeMoved = graph.width >= roughMin && size <= roughSizeMax;
  if (!mayBeMoved && hasStub(graph, picture.stride)) return null;
  if (graph.branches.some((branch) => isClearlyUneven(branch, graph.width, picture))) return null;
  const samples = graph.branches.map((branch) => clean(branch, graph, picture));
  const arrivals: Arrival[][] = graph.nodes.map(() => []);
  graph.branches.forEach(({ ends, closed }, branch) => {
    if (closed) return;
    for (const side of [0, 1] as const) {
      if (ends[side] < 0) continue;
      const line = arrivalLine(samples[branch], side, graph.width) ?? roughLine(branch, side, graph, picture.stride);
      arrivals[ends[side]].push({ branch, side, line });
    }
  });
  const goesOn = new Map<string, Arrival>();
  const places = graph.nodes.map((node, i) => meet(node, arrivals[i], graph.width, goesOn));
  const paths: Path[] = [];
  const used = new Set<number>();
  const follow = (branch: number, side: 0 | 1) => {
    const path = new PathBuilder({ graph, samples, goesOn, places, stride: picture.stride }, used).from(branch, side);
    paths.push(path);
  };
  graph.branches.forEach(({ ends, closed }, branch) => {
    for (const side of [0, 1] as const) {
      if (!used.has(branch) && (closed || ends[side] < 0 || !goesOn.has(`${branch} ${side}`))) follow(branch, side);
    }
  });
  graph.branches.forEach((_, branch) => {
    if (!used.has(branch)) follow(branch, 0);
  });
  return mayBeMoved || paths.every(({ isEven }) => isEven) ? paths : null;
}

/** What thinner lines seem to be, where these cannot be measured, are blends with other things, px. */
export const roughMin = 2.5;
/** In larger areas few pixels are near bends: where strokes cannot be measured it is made of none. */
export const roughSizeMax = 5_000;

/** Whether a branch is too short to be measured and goes on as no other: then it is a stroke of no known width. */
function hasStub({ branches, nodes, width }: Graph, stride: number): boolean {
  const degree = nodes.map(() => 0);
  for (const { ends, closed } of branches) if (!closed) for (const end of ends) if (end >= 0) degree[end]++;
  const clear = clearOf(width) - 0.5;
  return branches.some(({ pixels, ends, closed }) => {
    if (closed || ends.some((end) => end >= 0 && degree[end] === 2)) return false;
    const near = ends.filter((end) => end >= 0).map((end) => nodes[end]);
    return pixels.every((q) => {
      const [x, y] = [(q % stride) - 0.5, Math.floor(q / stride) - 0.5];
      return near.some((node) => lengthOf(node.x - x, node.y - y) <= clear);
    });
  });
}

/** How far from a node only one stroke is measured. */
const clearOf = (width: number) => width + 1.5;

/** Whether a long branch has no single width, by a few of its places. */
function isClearlyUneven(branch: Branch, expected: number, picture: Measured): boolean {
  if (branch.pixels.length < longMin) return false;
  const samples = sampleBranch(branch, picture, expected, Math.floor(branch.pixels.length / fewSamples));
  const width = median(samples.map((sample) => sample.width));
  const even = samples.filter((sample) => isAsWide(sample, width)).length;
  return samples.length >= fewSamples / 2 && even < clearlyEvenMin * samples.length;
}

const longMin = 60;
const fewSamples = 20;
const clearlyEvenMin = 0.45;

/** A branch's samples but those by its nodes, where other strokes are measured with it. */
function clean(branch: Branch, { nodes, width }: Graph, picture: Measured): Sample[] {
  const clear = clearOf(width);
  const near = branch.ends.filter((end) => end >= 0).map((end) => nodes[end]);
  const samples = sampleBranch(branch, picture, width);
  return samples.filter(({ x, y }) => near.every((node) => lengthOf(node.x - x, node.y - y) > clear));
}

function arrivalLine(samples: readonly Sample[], side: 0 | 1, width: number): StraightLine | null {
  const reach = Math.max(3, 0.8 * width);
  const ordered = side === 0 ? samples : samples.toReversed();
  const first = ordered[0];
  if (!first) return null;
  const near = ordered.filter(({ x, y }, i) => i < 40 && lengthOf(x - first.x, y - first.y) <= reach);
  return near.length < 2 ? null : lineThrough(near);
}

/** Where a branch that is too short to be measured comes from: its middle as it was thinned. */
function roughLine(branch: number, side: 0 | 1, { branches, nodes }: Graph, stride: number): StraightLine | null {
  const { pixels, ends } = branches[branch];
  const way = middlesOf(pixels, stride);
  const far = ends[side === 0 ? 1 : 0];
  const points = [nodes[ends[side]], ...(side === 0 ? way : way.toReversed()), ...(far >= 0 ? [nodes[far]] : [])];
  return points.length < 2 ? null : lineThrough(points);
}

function middlesOf(pixels: readonly number[], stride: number): Place[] {
  return pixels.map((q) => ({ x: (q % stride) - 0.5, y: Math.floor(q / stride) - 0.5 }));
}

/** Where strokes meet, and which of them go on into each other. */
function meet(node: Place, arrivals: readonly Arrival[], width: number, goesOn: Map<string, Arrival>): Place {
  const pairs: { one: Arrival; other: Arrival; bend: number }[] = [];
  for (let i = 0; i < arrivals.length; i++) {
    for (let j = i + 1; j < arrivals.length; j++) {
      const [one, other] = [arrivals[i], arrivals[j]];
      if (!one.line || !other.line) continue;
      const bend = 1 + one.line.dx * other.line.dx + one.line.dy * other.line.dy;
      const aside = Math.max(asideOf(one.line, other.line), asideOf(other.line, one.line));
      if (bend < bendMax && aside < 0.35 * width + 0.7) pairs.push({ one, other, bend: bend + 0.05 * aside });
    }
  }
  if (arrivals.length === 2) pairs.splice(0, pairs.length, { one: arrivals[0], other: arrivals[1], bend: 0 });
  pairs.sort((a, b) => a.bend - b.bend);
  const key = ({ branch, side }: Arrival) => `${branch} ${side}`;
  let through: StraightLine | null = null;
  for (const { one, other } of pairs) {
    if (goesOn.has(key(one)) || goesOn.has(key(other)) || key(one) === key(other)) continue;
    goesOn.set(key(one), other);
    goesOn.set(key(other), one);
    through ??= one.line && other.line && lineThrough([...ends(one.line), ...ends(other.line)]);
  }
  const left = arrivals.filter((arrival) => !goesOn.has(key(arrival)));
  const corner = squareCorner(left);
  if (corner) {
    goesOn.set(key(corner[0]), corner[1]);
    goesOn.set(key(corner[1]), corner[0]);
  }
  if (corner) return crossing(corner[0].line!, corner[1].line!) ?? node;
  const lines = arrivals.filter((arrival) => !goesOn.has(key(arrival))).flatMap(({ line }) => (line ? [line] : []));
  const [first, second] = through ? [through, lines[0]] : lines;
  const at = first && second && crossing(first, second);
  return at && lengthOf(at.x - node.x, at.y - node.y) < 1.5 * width + 2 ? at : node;
}

/** The corner of an upright frame, among ends none of which goes on straight. */
function squareCorner(left: readonly Arrival[]): [Arrival, Arrival] | null {
  const level = left.find(({ line }) => line && Math.abs(line.dy) < 0.03);
  const plumb = left.find(({ line }) => line && Math.abs(line.dx) < 0.03);
  return level && plumb && level.branch !== plumb.branch ? [level, plumb] : null;
}

/** 1 - cos of some 37°: a small circle bends as much while it passes. */
const bendMax = 0.2;

const ends = ({ x, y, dx, dy }: StraightLine) => [
  { x, y },
  { x: x + dx * 4, y: y + dy * 4 },
];

function asideOf(line: StraightLine, { x, y }: Place): number {
  return Math.abs((x - line.x) * line.dy - (y - line.y) * line.dx);
}

/** Branches, what was measured of each, and how they go on at the nodes. */
interface Measures {
  readonly graph: Graph;
  readonly samples: readonly (readonly Sample[])[];
  readonly goesOn: ReadonlyMap<string, Arrival>;
  /** Where strokes meet at each node. */
  readonly places: readonly Place[];
  readonly stride: number;
}

class PathBuilder {
  private readonly measures: Measures;
  private readonly used: Set<number>;

  constructor(measures: Measures, used: Set<number>) {
    this.measures = measures;
    this.used = used;
  }

  /** The stroke that begins at one side of a branch. */
  from(first: number, firstSide: 0 | 1): Path {
    const { graph, samples: measured, goesOn, places, stride } = this.measures;
    const { branches } = graph;
    const all: Sample[] = [];
    const pixels: number[] = [];
    let [branch, side] = [first, firstSide];
    let closed = branches[first].closed;
    for (;;) {
      this.used.add(branch);
      const turned = side === 1;
      for (const sample of turned ? measured[branch].toReversed() : measured[branch]) all.push(sample);
      for (const q of turned ? branches[branch].pixels.toReversed() : branches[branch].pixels) pixels.push(q);
      const next = goesOn.get(`${branch} ${side === 0 ? 1 : 0}`);
      if (!next) break;
      if (this.used.has(next.branch)) {
        closed = next.branch === first && next.side === firstSide;
        break;
      }
      [branch, side] = [next.branch, next.side];
    }
    const ends = [branches[first].ends[firstSide], branches[branch].ends[side === 0 ? 1 : 0]];
    // A loop that comes back to where it began, as a lens does to its handle.
    if (ends[0] >= 0 && ends[0] === ends[1]) closed = true;
    const placeOf = (end: number) => (end < 0 || closed ? null : places[end]);
    const width = median(all.map((sample) => sample.width));
    const samples = all.filter((sample) => isAsWide(sample, width));
    const isEven = samples.length >= 3 && width > 0.3 && samples.length > evenMin * all.length;
    const [start, end] = ends.map(placeOf);
    return { samples, isEven, width: isEven ? width : graph.width, closed, start, end, way: middlesOf(pixels, stride) };
  }
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function isAsWide(sample: Sample, width: number): boolean {
  return Math.abs(sample.width - width) <= Math.max(0.3, 0.12 * width);
}

const evenMin = 0.7;
