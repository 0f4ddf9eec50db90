import { opaqueMin } from "../drawing.ts";
import { eachOverlap, eachRun, type Runs } from "../image/runs.ts";
import { alphaAt, planeError, type Segmented, stride } from "./colour-model.ts";
import { PairTable } from "./pair-table.ts";
import { fitRadial, type Radial, radialError } from "./radial-fit.ts";

/**
 * Step 3c: joins neighbours that are one radial gradient. The planes of the merge cut such a gradient into sectors and
 * rings; a neighbour that passes smoothly into them joins where the error of one radial gradient over both, its stops
 * counted in, grows by less than the outline and the fills it saves (on the scale of merge.ts). In: the picture's areas;
 * the labels are changed in place, the moments are not. Out: the radial gradient of each label that has one. The number
 * of fits tried is bounded by the picture's size. With `fadesOnly` only see-through areas are joined, for the sake of
 * their opacity.
 */
export function joinRadials(picture: Segmented, lambda: number, fadesOnly = false): Map<number, Radial> {
  const { labels, runs, sums, clean, width, height } = picture;
  const radials = new Map<number, Radial>();
  const count = sums.length / stride;
  const left = Uint8Array.from({ length: count }, (_, a) => (fadesOnly && !isSeeThrough(sums, a) ? 1 : 0));
  const seeds = Array.from({ length: count }, (_, a) => a)
    .filter((a) => left[a] === 0 && sums[a * stride] >= seedMin && planeError(sums, a) > seedErrorMin * lambda)
    .sort((a, b) => sums[b * stride] - sums[a * stride] || a - b);
  if (seeds.length === 0) return radials;
  const pixels = runsByLabel(labels, runs, count);
  const borders = smoothBorders(picture);
  const fitsMax = fitsBase + Math.floor((width * height) / pixelsPerFit);
  const search = new Search({ sums, pixels, borders, clean, width, lambda }, fitsMax, left);
  for (const seed of seeds) {
    if (search.fitsLeft <= 0) break;
    const found = search.grow(seed);
    if (!found) continue;
    radials.set(seed, found.radial);
    for (const a of found.members) if (a !== seed) relabel(labels, pixels, a, seed);
  }
  return radials;
}

/** Whether an area is, on average. */
export function isSeeThrough(sums: Float64Array, area: number): boolean {
  return sums[area * stride + alphaAt] < opaqueMin * sums[area * stride];
}

interface Grown {
  readonly members: readonly number[];
  readonly radial: Radial;
  readonly cost: number;
}

interface Ground {
  readonly sums: Float64Array;
  readonly pixels: RunLists;
  readonly borders: Borders;
  readonly clean: Uint8Array;
  readonly width: number;
  readonly lambda: number;
}

class Search {
  private readonly on: Ground;
  /** 1 for areas that are part of a gradient already, or not to become one. */
  private readonly taken: Uint8Array;
  fitsLeft: number;

  constructor(on: Ground, fitsMax: number, taken: Uint8Array) {
    this.on = on;
    this.fitsLeft = fitsMax;
    this.taken = taken;
  }

  /** The radial gradient that begins with one area, and the areas it took in; null where planes are better. */
  grow(seed: number): Grown | null {
    const { taken } = this;
    const { sums, borders, lambda } = this.on;
    if (taken[seed] === 1) return null;
    const alone = planeError(sums, seed) + linearWorth * lambda;
    let grown = this.fit([seed], alone);
    const refused = new Set<number>();
    while (this.fitsLeft > 0 && refused.size < refusedMax) {
      const members: readonly number[] = grown?.members ?? [seed];
      const next = widestNeighbour(borders, members, (a) => taken[a] === 1 || refused.has(a));
      if (!next) break;
      const allowed = planeError(sums, next.area) + (next.length * borderShare + fillWorth) * lambda;
      const wider: Grown | null =
        (grown && this.takeIn(grown, next.area, allowed / 2)) ??
        this.fit([...members, next.area], (grown?.cost ?? alone) + allowed);
      if (wider) grown = wider;
      else refused.add(next.area);
    }
    if (!grown) return null;
    for (const a of grown.members) taken[a] = 1;
    return this.fit(grown.members, Number.POSITIVE_INFINITY) ?? grown;
  }

  /** A new gradient for all members, unless it costs more than `most`. */
  private fit(members: readonly number[], most: number): Grown | null {
    const { sums, pixels, clean, width, lambda } = this.on;
    this.fitsLeft--;
    const total = members.reduce((sum, a) => sum + sums[a * stride], 0);
    const found = fitRadial(sample(pixels, members, total, samplesMax), clean, width, total, lambda);
    return found && found.cost <= most ? { members, ...found } : null;
  }

  /** One area more under the gradient as it is, unless that costs more than `most`. */
  private takeIn({ members, radial, cost }: Grown, area: number, most: number): Grown | null {
    const { sums, pixels, clean, width } = this.on;
    const size = sums[area * stride];
    const samples = sample(pixels, [area], size, samplesMax / 6);
    const added = (radialError(radial, samples, clean, width) * size) / samples.length;
    return added <= most ? { members: [...members, area], radial, cost: cost + added } : null;
  }
}

/** Smallest area a gradient is looked for in, px, and the least error of its plane, in lambdas. */
const seedMin = 60;
const seedErrorMin = 12;
/** The saving by a radial gradient, in lambdas: a linear gradient; a flat fill and its element; a share per pixel of border. */
const linearWorth = 40;
const fillWorth = 10;
const borderShare = 0.5;
const refusedMax = 3;
const fitsBase = 6;
const pixelsPerFit = 30_000;
const samplesMax = 300;
/** Most that two areas may differ across their border and count as passing into each other, levels squared. */
const smoothMax = 400;

/** The runs of area a: `at` has where each begins and ends, from 2·firsts[a] up to 2·firsts[a + 1]. */
interface RunLists {
  readonly at: Int32Array;
  readonly firsts: Int32Array;
}

function runsByLabel(labels: Int32Array, { begins }: Runs, count: number): RunLists {
  const firsts = new Int32Array(count + 1);
  const total = begins.length - 1;
  for (let run = 0; run < total; run++) firsts[labels[begins[run]] + 1]++;
  for (let a = 0; a < count; a++) firsts[a + 1] += firsts[a];
  const place = firsts.slice();
  const at = new Int32Array(2 * total);
  for (let run = 0; run < total; run++) {
    const to = 2 * place[labels[begins[run]]]++;
    at[to] = begins[run];
    at[to + 1] = begins[run + 1];
  }
  return { at, firsts };
}

/** Pixels of the areas, evenly taken, at most about `most` of the `total`. */
function sample({ at, firsts }: RunLists, areas: readonly number[], total: number, most: number): Int32Array {
  const every = Math.max(1, total / most);
  const out: number[] = [];
  let next = every / 2;
  let passed = 0;
  for (const a of areas) {
    for (let i = 2 * firsts[a]; i < 2 * firsts[a + 1]; i += 2) {
      const end = passed + at[i + 1] - at[i];
      for (; next < end; next += every) out.push(at[i] + Math.floor(next) - passed);
      passed = end;
    }
  }
  return Int32Array.from(out);
}

function relabel(labels: Int32Array, { at, firsts }: RunLists, from: number, to: number): void {
  for (let i = 2 * firsts[from]; i < 2 * firsts[from + 1]; i += 2) labels.fill(to, at[i], at[i + 1]);
}

type Borders = ReadonlyMap<number, ReadonlyMap<number, number>>;

/** Per area, the length of its border with each neighbour that it passes smoothly into. */
function smoothBorders({ labels, runs, sums, clean, width }: Segmented): Borders {
  const table = new PairTable(sums.length / stride);
  // Four numbers per pair: the two areas, the length of their border and how unlike the pixels across it are.
  const pairs: number[] = [];
  // Pixels of one area, beside as many of another a step on.
  const touch = (from: number, to: number, step: number) => {
    const a = labels[from];
    const b = labels[from + step];
    if (a === b) return;
    let at = table.get(a, b);
    if (at < 0) {
      at = pairs.push(a, b, 0, 0) - 4;
      table.set(a, b, at);
    }
    let unlike = 0;
    for (let i = from * 4, j = (from + step) * 4; i < to * 4; i++, j++) {
      const off = clean[i] - clean[j];
      unlike += off * off;
    }
    pairs[at + 2] += to - from;
    pairs[at + 3] += unlike;
  };
  eachRun(runs, (begin) => {
    if (begin % width > 0) touch(begin - 1, begin, 1);
  });
  eachOverlap(runs, width, (_upper, _lower, from, to) => touch(from, to, width));
  const borders = new Map<number, Map<number, number>>();
  for (let at = 0; at < pairs.length; at += 4) {
    const [a, b, length, unlike] = pairs.slice(at, at + 4);
    if (unlike > smoothMax * length) continue;
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const of = borders.get(one) ?? new Map<number, number>();
      borders.set(one, of.set(other, length));
    }
  }
  return borders;
}

/** The area with the longest smooth border to the members together. */
function widestNeighbour(
  borders: Borders,
  members: readonly number[],
  passedOver: (area: number) => boolean,
): { area: number; length: number } | null {
  const lengths = new Map<number, number>();
  for (const member of members) {
    for (const [area, length] of borders.get(member) ?? []) {
      if (!passedOver(area) && !members.includes(area)) lengths.set(area, (lengths.get(area) ?? 0) + length);
    }
  }
  let best: { area: number; length: number } | null = null;
  for (const [area, length] of lengths) {
    if (!best || length > best.length || (length === best.length && area < best.area)) best = { area, length };
  }
  return best;
}
