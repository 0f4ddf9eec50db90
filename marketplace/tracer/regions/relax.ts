import { runsOf, withRoom } from "../image/runs.ts";
import { plane, type Segmented, stride } from "./colour-model.ts";

/**
 * Step 3b: straightens borders that run where no edge is. Greedy merging leaves the ragged outlines of its first small
 * areas; where two smooth areas meet, each pixel at the border goes to the one that explains it better, shortest border
 * counted in. Changes the labels in place, not the moments;
 * their runs are those after that.
 *
 * Source: iterated conditional modes, Besag, "On the Statistical Analysis of Dirty Pictures" (1986), on the energy of the
 * merge (merge.ts) with a border of eight neighbours.
 */
export function relaxBorders(picture: Omit<Segmented, "runs">, lambda: number): Segmented {
  const { labels, sums, clean, width, height } = picture;
  const count = sums.length / stride;
  const planes = new Float64Array(count * 12);
  for (let a = 0; a < count; a++) plane(sums, a, planes, a * 12);
  const state = { labels, planes, clean, width, height, price: lambda * priceShare };
  let active = borderPixels(labels, width, height);
  const queued = new Uint8Array(labels.length);
  for (let pass = 0; pass < passesMax && active.length > 0; pass++) {
    const next: number[] = [];
    for (let i = 0; i < active.length; i++) {
      const p = active[i];
      queued[p] = 0;
      const best = better(state, p);
      if (best === labels[p]) continue;
      labels[p] = best;
      queueBlock(p, state, queued, next);
    }
    active = Int32Array.from(next);
  }
  return { ...picture, runs: runsOf(labels, width, height) };
}

interface State extends Omit<Segmented, "sums" | "runs"> {
  /** Colour planes, 12 numbers per area. */
  readonly planes: Float64Array;
  /** What one unlike neighbour of eight costs. */
  readonly price: number;
}

/** Puts a pixel and its eight neighbours on the list, those that are not on it yet. */
function queueBlock(p: number, { width, height }: State, queued: Uint8Array, list: number[]): void {
  for (let dy = -width; dy <= width; dy += width) {
    for (let q = p + dy - 1; q <= p + dy + 1; q++) {
      if (queued[q] === 1) continue;
      queued[q] = 1;
      if (inside(q, width, height)) list.push(q);
    }
  }
}

const passesMax = 12;
/** What one unlike neighbour of eight costs, in lambdas. */
const priceShare = 0.25;

function inside(p: number, width: number, height: number): boolean {
  const x = p % width;
  return x > 0 && x < width - 1 && p >= width && p < width * (height - 1);
}

function borderPixels(labels: Int32Array, width: number, height: number): Int32Array {
  let found = new Int32Array(1 << 12);
  let count = 0;
  for (let y = 1; y < height - 1; y++) {
    if (found.length - count < width) found = withRoom(found, width);
    const end = (y + 1) * width - 1;
    let left = labels[y * width];
    let here = labels[y * width + 1];
    let right = here;
    for (let p = y * width + 1; p < end; p++, left = here, here = right) {
      right = labels[p + 1];
      if (left !== here || right !== here || labels[p - width] !== here || labels[p + width] !== here)
        found[count++] = p;
    }
  }
  return found.subarray(0, count);
}

/** The label among the pixel's own and its four neighbours' under which it costs least. */
function better(state: State, p: number): number {
  const { labels, width, height, price } = state;
  const own = labels[p];
  let best = own;
  let least = Number.NaN;
  const x = (p % width) + 0.5 - width / 2;
  const y = Math.floor(p / width) + 0.5 - height / 2;
  for (let k = 0; k < 4; k++) {
    const label = labels[k === 0 ? p - 1 : k === 1 ? p + 1 : k === 2 ? p - width : p + width];
    if (label === own) continue;
    if (Number.isNaN(least)) least = missed(state, own, p, x, y) - price * alike(labels, p, width, own);
    // Borders are never worth more than all eight neighbours: most real edges end here.
    const error = missed(state, label, p, x, y);
    if (error - 8 * price > least) continue;
    const cost = error - price * alike(labels, p, width, label);
    if (cost < least - 1e-9) {
      least = cost;
      best = label;
    }
  }
  return best;
}

function missed({ planes, clean }: State, label: number, p: number, x: number, y: number): number {
  const i = label * 12;
  const j = p * 4;
  const r = clean[j] - planes[i] - planes[i + 1] * x - planes[i + 2] * y;
  const g = clean[j + 1] - planes[i + 3] - planes[i + 4] * x - planes[i + 5] * y;
  const b = clean[j + 2] - planes[i + 6] - planes[i + 7] * x - planes[i + 8] * y;
  const a = clean[j + 3] - planes[i + 9] - planes[i + 10] * x - planes[i + 11] * y;
  return r * r + g * g + b * b + a * a;
}

function alike(labels: Int32Array, p: number, width: number, label: number): number {
  let n = 0;
  for (let q = p - width - 1; q <= p - width + 1; q++) if (labels[q] === label) n++;
  if (labels[p - 1] === label) n++;
  if (labels[p + 1] === label) n++;
  for (let q = p + width - 1; q <= p + width + 1; q++) if (labels[q] === label) n++;
  return n;
}
