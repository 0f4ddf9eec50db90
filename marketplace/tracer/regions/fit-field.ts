import { fillIn } from "../image/fill-in.ts";
import type { Field, Line } from "./field.ts";
import { Passages } from "./passages.ts";

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
  /** With less noise: by these it is decided where lines are wanted. */
  readonly smooth: readonly Float32Array[];
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
  const clear = values.map((channel) => withoutSpecks(channel, across, down));
  return { values: clear, smooth: clear.map((channel) => smoothed(channel, across, down)), across, down };
}

/** Each point with its neighbours, by halves. */
function smoothed(channel: Float32Array, across: number, down: number): Float32Array {
  const rows = channel.slice();
  for (let at = 0; at < channel.length; at++) {
    const x = at % across;
    if (x > 0 && x < across - 1) rows[at] = channel[at] / 2 + (channel[at - 1] + channel[at + 1]) / 4;
  }
  const both = rows.slice();
  for (let at = across; at < across * (down - 1); at++) {
    both[at] = rows[at] / 2 + (rows[at - across] + rows[at + across]) / 4;
  }
  return both;
}

/** A point that stands out from those around it has their median: a star in a sky is none of its colours. */
function withoutSpecks(channel: Float32Array, across: number, down: number): Float32Array {
  const cleared = channel.slice();
  const around = new Float32Array((2 * reach + 1) ** 2);
  for (let y = reach; y < down - reach; y++) {
    for (let x = reach; x < across - reach; x++) {
      const at = y * across + x;
      let count = 0;
      let sum = 0;
      for (let row = at - reach * across; row <= at + reach * across; row += across) {
        for (let near = row - reach; near <= row + reach; near++) {
          around[count++] = channel[near];
          sum += channel[near];
        }
      }
      if (Math.abs(channel[at] - sum / count) > speckMin) cleared[at] = around.sort()[count >> 1];
    }
  }
  return cleared;
}

const reach = 2;
/** Levels from the mean of those around. */
const speckMin = 1.5;

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
  const [from, to] = turned ? [left, right] : [top, bottom];
  const [begin, end] = turned ? [top, bottom] : [left, right];
  const kept = knots(count, tolerance, (i, j, k) => {
    const t = (k - i) / (j - i);
    let most = 0;
    for (const values of sheet.smooth) {
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
  const profiles = profilesOf(sheet, kept, { length, lineStep, step });
  const lines: Line[] = [];
  for (const [nth, line] of kept.entries()) {
    if (isTooMuch(kept.length, total)) return null;
    const profile = profiles.map((channel) => channel.subarray(nth * length, (nth + 1) * length));
    const places = knots(length, tolerance, (i, j, k) => {
      const t = (k - i) / (j - i);
      let most = 0;
      for (const values of profile) most = Math.max(most, Math.abs(values[k] - values[i] * (1 - t) - values[j] * t));
      return most;
    });
    total += places.length - 2;
    const passages = new Passages(places);
    const [red, green, blue] = profile.map((values) => passages.fit(values, 0, 1));
    lines.push({
      at: Math.round(atPoint(line, count, from, to)),
      places: places.map((k) => Math.round(atPoint(k, length, begin, end))),
      colours: places.flatMap((_, i) => [red[i], green[i], blue[i]]),
    });
  }
  return isTooMuch(kept.length, total) ? null : { direction, left, top, right, bottom, lines };
}

/** Three channels, each with the colours along one line after the other: what the passages between them miss least. */
function profilesOf(
  { values }: Sheet,
  lines: readonly number[],
  { length, lineStep, step }: { length: number; lineStep: number; step: number },
): Float64Array[] {
  const passages = new Passages(lines);
  return values.map((channel) => {
    const profiles = new Float64Array(lines.length * length);
    for (let along = 0; along < length; along++) {
      const fitted = passages.fit(channel, along * step, lineStep);
      for (let nth = 0; nth < lines.length; nth++) profiles[nth * length + along] = fitted[nth];
    }
    return profiles;
  });
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
