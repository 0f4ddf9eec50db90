import type { Raster } from "../raster.ts";
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
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) return null;
  const uneven = unevenBlocks(rgba, width, height);
  const blocks = uneven.map((at) => blockAt(rgba, at, width, luma));
  if (blocks.length < blocksMin) return null;
  let best: Alignment = { share: 0, proof: 0 };
  let quality = 0;
  for (let q = qualityMin; q <= qualityMax; q++) {
    const found = alignment(blocks, steps(q, "luma"));
    if (found.proof > best.proof) [best, quality] = [found, q];
  }
  if (best.share < shareMin || best.proof < proofMin) return null;
  const colours = [blue, red].flatMap((weights) => uneven.map((at) => blockAt(rgba, at, width, weights)));
  return { quality, halved: alignment(colours, steps(quality, "chroma")).share < wholeMin };
}

/** Noise of a better quality is not seen; below, there is hardly a picture left. */
const qualityMin = 8;
const qualityMax = 88;
/** How well the frequencies must lie on the steps: chance gives 0, and 1 would be all of them exactly. */
const shareMin = 0.18;
const proofMin = 6.5;
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

interface Alignment {
  readonly share: number;
  /** The share beside what chance would make of so few. */
  readonly proof: number;
}

function alignment(blocks: readonly Block[], table: Float32Array): Alignment {
  let sum = 0;
  let n = 0;
  for (const { frequencies, weight } of blocks) {
    for (let k = 1; k < 64; k++) {
      const step = table[k];
      const value = Math.abs(frequencies[k]);
      // What was rounded to nothing says nothing; steps of a few levels drown in the rounding of colours.
      if (step < 5 || value < 0.6 * step) continue;
      const share = value / step;
      sum += weight * (1 - 4 * Math.abs(share - Math.round(share)));
      n += weight;
    }
  }
  return { share: n === 0 ? 0 : sum / n, proof: sum / Math.sqrt(n + 1) };
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
  let low = 255;
  let high = 0;
  for (let y = 0; y < 8; y++) {
    for (let i = (at + y * width) * 4 + 1, end = i + 32; i < end; i += 4) {
      if (rgba[i] < low) low = rgba[i];
      if (rgba[i] > high) high = rgba[i];
    }
  }
  return high - low >= contrastMin;
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
