import { type Colour, opaqueMin } from "../drawing.ts";
import { eachRun } from "../image/runs.ts";
import type { Settings } from "../settings.ts";
import { type Background, type Beneath, findBackground, removalOf } from "./background.ts";
import { moments, plane, type Segmented, stride } from "./colour-model.ts";
import { type AreaMap, components, componentsOf, grouped } from "./components.ts";
import { type Gradient, isField, isRadial } from "./gradient.ts";
import { groupsOfOnePaint, sharePaints } from "./paints.ts";
import { alphaMin, straightMean, toneAreas } from "./tones.ts";

/** The areas a picture is cut into, with what is known of each before it is outlined. */
export interface Areas {
  readonly map: AreaMap;
  /** Colour planes, 12 numbers each (colour-model.ts). */
  readonly planes: Float64Array;
  readonly sums: Float64Array;
  readonly sloped: Uint8Array;
  /** Areas whose colour is a gradient, by number. */
  readonly radials: ReadonlyMap<number, Gradient>;
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
 * From a label per pixel to described areas. `gradients`: the labels whose colour is a gradient (gradient.ts), which are drawn on
 * their own. `beneath`: what was lifted off the picture.
 */
export function describeAreas(
  picture: Segmented,
  gradients: ReadonlyMap<number, Gradient>,
  settings: Settings,
  beneath: Beneath,
): Areas {
  return joinPaints(describeEach(picture, gradients, settings, beneath));
}

/** Neighbours that were given one paint become one area, so that no edge runs between them. */
export function joinPaints(areas: Areas): Areas {
  const { map, paints } = areas;
  const groups = groupsOfOnePaint(map, paints);
  if (!groups) return areas;
  const joined = grouped(map, groups);
  return described(areas, joined, joined.labelOf);
}

/** The areas that a picture has when each pixel goes to the area that `labels` names, itself or, by `source`, as its copy. */
export function regrouped(areas: Areas, labels: Int32Array, source?: readonly number[]): Areas {
  const { map } = areas;
  const joined = components(labels, map.width, map.height, source?.length ?? map.count);
  return described(areas, joined, source ? joined.labelOf.map((label) => source[label]) : joined.labelOf);
}

/** The areas of both, those of `more` numbered after the others; the map is that of the first. */
export function together(areas: Areas, more: Areas): Areas {
  const { count } = areas.map;
  const floats = (one: Float64Array, other: Float64Array) => {
    const both = new Float64Array(one.length + other.length);
    both.set(one);
    both.set(other, one.length);
    return both;
  };
  const bytes = (one: Uint8Array, other: Uint8Array) => Uint8Array.from([...one, ...other]);
  const { background } = areas;
  return {
    ...areas,
    planes: floats(areas.planes, more.planes),
    sums: floats(areas.sums, more.sums),
    sloped: bytes(areas.sloped, more.sloped),
    radials: new Map([...areas.radials, ...Array.from(more.radials, ([a, radial]) => [count + a, radial] as const)]),
    opaque: bytes(areas.opaque, more.opaque),
    empty: bytes(areas.empty, more.empty),
    background: background && {
      ...background,
      areas: bytes(background.areas, more.background?.areas ?? new Uint8Array(more.map.count)),
    },
    paints: Int32Array.from([...areas.paints, ...more.paints]),
    tones: [...areas.tones, ...more.tones],
  };
}

/** The areas of a map, each as that of the others which `from` names. */
function described(areas: Areas, joined: AreaMap, from: Int32Array): Areas {
  const { paints, planes, sums, sloped, radials, opaque, empty, background, tones, palette } = areas;
  const picked = (values: Uint8Array) => {
    const out = new Uint8Array(from.length);
    for (let i = 0; i < out.length; i++) out[i] = values[from[i]];
    return out;
  };
  const joinedPlanes = new Float64Array(joined.count * 12);
  // Moments are asked of sloped areas only, and those are never joined.
  const joinedSums = new Float64Array(joined.count * stride);
  const joinedRadials = new Map<number, Gradient>();
  for (let i = 0; i < from.length; i++) {
    const a = from[i];
    for (let k = 0; k < 12; k++) joinedPlanes[i * 12 + k] = planes[a * 12 + k];
    for (let k = 0; k < stride; k++) joinedSums[i * stride + k] = sums[a * stride + k];
    const radial = radials.size > 0 && radials.get(a);
    if (radial) joinedRadials.set(i, radial);
  }
  return {
    map: joined,
    planes: joinedPlanes,
    sums: joinedSums,
    sloped: picked(sloped),
    radials: joinedRadials,
    opaque: picked(opaque),
    empty: picked(empty),
    background: background && { ...background, areas: picked(background.areas) },
    paints: from.map((a) => paints[a]),
    tones: from.length > 0 && tones.length > 0 ? Array.from(from, (a) => tones[a]) : [],
    palette,
  };
}

function describeEach(
  picture: Segmented,
  gradients: ReadonlyMap<number, Gradient>,
  settings: Settings,
  beneath: Beneath,
): Areas {
  const { map, sums, toned } = cut(picture, settings, beneath);
  const { count } = map;
  const planes = new Float64Array(count * 12);
  const sloped = new Uint8Array(count);
  const opaque = new Uint8Array(count);
  const empty = new Uint8Array(count);
  const tones: (Colour | null)[] = [];
  const worth = { gainMin: slopeWorth * settings.lambda, first: settings.gradients ? 0 : 3 };
  const anyWorth = { ...worth, gainMin: 0 };
  const radials = radialAreas(map, picture, gradients);
  for (let a = 0; a < count; a++) {
    const gradient = radials.get(a);
    const radial = gradient && isRadial(gradient) ? gradient : null;
    const isWhole = gradient !== undefined && !radial;
    const alpha = sums[a * stride + 15] / sums[a * stride];
    sloped[a] = plane(sums, a, planes, a * 12, gradient ? anyWorth : worth) || gradient ? 1 : 0;
    const fades =
      (sloped[a] === 1 && alpha < wholeMin && Math.hypot(planes[a * 12 + 10], planes[a * 12 + 11]) > 0.02) ||
      radial?.stops.some((v, i) => i % 5 === 4 && v < opaqueMin);
    opaque[a] = isWhole || (alpha >= opaqueMin && !fades) ? 1 : 0;
    empty[a] = alpha < alphaMin || (gradient && isField(gradient) && gradient.isGround) ? 1 : 0;
    if (settings.gradients) continue;
    const tone = toned ? toned.tones[map.labelOf[a]] : straightMean(sums, a);
    if (opaque[a] === 1) sloped[a] = 0;
    if (tone) paintIn(tone, planes, a, opaque[a] === 1);
    else empty[a] = 1;
    tones[a] = tone;
  }
  for (let a = 0; a < count; a++) if (empty[a] === 1) opaque[a] = 0;
  const background =
    toned && settings.removeBackground
      ? toned.removed(map)
      : findBackground(map, sums, opaque, removalOf(settings, beneath));
  if (settings.removeBackground && background) {
    for (let a = 0; a < count; a++) {
      if (background.areas[a] === 0) continue;
      empty[a] = 1;
      opaque[a] = 0;
    }
  }
  const paints = sharePaints(sums, planes, sloped, opaque, toned ? 0 : settings.lambda * paintWorth);
  const palette = toned?.palette ?? null;
  return { map, planes, sums, sloped, radials, opaque, empty, background, paints, tones, palette };
}

/** Mean alpha from which an area fades nowhere: what slopes is its rim, a pixel of edge. */
const wholeMin = 253.5;

/** The picture's connected areas and their moments; where a palette or few colours were asked for, cut by those. */
function cut({ clean, width, height, labels, runs, sums }: Segmented, settings: Settings, beneath: Beneath) {
  const own = componentsOf(runs, labels, width, sums.length / stride);
  const ownSums = moments(clean, width, own.runs, own.areaOf, own.count);
  if (!settings.palette && settings.colors === null) return { map: own, sums: ownSums, toned: null };
  const toned = toneAreas(own, ownSums, settings, beneath);
  const map = components(toned.labels, width, height, toned.labelCount);
  return { map, sums: moments(clean, width, map.runs, map.areaOf, map.count), toned };
}

/** Makes the plane of an area that of one colour, as see-through as the area is. */
function paintIn({ r, g, b }: Colour, planes: Float64Array, area: number, opaque: boolean): void {
  const at = area * 12;
  if (opaque) planes.set([255, 0, 0], at + 9);
  [r, g, b].forEach((level, c) => {
    for (let k = 0; k < 3; k++) planes[at + c * 3 + k] = (planes[at + 9 + k] * level) / 255;
  });
}

function radialAreas(
  map: AreaMap,
  { labels, runs }: Segmented,
  gradients: ReadonlyMap<number, Gradient>,
): Map<number, Gradient> {
  const radials = new Map<number, Gradient>();
  if (gradients.size === 0) return radials;
  let run = 0;
  eachRun(runs, (begin) => {
    while (map.runs.begins[run + 1] <= begin) run++;
    const gradient = gradients.get(labels[begin]);
    const area = map.areaOf[run];
    if (gradient && (isShared(gradient) || map.sizes[area] >= ownSizeMin)) radials.set(area, gradient);
  });
  return radials;
}

/** One that costs nothing to use again, by what was cut off from the area that it is of. */
const isShared = (gradient: Gradient) => isRadial(gradient) || (isField(gradient) && gradient.isGround === true);

/** What is cut off from an area of several elements and is smaller, px, is a plane. */
const ownSizeMin = 400;

/** A gradient is worth its definition when it explains this many lambdas of squared error. */
export const slopeWorth = 45;

/** One element less is worth this many lambdas of squared error. */
const paintWorth = 12;
