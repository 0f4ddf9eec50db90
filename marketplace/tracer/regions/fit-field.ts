import { fillIn } from "../image/fill-in.ts";
import type { Field, Line } from "./field.ts";

/** The pixels a field is to be told for. */
export interface FieldPixels {
  /** Premultiplied; opaque where they count. */
  readonly pixels: Uint8Array;
  readonly width: number;
  /** 1 for each that counts. */
  readonly members: Uint8Array;
  /** The least window around them, px. */
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Smooth colours at evenly laid points of a window, three channels, also where no pixel counts. */
export interface Sheet {
  readonly values: readonly Float32Array[];
  readonly across: number;
  readonly down: number;
}

/** The window's colours, averaged to few points. */
export function sheetOf({ pixels, width, members, left, top, right, bottom }: FieldPixels): Sheet {
  const across = Math.max(2, Math.min(pointsMax, Math.round((right - left) / stepMin)));
  const down = Math.max(2, Math.min(pointsMax, Math.round((bottom - top) / stepMin)));
  const counts = new Float32Array(across * down);
  const values = [0, 1, 2].map(() => new Float32Array(across * down));
  const [red, green, blue] = values;
  const columns = new Int32Array(right - left);
  for (let x = 0; x < columns.length; x++) columns[x] = Math.floor((x * across) / (right - left));
  for (let y = top; y < bottom; y++) {
    const row = Math.floor(((y - top) * down) / (bottom - top)) * across;
    for (let x = left, p = y * width + left; x < right; x++, p++) {
      if (members[p] === 0) continue;
      const s = row + columns[x - left];
      counts[s]++;
      red[s] += pixels[p * 4];
      green[s] += pixels[p * 4 + 1];
      blue[s] += pixels[p * 4 + 2];
    }
  }
  const known = Uint8Array.from(counts, (n) => (n > 0 ? 1 : 0));
  for (const channel of values) {
    for (let s = 0; s < channel.length; s++) if (counts[s] > 0) channel[s] /= counts[s];
    fillIn(channel, known, across, down);
  }
  return { values, across, down };
}

const stepMin = 3;
const pointsMax = 240;

/**
 * The field that misses a sheet's points by at most about `tolerance` levels, in lines of one direction; null where it has
 * more lines and places, all together, than is worth it.
 */
export function fitField(
  sheet: Sheet,
  { left, top, right, bottom }: FieldPixels,
  direction: Field["direction"],
  tolerance: number,
  isTooMuch: (lines: number, places: number) => boolean,
): Field | null {
  const turned = direction === "down";
  const [count, length] = turned ? [sheet.across, sheet.down] : [sheet.down, sheet.across];
  const [lineStep, step] = turned ? [1, sheet.across] : [sheet.across, 1];
  const value = (line: number, k: number, c: number) => sheet.values[c][line * lineStep + k * step];
  const [from, to] = turned ? [left, right] : [top, bottom];
  const [begin, end] = turned ? [top, bottom] : [left, right];
  const kept = knots(count, tolerance, (i, j, k) => {
    const t = (k - i) / (j - i);
    let most = 0;
    for (const values of sheet.values) {
      let [at, before, after] = [k * lineStep, i * lineStep, j * lineStep];
      for (let along = 0; along < length; along++, at += step, before += step, after += step) {
        const off = Math.abs(values[at] - values[before] * (1 - t) - values[after] * t);
        if (off > most) most = off;
      }
    }
    return most;
  });
  // A line has two places at least.
  let total = 2 * kept.length;
  const lines: Line[] = [];
  for (const line of kept) {
    if (isTooMuch(kept.length, total)) return null;
    const places = knots(length, tolerance, (i, j, k) => {
      let most = 0;
      const t = (k - i) / (j - i);
      for (let c = 0; c < 3; c++) {
        most = Math.max(most, Math.abs(value(line, k, c) - value(line, i, c) * (1 - t) - value(line, j, c) * t));
      }
      return most;
    });
    total += places.length - 2;
    lines.push({
      at: Math.round(atPoint(line, count, from, to)),
      places: places.map((k) => Math.round(atPoint(k, length, begin, end))),
      colours: places.flatMap((k) => [0, 1, 2].map((c) => value(line, k, c))),
    });
  }
  return isTooMuch(kept.length, total) ? null : { direction, left, top, right, bottom, lines };
}

/** Where a point lies: in the middle of what it is the mean of, the first and the last at the borders. */
function atPoint(k: number, count: number, from: number, to: number): number {
  return k === 0 ? from : k === count - 1 ? to : from + ((k + 0.5) * (to - from)) / count;
}

/** Fewest places with straight passages that miss none by more. Source: Ramer (1972), Douglas & Peucker (1973). */
function knots(count: number, tolerance: number, off: (from: number, to: number, at: number) => number): number[] {
  const kept = [0];
  const split = (from: number, to: number) => {
    let worst = 0;
    let place = -1;
    for (let k = from + 1; k < to; k++) {
      const by = off(from, to, k);
      if (by > worst) [worst, place] = [by, k];
    }
    if (worst > tolerance) {
      split(from, place);
      split(place, to);
    } else kept.push(to);
  };
  split(0, count - 1);
  return kept;
}
