import { type Background, findBackground } from "./background.ts";
import { moments, plane, stride } from "./colour-model.ts";
import { type AreaMap, components } from "./components.ts";
import { type Colour, opaqueMin } from "./drawing.ts";
import type { Settings } from "./options.ts";
import type { Sample } from "./palette.ts";
import type { Radial } from "./radial-fit.ts";
import { find } from "./segment.ts";
import { alphaMin, straightMean, type Toned, toneAreas } from "./tones.ts";

/** The areas a picture is cut into, with what is known of each before it is outlined. */
export interface Areas {
  readonly map: AreaMap;
  /** Colour planes, 12 numbers each (colour-model.ts). */
  readonly planes: Float64Array;
  readonly sums: Float64Array;
  readonly sloped: Uint8Array;
  /** Areas whose colour is a radial gradient, by number. */
  readonly radials: ReadonlyMap<number, Radial>;
  readonly opaque: Uint8Array;
  /** Nothing is drawn here: transparent, or background to be removed. */
  readonly empty: Uint8Array;
  readonly background: Background | null;
  /** Opaque areas of one flat colour share a number; others have -1. */
  readonly paints: Int32Array;
  /** The one colour of each area, however its opacity changes; empty where areas may be gradients of colour. */
  readonly tones: readonly (Colour | null)[];
  /** The only colours used, where that was asked for. */
  readonly palette: readonly Colour[] | null;
}

/**
 * From a label per pixel to described areas. `clean` is the unblended picture the labels were made from; `gradients` are
 * the labels whose colour is a radial gradient; `shade` is the colour of a shadow that was lifted off the picture.
 */
export function describeAreas(
  clean: Uint8Array,
  width: number,
  height: number,
  labels: Int32Array,
  labelCount: number,
  gradients: ReadonlyMap<number, Radial>,
  settings: Settings,
  shade: Sample | null,
): Areas {
  return joinPaints(describeEach(clean, width, height, labels, labelCount, gradients, settings, shade));
}

/** Neighbours that were given one paint become one area, so that no edge runs between them. */
function joinPaints(areas: Areas): Areas {
  const { map, paints, planes, sums, sloped, radials, opaque, empty, background, tones, palette } = areas;
  const groups = groupsOfOnePaint(map, paints);
  if (!groups) return areas;
  const labels = new Int32Array(map.flat.length);
  for (let p = 0; p < labels.length; p++) labels[p] = groups[map.flat[p]!]!;
  const joined = components(labels, map.width, map.height, map.count);
  const from = new Int32Array(joined.count);
  for (let p = map.flat.length - 1; p >= 0; p--) from[joined.flat[p]!] = map.flat[p]!;
  const picked = (values: Uint8Array) => Uint8Array.from(from, (a) => values[a]!);
  const joinedPlanes = new Float64Array(joined.count * 12);
  // Moments are asked of sloped areas only, and those are never joined.
  const joinedSums = new Float64Array(joined.count * stride);
  for (let i = 0; i < from.length; i++) {
    const a = from[i]!;
    joinedPlanes.set(planes.subarray(a * 12, a * 12 + 12), i * 12);
    joinedSums.set(sums.subarray(a * stride, a * stride + stride), i * stride);
  }
  return {
    map: joined,
    planes: joinedPlanes,
    sums: joinedSums,
    sloped: picked(sloped),
    radials: new Map(Array.from(from, (a, i) => [i, radials.get(a)!] as const).filter(([, radial]) => radial)),
    opaque: picked(opaque),
    empty: picked(empty),
    background: background && { ...background, areas: picked(background.areas) },
    paints: Int32Array.from(from, (a) => paints[a]!),
    tones: from.length > 0 && tones.length > 0 ? Array.from(from, (a) => tones[a]!) : [],
    palette,
  };
}

/**
 * A common number for areas that touch, if only at a corner, and share a paint; null if there are none. Not one for all
 * areas of a paint: where two diagonals cross the smaller label passes, and a letter is less than its ground.
 */
function groupsOfOnePaint({ flat, width, height, count }: AreaMap, paints: Int32Array): Int32Array | null {
  if (paints.every((paint, a) => paint < 0 || paint === a)) return null;
  const groups = Int32Array.from({ length: count }, (_, a) => a);
  let found = false;
  const touch = (a: number, b: number) => {
    if (paints[a]! < 0 || paints[a] !== paints[b]) return;
    const one = find(groups, a);
    const other = find(groups, b);
    groups[Math.max(one, other)] = Math.min(one, other);
    found = true;
  };
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const here = flat[p]!;
      const right = x + 1 < width ? flat[p + 1]! : here;
      const below = y + 1 < height ? flat[p + width]! : here;
      if (right !== here) touch(here, right);
      if (below === here) continue;
      touch(here, below);
      // Where one way round is the same area, the corner is met as a side elsewhere.
      if (right !== here) touch(here, flat[p + width + 1]!);
      if (x > 0 && flat[p - 1] !== here) touch(here, flat[p + width - 1]!);
    }
  }
  for (let a = 0; a < count; a++) groups[a] = find(groups, a);
  return found ? groups : null;
}

function describeEach(
  clean: Uint8Array,
  width: number,
  height: number,
  labels: Int32Array,
  labelCount: number,
  gradients: ReadonlyMap<number, Radial>,
  settings: Settings,
  shade: Sample | null,
): Areas {
  let map = components(labels, width, height, labelCount);
  let sums = moments(clean, width, height, map.flat, map.count);
  let toned: Toned | null = null;
  if (settings.palette || settings.colors !== null) {
    toned = toneAreas(map, sums, settings, shade);
    map = components(toned.labels, width, height, toned.labelCount);
    sums = moments(clean, width, height, map.flat, map.count);
  }
  const { count } = map;
  const planes = new Float64Array(count * 12);
  const sloped = new Uint8Array(count);
  const opaque = new Uint8Array(count);
  const empty = new Uint8Array(count);
  const tones: (Colour | null)[] = [];
  const gainMin = slopeWorth * settings.lambda;
  const radials = radialAreas(map, labels, gradients);
  for (let a = 0; a < count; a++) {
    const radial = radials.get(a);
    const alpha = sums[a * stride + 15]! / sums[a * stride]!;
    sloped[a] = plane(sums, a, radial ? 0 : gainMin, planes, a * 12, settings.gradients ? 0 : 3) || radial ? 1 : 0;
    const fades =
      (sloped[a] === 1 && Math.hypot(planes[a * 12 + 10]!, planes[a * 12 + 11]!) > 0.02) ||
      radial?.stops.some((v, i) => i % 5 === 4 && v < opaqueMin);
    opaque[a] = alpha >= opaqueMin && !fades ? 1 : 0;
    empty[a] = alpha < alphaMin ? 1 : 0;
    if (settings.gradients) continue;
    const tone = toned ? toned.tones[map.labelOf[a]!]! : straightMean(sums, a);
    if (opaque[a] === 1) sloped[a] = 0;
    if (tone) paintIn(tone, planes, a, opaque[a] === 1);
    else empty[a] = 1;
    tones[a] = tone;
  }
  for (let a = 0; a < count; a++) if (empty[a] === 1) opaque[a] = 0;
  const background = toned && settings.removeBackground ? toned.removed(map) : findBackground(map, sums, opaque);
  if (settings.removeBackground && background) {
    for (let a = 0; a < count; a++) {
      if (background.areas[a] === 0) continue;
      empty[a] = 1;
      opaque[a] = 0;
    }
  }
  const paints = sharePaints(sums, planes, sloped, opaque, toned ? 0 : settings.lambda * paintWorth);
  return {
    map,
    planes,
    sums,
    sloped,
    radials,
    opaque,
    empty,
    background,
    paints,
    tones,
    palette: toned?.palette ?? null,
  };
}

/** Makes the plane of an area that of one colour, as see-through as the area is. */
function paintIn({ r, g, b }: Colour, planes: Float64Array, area: number, opaque: boolean): void {
  const at = area * 12;
  if (opaque) planes.set([255, 0, 0], at + 9);
  [r, g, b].forEach((level, c) => {
    for (let k = 0; k < 3; k++) planes[at + c * 3 + k] = (planes[at + 9 + k]! * level) / 255;
  });
}

function radialAreas(map: AreaMap, labels: Int32Array, gradients: ReadonlyMap<number, Radial>): Map<number, Radial> {
  const radials = new Map<number, Radial>();
  if (gradients.size === 0) return radials;
  for (let p = 0; p < labels.length; p++) {
    const radial = gradients.get(labels[p]!);
    if (radial) radials.set(map.flat[p]!, radial);
  }
  return radials;
}

/** A gradient is worth its definition when it explains this many lambdas of squared error. */
const slopeWorth = 30;

/** One element less is worth this many lambdas of squared error. */
const paintWorth = 12;
const paintDistanceMax = 20;

/**
 * Gives small flat areas the colour of a larger one nearby in colour where the loss is less than the bytes saved: they
 * become one element. Larger areas first, so that what is big keeps its colour.
 */
function sharePaints(
  sums: Float64Array,
  planes: Float64Array,
  sloped: Uint8Array,
  opaque: Uint8Array,
  worth: number,
): Int32Array {
  const paints = new Int32Array(sloped.length).fill(-1);
  const order = Array.from(sloped, (_, a) => a)
    .filter((a) => sloped[a] === 0 && opaque[a] === 1)
    .sort((a, b) => sums[b * stride]! - sums[a * stride]! || a - b);
  const bins = new Map<number, number[]>();
  const level = (a: number, c: number) => planes[a * 12 + c * 3]!;
  const bin = (a: number, c: number) => Math.floor(level(a, c) / paintDistanceMax);
  for (const a of order) {
    let best = -1;
    let least = Math.min(worth / sums[a * stride]!, paintDistanceMax ** 2);
    for (let r = bin(a, 0) - 1; r <= bin(a, 0) + 1; r++) {
      for (let g = bin(a, 1) - 1; g <= bin(a, 1) + 1; g++) {
        for (let b = bin(a, 2) - 1; b <= bin(a, 2) + 1; b++) {
          for (const other of bins.get((r << 16) | (g << 8) | b) ?? []) {
            let distance = 0;
            for (let c = 0; c < 3; c++) distance += (level(a, c) - level(other, c)) ** 2;
            if (distance <= least) {
              least = distance;
              best = other;
            }
          }
        }
      }
    }
    if (best < 0) {
      paints[a] = a;
      const key = (bin(a, 0) << 16) | (bin(a, 1) << 8) | bin(a, 2);
      const found = bins.get(key);
      if (found) found.push(a);
      else bins.set(key, [a]);
      continue;
    }
    paints[a] = best;
    for (let c = 0; c < 3; c++) planes[a * 12 + c * 3] = level(best, c);
  }
  return paints;
}
