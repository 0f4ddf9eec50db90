import { opaqueMin } from "../drawing.ts";
import { asWords, eachOverlap, eachRun, valuesOf } from "../image/runs.ts";
import { moments, planeError, type Segmented, stride } from "./colour-model.ts";
import { type Field, fieldColour, isRadial } from "./field.ts";
import { type FieldPixels, fitField, sheetOf } from "./fit-field.ts";
import { type Radial, radialError } from "./radial-fit.ts";
import { smoothGroups } from "./smooth-groups.ts";

/**
 * Step 3d: joins neighbours that pass smoothly into each other where they are together a field of colour (field.ts) at less
 * cost than area by area: gradients that bend, a soft shadow on one, a wallpaper. Only for a picture that is opaque, as the
 * field is drawn beneath all else. The labels are changed in place; the field takes the place of their gradients. Null where
 * there is none.
 */
export function joinField(picture: Segmented, gradients: Map<number, Radial | Field>, lambda: number): Field | null {
  const { labels, runs, clean, width } = picture;
  const count = picture.sums.length / stride;
  if (count < areasMin || count > areasMax) return null;
  if (!isOpaque(clean)) return null;
  const group = smoothGroups(picture, count);
  const largest = largestGroup(group, sizesOf(picture, count));
  if (!largest || largest.size < sizeMin * labels.length) return null;
  const sums = moments(clean, width, runs, valuesOf(runs, labels), count);
  const { label, areas } = largest;
  const members = new Uint8Array(labels.length);
  eachRun(runs, (begin, end) => {
    if (group[labels[begin]] === label) members.fill(1, begin, end);
  });
  const window = { ...windowOf(picture, members), pixels: clean, width, members };
  const errors = errorsOf(picture, sums, gradients);
  let cost = innerBorder(picture, group, label) * seamWorth * lambda;
  for (const a of areas) cost += errors[a] + (gradients.has(a) ? radialWorth : areaWorth) * lambda;
  const field = bestField(window, largest.size, lambda, cost);
  if (!field) return null;
  eachRun(runs, (begin, end) => {
    if (members[begin] === 1) labels.fill(label, begin, end);
  });
  for (const a of areas) gradients.delete(a);
  gradients.set(label, field);
  return field;
}

const areasMin = 4;
const areasMax = 4000;
/** Least share of the picture a field is worth looking for in. */
const sizeMin = 0.03;
/** The saving by a field, in lambdas: per pixel of border, which shows as a seam; per area with its gradient, linear or radial. */
const seamWorth = 2;
const areaWorth = 40;
const radialWorth = 120;
/** A field is taken where it saves a tenth at least: what both cost is estimated. */
const shareMax = 0.9;
/** What a line of a field costs, and each of its places, in lambdas. */
const lineWorth = 40;
const placeWorth = 14;

/** The field of least cost, if that is clearly less than `most`. */
function bestField(window: FieldPixels, size: number, lambda: number, most: number): Field | null {
  const sheet = sheetOf(window);
  let best: Field | null = null;
  let least = shareMax * most;
  const bytesOf = (lines: number, places: number) => (lines * lineWorth + places * placeWorth) * lambda;
  for (const direction of ["across", "down"] as const) {
    for (const tolerance of tolerances) {
      const isTooMuch = (lines: number, places: number) => bytesOf(lines, places) >= least;
      const field = fitField(sheet, window, direction, tolerance, isTooMuch);
      // A finer one is larger still.
      if (!field) break;
      const places = field.lines.reduce((sum, line) => sum + line.places.length, 0);
      const cost = bytesOf(field.lines.length, places) + meanError(field, window) * size;
      if (cost >= least) continue;
      least = cost;
      best = field;
    }
  }
  return best;
}

/** Levels; the coarsest first. */
const tolerances = [12, 8, 6, 4, 3, 2];
const samplesMax = 6000;

/** The squared error that each area leaves as it would be drawn. */
function errorsOf(
  { labels, clean, width }: Segmented,
  sums: Float64Array,
  gradients: ReadonlyMap<number, Radial | Field>,
): Float64Array {
  const errors = Float64Array.from({ length: sums.length / stride }, (_, a) =>
    sums[a * stride] > 0 && !gradients.has(a) ? planeError(sums, a) : 0,
  );
  const step = Math.max(1, Math.floor(labels.length / (4 * samplesMax))) | 1;
  const one = new Int32Array(1);
  for (let p = 0; gradients.size > 0 && p < labels.length; p += step) {
    const radial = gradients.get(labels[p]);
    one[0] = p;
    if (radial && isRadial(radial)) errors[labels[p]] += step * radialError(radial, one, clean, width);
  }
  return errors;
}

/** Squared error of a pixel that counts, on average. */
function meanError(field: Field, { pixels, width, members }: FieldPixels): number {
  const colour = new Float32Array(4);
  // A step that shares no factor with the rows' length.
  const step = Math.max(1, Math.floor(members.length / samplesMax)) | 1;
  let sum = 0;
  let n = 0;
  for (let p = 0; p < members.length; p += step) {
    if (members[p] === 0) continue;
    fieldColour(field, (p % width) + 0.5, Math.floor(p / width) + 0.5, colour);
    for (let c = 0; c < 3; c++) sum += (colour[c] - pixels[p * 4 + c]) ** 2;
    n++;
  }
  return n === 0 ? 0 : sum / n;
}

function sizesOf({ labels, runs }: Segmented, count: number): Int32Array {
  const sizes = new Int32Array(count);
  eachRun(runs, (begin, end) => {
    sizes[labels[begin]] += end - begin;
  });
  return sizes;
}

function largestGroup(group: Int32Array, sizes: Int32Array) {
  const groups = new Map<number, { label: number; size: number; areas: number[] }>();
  for (let a = 0; a < sizes.length; a++) {
    if (sizes[a] === 0) continue;
    const own = groups.get(group[a]) ?? { label: group[a], size: 0, areas: [] };
    own.size += sizes[a];
    own.areas.push(a);
    groups.set(group[a], own);
  }
  const several = [...groups.values()].filter(({ areas }) => areas.length >= areasMin);
  return several.sort((a, b) => b.size - a.size || a.label - b.label)[0];
}

function innerBorder({ labels, runs, width }: Segmented, group: Int32Array, label: number): number {
  let length = 0;
  const isInner = (p: number, q: number) =>
    labels[p] !== labels[q] && group[labels[p]] === label && group[labels[q]] === label;
  eachRun(runs, (begin) => {
    if (begin % width > 0 && isInner(begin - 1, begin)) length++;
  });
  eachOverlap(runs, width, (_upper, _lower, from, to) => {
    if (isInner(from, from + width)) length += to - from;
  });
  return length;
}

function windowOf({ runs, width, height }: Segmented, members: Uint8Array) {
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0; y < height; y++) {
    for (let run = runs.rows[y]; run < runs.rows[y + 1]; run++) {
      const begin = runs.begins[run];
      if (members[begin] === 0) continue;
      left = Math.min(left, begin - y * width);
      right = Math.max(right, runs.begins[run + 1] - y * width);
      top = Math.min(top, y);
      bottom = y + 1;
    }
  }
  return {
    left: Math.max(0, left - 1),
    top: Math.max(0, top - 1),
    right: Math.min(width, right + 1),
    bottom: Math.min(height, bottom + 1),
  };
}

function isOpaque(pixels: Uint8Array): boolean {
  const words = asWords(pixels);
  for (let p = 0; p < words.length; p++) if (words[p] >>> 24 < opaqueMin) return false;
  return true;
}
