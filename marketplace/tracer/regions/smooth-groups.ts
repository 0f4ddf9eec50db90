import { eachOverlap, eachRun } from "../image/runs.ts";
import type { Segmented } from "./colour-model.ts";
import { PairTable } from "./pair-table.ts";
import { eachAlone, find, unite } from "./union-find.ts";

/** A number per area that areas share which pass smoothly into each other. */
export function smoothGroups({ labels, runs, clean, width, height }: Segmented, count: number): Int32Array {
  const meetings = new Meetings(labels, clean, count);
  eachRun(runs, (begin) => {
    const x = begin % width;
    if (x > 0 && labels[begin - 1] !== labels[begin]) meetings.add(begin - 1, 1, x > 1, x + 1 < width);
  });
  const lastButOne = width * (height - 2);
  eachOverlap(runs, width, (_upper, _lower, from, to) => {
    if (labels[from] === labels[from + width]) return;
    for (let p = from; p < to; p++) meetings.add(p, width, p >= width, p < lastButOne);
  });
  return meetings.smoothlyJoined(Math.min(textureMin, smoothMax + noisierMax * noiseOf(clean)));
}

/** What was measured where each two areas meet. */
class Meetings {
  private readonly labels: Int32Array;
  private readonly clean: Uint8Array;
  private readonly count: number;
  private readonly table: PairTable;
  /** The areas' numbers, the length of their border, and summed along it how unlike the pixels across and those beside them are. */
  private readonly sums: number[] = [];

  constructor(labels: Int32Array, clean: Uint8Array, count: number) {
    this.labels = labels;
    this.clean = clean;
    this.count = count;
    this.table = new PairTable(count * 4);
  }

  /** Pixel `p` and the one a step on are of two areas; whether there are others before and after them. */
  add(p: number, step: number, before: boolean, after: boolean): void {
    const { labels, clean, table, sums } = this;
    const q = p + step;
    let at = table.get(labels[p], labels[q]);
    if (at < 0) {
      at = sums.push(labels[p], labels[q], 0, 0, 0) - 5;
      table.set(labels[p], labels[q], at);
    }
    sums[at + 2]++;
    sums[at + 3] += unlike(clean, p, q);
    sums[at + 4] += ((before ? unlike(clean, p - step, p) : 0) + (after ? unlike(clean, q, q + step) : 0)) / 2;
  }

  /** Joins areas that differ across their border by at most `most`, and not by much more than the pixels beside it do. */
  smoothlyJoined(most: number): Int32Array {
    const { sums, count } = this;
    const parent = eachAlone(count);
    for (let at = 0; at < sums.length; at += 5) {
      const length = sums[at + 2];
      if (sums[at + 3] > Math.min(most, stepMax + steeperMax * (sums[at + 4] / length)) * length) continue;
      unite(parent, sums[at], sums[at + 1]);
    }
    for (let a = 0; a < count; a++) parent[a] = find(parent, a);
    return parent;
  }
}

function unlike(clean: Uint8Array, p: number, q: number): number {
  const i = p * 4;
  const j = q * 4;
  return (
    (clean[i] - clean[j]) ** 2 +
    (clean[i + 1] - clean[j + 1]) ** 2 +
    (clean[i + 2] - clean[j + 2]) ** 2 +
    (clean[i + 3] - clean[j + 3]) ** 2
  );
}

/** Most that two areas may differ across their border, levels squared over four channels; and for each that noise makes of neighbours. */
const smoothMax = 75;
const noisierMax = 5;
/** What differs by more is no noise but texture. */
const textureMin = 200;
/** An edge, be it faint, is a step that the pixels around do not go on with. */
const stepMax = 6;
const steeperMax = 2.5;

/** How unlike all but a few neighbours are at most: nothing in a drawing, the noise in a picture that has some. */
function noiseOf(clean: Uint8Array): number {
  const pixels = clean.length / 4;
  const step = Math.max(1, Math.floor(pixels / samplesMax)) | 1;
  const found: number[] = [];
  for (let p = 0; p + 1 < pixels; p += step) found.push(unlike(clean, p, p + 1));
  return found.sort((a, b) => a - b)[Math.floor(found.length * 0.8)] ?? 0;
}

const samplesMax = 6000;
