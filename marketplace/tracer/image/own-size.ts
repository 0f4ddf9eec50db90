import { everyPixel, isSmooth, visibleWords } from "./pixel-grid.ts";
import { premultiply, type Raster } from "./raster.ts";

/**
 * Whether a small picture is pixel art at its own size, one pixel a cell: of few colours that meet without blends, in
 * steps and single pixels. A small icon that was drawn with anti-aliasing has many tones between two of its colours, and
 * most of its edges run through them; a crop of a page has hardly any steps.
 */
export function isPixelArt(image: Raster): boolean {
  const { width, height } = image;
  if (Math.max(width, height) > sideMax || Math.min(width, height) < sideMin) return false;
  const words = visibleWords(image);
  const colours = new Set(words).size;
  if (colours < 2 || colours > Math.min(coloursMax, (width * height) / cellsPerColour)) return false;
  const { is: blends, tones } = findBlends(premultiply(image), words, width, height);
  if (tones > Math.max(tonesMax, colours / 2)) return false;
  const { edges, hard, steps } = countEdges(words, blends, width, height);
  return hard >= hardShareMin * edges && steps >= stepShareMin * edges && !isSmooth(image, everyPixel(image));
}

const sideMax = 96;
const sideMin = 6;
const coloursMax = 64;
const cellsPerColour = 6;
/** Most colours that lie between two others, pixel by pixel: shades of one ramp do, too. */
const tonesMax = 5;
/** Share of all edges that run between two pixels of which neither is a blend. */
const hardShareMin = 0.5;
/** How many corners of cells there are to each unit of edge. */
const stepShareMin = 0.12;
const contrastSquaredMin = 28 * 28;

/** The pixels whose colour lies between those of two opposite neighbours, and how many such colours there are. */
function findBlends(pixels: Uint8Array, words: Uint32Array, width: number, height: number) {
  const is = new Uint8Array(words.length);
  const tones = new Set<number>();
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const across = x > 0 && x < width - 1 && liesBetween(pixels, words, p, 1);
      if (!across && !(y > 0 && y < height - 1 && liesBetween(pixels, words, p, width))) continue;
      is[p] = 1;
      tones.add(words[p]);
    }
  }
  return { is, tones: tones.size };
}

function liesBetween(pixels: Uint8Array, words: Uint32Array, p: number, step: number): boolean {
  if (words[p] === words[p - step] || words[p] === words[p + step]) return false;
  let span = 0;
  let along = 0;
  let square = 0;
  for (let c = 0; c < 4; c++) {
    const from = pixels[(p - step) * 4 + c];
    const whole = pixels[(p + step) * 4 + c] - from;
    const here = pixels[p * 4 + c] - from;
    span += whole * whole;
    along += whole * here;
    square += here * here;
  }
  if (span < contrastSquaredMin || along < 0.08 * span || along > 0.92 * span) return false;
  return square - (along * along) / span < 0.01 * span + 20;
}

/** Sides at which colours change, those of them without a blend, and blocks of 2 × 2 in which two colours make a corner. */
function countEdges(words: Uint32Array, blends: Uint8Array, width: number, height: number) {
  const found = { edges: 0, hard: 0, steps: 0 };
  const compare = (p: number, q: number) => {
    if (words[p] === words[q]) return;
    found.edges++;
    if (blends[p] === 0 && blends[q] === 0) found.hard++;
  };
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x > 0) compare(p, p - 1);
      if (y > 0) compare(p, p - width);
      if (x === 0 || y === 0) continue;
      const block = [words[p], words[p - 1], words[p - width], words[p - width - 1]];
      const same = block.filter((word) => word === block[0]).length;
      const straight = same === 2 && block[0] !== block[3];
      if (same < 4 && !straight && new Set(block).size === 2) found.steps++;
    }
  }
  return found;
}
