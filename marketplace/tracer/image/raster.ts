import { asWords } from "./runs.ts";

/** A decoded bitmap: 8-bit RGBA, straight (not premultiplied) alpha, row by row from the top left, no padding. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
}

/**
 * RGBA with colour multiplied by alpha: the picture on black, plus its alpha. Distances between such pixels are distances
 * between visible colours; a transparent pixel's hidden colour no longer counts. A picture without transparency keeps its
 * own pixels.
 */
export function premultiply({ rgba }: Raster): Uint8Array {
  if (isOpaque(rgba)) return rgba;
  const out = new Uint8Array(rgba);
  const words = asWords(out);
  for (let i = 3, p = 0; i < out.length; i += 4, p++) {
    const alpha = out[i];
    if (alpha === 255) continue;
    if (alpha === 0) {
      words[p] = 0;
      continue;
    }
    out[i - 3] = Math.round((out[i - 3] * alpha) / 255);
    out[i - 2] = Math.round((out[i - 2] * alpha) / 255);
    out[i - 1] = Math.round((out[i - 1] * alpha) / 255);
  }
  return out;
}

/** Whether nothing of a picture is see-through. */
export function isOpaque(rgba: Uint8Array): boolean {
  const words = asWords(rgba);
  for (let from = 0; from < words.length; from += glance) {
    const to = Math.min(words.length, from + glance);
    let all = -1;
    for (let p = from; p < to; p++) all &= words[p];
    if (all >> 24 !== -1) return false;
  }
  return true;
}

/** Pixels that are looked at before it is asked what they were. */
const glance = 1024;

/** Area-averaged reduction to `width` × `height`, each at most the source's; averages premultiplied, so edges keep no halo. */
export function reduce(source: Raster, width: number, height: number): Raster {
  const pixels = premultiply(source);
  const across = shares(source.width, width);
  const down = shares(source.height, height);
  const row = new Float64Array(width * 4);
  const sums = new Float64Array(width * 4);
  const rgba = new Uint8Array(width * height * 4);
  let inRow = -1;
  for (let y = 0; y < height; y++) {
    sums.fill(0);
    for (let s = down.first[y]; s <= down.last[y]; s++) {
      // The last row of one may be the first of the next.
      if (s !== inRow) shortenRow(pixels, s * source.width * 4, across, row);
      inRow = s;
      const weight = weightOf(down, y, s);
      for (let i = 0; i < sums.length; i++) sums[i] += row[i] * weight;
    }
    writeStraight(sums, rgba, y * width * 4);
  }
  return { width, height, rgba };
}

/** How `length` samples are shared out to fewer, by coverage: each takes from `first` to `last`, and of these two a part only. */
interface Shares {
  readonly first: Int32Array;
  readonly last: Int32Array;
  readonly firstWeight: Float64Array;
  readonly lastWeight: Float64Array;
  readonly weight: number;
}

function shares(length: number, count: number): Shares {
  const ratio = length / count;
  const [first, last] = [new Int32Array(count), new Int32Array(count)];
  const [firstWeight, lastWeight] = [new Float64Array(count), new Float64Array(count)];
  for (let t = 0; t < count; t++) {
    const begin = t * ratio;
    const end = Math.min(length, begin + ratio);
    first[t] = Math.floor(begin);
    last[t] = Math.max(first[t], Math.ceil(end) - 1);
    firstWeight[t] = (Math.min(end, first[t] + 1) - begin) / ratio;
    lastWeight[t] = (end - last[t]) / ratio;
  }
  return { first, last, firstWeight, lastWeight, weight: 1 / ratio };
}

function weightOf({ first, last, firstWeight, lastWeight, weight }: Shares, t: number, s: number): number {
  return s === first[t] ? firstWeight[t] : s === last[t] ? lastWeight[t] : weight;
}

/** One row of four channels, shortened. */
function shortenRow(from: Uint8Array, at: number, shared: Shares, to: Float64Array): void {
  const { first, last } = shared;
  for (let t = 0; t < first.length; t++) {
    let r = 0;
    let g = 0;
    let b = 0;
    let a = 0;
    for (let s = first[t], i = at + s * 4; s <= last[t]; s++, i += 4) {
      const weight = weightOf(shared, t, s);
      r += from[i] * weight;
      g += from[i + 1] * weight;
      b += from[i + 2] * weight;
      a += from[i + 3] * weight;
    }
    to[t * 4] = r;
    to[t * 4 + 1] = g;
    to[t * 4 + 2] = b;
    to[t * 4 + 3] = a;
  }
}

function writeStraight(sums: Float64Array, rgba: Uint8Array, at: number): void {
  for (let i = 0; i < sums.length; i += 4) {
    const alpha = sums[i + 3];
    const scale = alpha > 0 ? 255 / alpha : 0;
    for (let c = 0; c < 3; c++) rgba[at + i + c] = Math.min(255, Math.round(sums[i + c] * scale));
    rgba[at + i + 3] = Math.round(alpha);
  }
}
