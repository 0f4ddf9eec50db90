import type { Raster } from "./raster.ts";
import { asWords } from "./runs.ts";

/** Where the rows and columns of a drawing's own pixels begin, px, and, last, where they end. */
export interface PixelGrid {
  readonly columns: readonly number[];
  readonly rows: readonly number[];
}

/**
 * The grid of enlarged pixel art; null when the picture is none. Its colours change at whole rows and columns that lie two
 * pixels or more apart. They need not be evenly spaced, so margins, cut edges and cells that are now three, now four
 * pixels wide are found too; but uneven steps of a few levels are the bands of a gradient, which has better means.
 */
export function findGrid(image: Raster): PixelGrid | null {
  const { width, height } = image;
  const across = new Uint8Array(width);
  const down = new Uint8Array(height);
  const words = visibleWords(image);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x > 0 && across[x] === 0 && words[p] !== words[p - 1]) {
        if (across[x - 1] === 1 || across[x + 1] === 1) return null;
        across[x] = 1;
      }
      if (y > 0 && down[y] === 0 && words[p] !== words[p - width]) {
        if (down[y - 1] === 1) return null;
        down[y] = 1;
      }
    }
  }
  const grid = { columns: places(across), rows: places(down) };
  return (isEven(grid.columns) && isEven(grid.rows)) || !isSmooth(image, grid) ? grid : null;
}

/** The grid on which each pixel is a cell. */
export function everyPixel({ width, height }: Raster): PixelGrid {
  return {
    columns: Array.from({ length: width + 1 }, (_, x) => x),
    rows: Array.from({ length: height + 1 }, (_, y) => y),
  };
}

/** A pixel as one number, alike for all that are transparent. */
export function visibleWords({ rgba }: Raster): Int32Array {
  const words = asWords(rgba);
  let seen = words;
  for (let p = 0; p < words.length; p++) {
    if (words[p] >>> 24 !== 0 || words[p] === 0) continue;
    if (seen === words) seen = words.slice();
    seen[p] = 0;
  }
  return seen;
}

function places(marks: Uint8Array): number[] {
  const found = [0];
  for (let at = 1; at < marks.length; at++) if (marks[at] === 1) found.push(at);
  found.push(marks.length);
  return found;
}

/** Whether all but the margins are whole cells of one size, two pixels or more. */
function isEven(places: readonly number[]): boolean {
  const inner = places.slice(1, -1);
  const cell = inner.slice(1).reduce((size, place, i) => gcd(place - inner[i], size), 0);
  return cell !== 1;
}

/** Whether most neighbouring cells of different colour differ by a few levels only. */
function isSmooth({ width, rgba }: Raster, { columns, rows }: PixelGrid): boolean {
  let edges = 0;
  let faint = 0;
  const compare = (p: number, q: number) => {
    let most = 0;
    for (let c = 0; c < 4; c++) most = Math.max(most, Math.abs(rgba[p * 4 + c] - rgba[q * 4 + c]));
    if (most > 0) edges++;
    if (most > 0 && most <= faintMax) faint++;
  };
  for (let y = 0; y < rows.length - 1; y++) {
    for (let x = 0; x < columns.length - 1; x++) {
      const p = rows[y] * width + columns[x];
      if (x > 0) compare(p, rows[y] * width + columns[x - 1]);
      if (y > 0) compare(p, rows[y - 1] * width + columns[x]);
    }
  }
  return faint * 2 > edges;
}

const faintMax = 4;

/** The greatest common divisor. */
export function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
