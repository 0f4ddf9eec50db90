import { isOpaque, type Raster } from "../raster.ts";
import { forward } from "./dct.ts";
import { steps } from "./tables.ts";

/** How a picture was last saved as JPEG. */
export interface Saved {
  /** 1 to 100, on libjpeg's scale. */
  readonly quality: number;
  /** Colour was kept at half size (4:2:0). */
  readonly halved: boolean;
}

/**
 * How a picture was last saved as JPEG, whatever file it came in; null where it shows none of that. What JPEG has rounded
 * still lies on the steps of its table: of all tables of the standard, that on whose steps the frequencies of the blocks
 * lie best. Source: Fan & de Queiroz, "Identification of Bitmap Compression History" (2003).
 */
export function findSaved({ width, height, rgba }: Raster): Saved | null {
  if (!isOpaque(rgba)) return null;
  const uneven = unevenBlocks(rgba, width, height);
  if (uneven.length < blocksMin) return null;
  const frequenciesOf = (some: readonly number[], weights: Weights) =>
    telling(some.map((at) => blockAt(rgba, at, width, weights)));
  // Most pictures were never saved as JPEG, and a few blocks tell.
  const few = uneven.filter((_, i) => i % glanceEvery === 0);
  if (few.length >= blocksMin && bestTable(frequenciesOf(few, luma)).proof < glanceProofMin) return null;
  const { share, proof, between, quality } = bestTable(frequenciesOf(uneven, luma));
  if (share < shareMin || proof < proofMin || between > betweenMax) return null;
  const colours = [blue, red].flatMap((weights) => uneven.map((at) => blockAt(rgba, at, width, weights)));
  const [colour] = alignments(telling(colours), [steps(quality, "chroma")]);
  return { quality, halved: colour.n > 0 && colour.share < wholeMin };
}

function bestTable(frequencies: Frequencies): Alignment & { readonly quality: number } {
  let best: Alignment & { quality: number } = { share: 0, proof: 0, between: 0, n: 0, quality: 0 };
  for (const [i, found] of alignments(frequencies, lumaSteps).entries()) {
    if (found.proof > best.proof) best = { ...found, quality: qualityMin + i };
  }
  return best;
}

/** Noise of a better quality is not seen; below, there is hardly a picture left. */
const qualityMin = 8;
const qualityMax = 88;
const lumaSteps = Array.from({ length: qualityMax - qualityMin + 1 }, (_, i) => steps(qualityMin + i, "luma"));
/** How well the frequencies must lie on the steps: chance gives 0, and 1 would be all of them exactly. */
const shareMin = 0.18;
const proofMin = 6.5;
/** How many may lie between nothing and the first step, to those on that: what repeats in a drawing lies on some step, too. */
const betweenMax = 0.35;
/** One block in this many is looked at first, and `glanceProofMin` is how well their frequencies must lie on the steps of some table. */
const glanceEvery = 5;
const glanceProofMin = 2;
/** How well those of colour must, for it to have been kept at its size. */
const wholeMin = 0.35;
/** Fewest and most blocks looked at. */
const blocksMin = 16;
const blocksMax = 320;
/** Least contrast in a block, levels. */
const contrastMin = 4;

/** A channel's share of red, green and blue. */
type Weights = readonly [number, number, number];
const luma: Weights = [0.299, 0.587, 0.114];
const blue: Weights = [-0.168736, -0.331264, 0.5];
const red: Weights = [0.5, -0.418688, -0.081312];

interface Block {
  readonly frequencies: Float32Array;
  /** Less where much was cut off at black or white, and so is off the steps. */
  readonly weight: number;
}

/** Frequencies that are not too weak to tell anything, by which of the 64 they are. */
interface Frequencies {
  readonly values: Float32Array;
  readonly weights: Float32Array;
  /** Where those of each begin, with one more entry for the end. */
  readonly firsts: Int32Array;
}

/** Frequencies that were rounded to nothing tell nothing; steps of a few levels drown in the rounding of colours. */
const stepMin = 5;
const valueMin = 0.6;

function telling(blocks: readonly Block[]): Frequencies {
  const values = new Float32Array(blocks.length * 63);
  const weights = new Float32Array(values.length);
  const firsts = new Int32Array(65);
  for (let k = 1, n = 0; k < 64; k++) {
    for (const { frequencies, weight } of blocks) {
      const value = Math.abs(frequencies[k]);
      if (value < valueMin * stepMin) continue;
      values[n] = value;
      weights[n++] = weight;
    }
    firsts[k + 1] = n;
  }
  return { values, weights, firsts };
}

interface Alignment {
  readonly share: number;
  /** The share beside what chance would make of so few. */
  readonly proof: number;
  /** How many lie between nothing and the first step, to those on that. */
  readonly between: number;
  /** How many frequencies told something. */
  readonly n: number;
}

/** How the values of one frequency lie on a step: sums of weights, and how many told something. */
interface OnStep {
  sum: number;
  n: number;
  between: number;
  first: number;
}

/** How frequencies lie on the steps of each table; tables of neighbouring qualities share many steps. */
function alignments(frequencies: Frequencies, tables: readonly Float32Array[]): Alignment[] {
  const all = tables.map((): OnStep => ({ sum: 0, n: 0, between: 0, first: 0 }));
  for (let k = 1; k < 64; k++) {
    let step = 0;
    let found = all[0];
    for (let t = 0; t < tables.length; t++) {
      if (tables[t][k] < stepMin) continue;
      if (tables[t][k] !== step) {
        step = tables[t][k];
        found = onStep(frequencies, k, step);
      }
      const table = all[t];
      table.sum += found.sum;
      table.n += found.n;
      table.between += found.between;
      table.first += found.first;
    }
  }
  return all.map(({ sum, n, between, first }) => {
    const off = first === 0 ? Number.POSITIVE_INFINITY : between / first;
    return { share: n === 0 ? 0 : sum / n, proof: sum / Math.sqrt(n + 1), between: off, n };
  });
}

function onStep({ values, weights, firsts }: Frequencies, k: number, step: number): OnStep {
  let sum = 0;
  let n = 0;
  let between = 0;
  let first = 0;
  for (let i = firsts[k]; i < firsts[k + 1]; i++) {
    const share = values[i] / step;
    if (share <= 0.25) continue;
    const weight = weights[i];
    if (share < valueMin) {
      between += weight;
      continue;
    }
    if (share > 0.75 && share < 1.25) first += weight;
    sum += weight * (1 - 4 * Math.abs(share - Math.floor(share + 0.5)));
    n += weight;
  }
  return { sum, n, between, first };
}

/** The first pixels of blocks with something on them, evenly taken from the picture, no two alike. */
function unevenBlocks(rgba: Uint8Array, width: number, height: number): number[] {
  const found: number[] = [];
  for (let y = 0; y + 8 <= height; y += 8) {
    for (let x = 0; x + 8 <= width; x += 8) if (isUneven(rgba, y * width + x, width)) found.push(y * width + x);
  }
  const every = Math.max(1, found.length / blocksMax);
  const seen = new Set<number>();
  const out: number[] = [];
  for (let n = 0; n < found.length; n += every) {
    const at = found[Math.floor(n)];
    const mark = markOf(rgba, at, width);
    if (!seen.has(mark)) out.push(at);
    seen.add(mark);
  }
  return out;
}

function isUneven(rgba: Uint8Array, at: number, width: number): boolean {
  let low = rgba[at * 4 + 1];
  let high = low;
  for (let y = 0; y < 8; y++) {
    for (let i = (at + y * width) * 4 + 1, end = i + 32; i < end; i += 4) {
      const level = rgba[i];
      if (level < low) low = level;
      else if (level > high) high = level;
    }
    if (high - low >= contrastMin) return true;
  }
  return false;
}

function markOf(rgba: Uint8Array, at: number, width: number): number {
  let mark = 0;
  for (let k = 0; k < 64; k++) mark = (Math.imul(mark, 31) + rgba[(at + (k >> 3) * width + (k & 7)) * 4 + 1]) | 0;
  return mark;
}

function blockAt(rgba: Uint8Array, at: number, width: number, [ofRed, ofGreen, ofBlue]: Weights): Block {
  const frequencies = new Float32Array(64);
  let clipped = 0;
  for (let k = 0; k < 64; k++) {
    const i = (at + (k >> 3) * width + (k & 7)) * 4;
    const [r, g, b] = [rgba[i], rgba[i + 1], rgba[i + 2]];
    frequencies[k] = ofRed * r + ofGreen * g + ofBlue * b;
    if (r === 0 || r === 255 || g === 0 || g === 255 || b === 0 || b === 255) clipped++;
  }
  forward(frequencies);
  return { frequencies, weight: 1 / (1 + clipped / 8) };
}
