import { keepTo } from "../deadline.ts";
import { opaqueMin } from "../drawing.ts";
import { asWords, eachOverlap, eachRun, valuesOf } from "../image/runs.ts";
import { cheapestField } from "./cheapest-field.ts";
import { moments, planeError, type Segmented, stride } from "./colour-model.ts";
import { fitSpotted } from "./fit-spots.ts";
import { type Gradient, isRadial } from "./gradient.ts";
import { isSeeThrough } from "./radial.ts";
import { fitRadial, radialError, samplesAt } from "./radial-fit.ts";
import { smoothGroups } from "./smooth-groups.ts";

/** What may become of areas that are joined. */
export interface Joining {
  readonly lambda: number;
  /** What fills one area may be several elements, one over another. */
  readonly mayOverlap: boolean;
  /** The largest field of an opaque picture is drawn beneath all else, without an outline. */
  readonly mayLieBeneath: boolean;
  /** What reaches the borders may be a background to remove: it is left as it is. */
  readonly keepsBorders: boolean;
  /** Only see-through areas are joined, for the sake of their opacity. */
  readonly fadesOnly: boolean;
  readonly deadlineMs: number;
}

/**
 * Step 3d: neighbours that pass smoothly into each other become one area where one gradient over all of them, or a field of
 * colour (field.ts), costs less than they do one by one: a face with a blush, a fruit with a gleam, a soft shadow on a gradient,
 * a wallpaper. The labels are changed in place; what the area is filled with takes the place of its parts' gradients.
 */
export function joinSmooth(picture: Segmented, gradients: Map<number, Gradient>, joining: Joining): void {
  const { labels, runs, clean, width } = picture;
  const count = picture.sums.length / stride;
  if (count < 2 || count > areasMax) return;
  const groupOf = smoothGroups(picture, count);
  const groups = groupsOf(picture, groupOf);
  if (groups.length === 0) return;
  const { lambda, deadlineMs, mayOverlap } = joining;
  const sums = moments(clean, width, runs, valuesOf(runs, labels), count);
  const errors = errorsOf(picture, sums, gradients);
  const ground = joining.mayLieBeneath && isOpaque(clean) ? groundOf(groups, labels.length) : undefined;
  for (const group of candidates(groups, ground, sums, joining)) {
    keepTo(deadlineMs);
    let cost = group.border * seamWorth * lambda;
    for (const a of group.areas) cost += errors[a] + (gradients.has(a) ? radialWorth : areaWorth) * lambda;
    const pixels = pixelsOf(picture, groupOf, group);
    const fill = fillOf(picture, pixels, { lambda, most: shareMax * cost, mayOverlap, isGround: group === ground });
    if (!fill) continue;
    eachRun(runs, (begin, end) => {
      if (groupOf[labels[begin]] === group.label) labels.fill(group.label, begin, end);
    });
    for (const a of group.areas) gradients.delete(a);
    gradients.set(group.label, fill);
  }
}

/** What may be drawn beneath all else: the largest group of several areas, if it is large enough. */
function groundOf(groups: readonly Group[], pixels: number): Group | undefined {
  const ground = groups.find(({ areas }) => areas.length >= groundAreasMin);
  return ground && ground.size >= groundSizeMin * pixels ? ground : undefined;
}

/** The groups that may be joined, the ground first. */
function candidates(
  groups: readonly Group[],
  ground: Group | undefined,
  sums: Float64Array,
  { keepsBorders, fadesOnly }: Joining,
): readonly Group[] {
  const own = groups.filter(
    (group) =>
      group !== ground &&
      group.areas.length <= ownAreasMax &&
      !(keepsBorders && group.isAtBorder) &&
      !(fadesOnly && group.areas.some((a) => !isSeeThrough(sums, a))),
  );
  return [...(ground ? [ground] : []), ...own.slice(0, groupsMax)];
}

const areasMax = 4000;
/** The largest groups, of so many pixels at least, are looked at. */
const groupsMax = 12;
/** Of more areas, it is a texture. */
const ownAreasMax = 32;
const sizeMin = 100;
/** What a field beneath all else joins at least: so many areas, and such a share of the picture. */
const groundAreasMin = 4;
const groundSizeMin = 0.03;
/** What joining saves, in lambdas: per pixel of border, which shows as a seam; per area with its gradient, linear or radial. */
const seamWorth = 2;
const areaWorth = 40;
const radialWorth = 120;
/** Areas are joined where that saves a tenth at least: what both cost is estimated. */
const shareMax = 0.9;
const samplesMax = 600;
const spotSamplesMax = 900;

/** Areas that pass smoothly into each other. */
interface Group {
  readonly label: number;
  readonly areas: number[];
  /** Px. */
  size: number;
  /** The length of all borders between its areas, px. */
  border: number;
  isAtBorder: boolean;
}

/** The groups of several areas, the largest first. */
function groupsOf({ labels, runs, width }: Segmented, groupOf: Int32Array): Group[] {
  const groups = new Map<number, Group>();
  const seen = new Uint8Array(groupOf.length);
  const border = (p: number, q: number, length: number) => {
    if (labels[p] !== labels[q] && groupOf[labels[p]] === groupOf[labels[q]]) {
      groups.get(groupOf[labels[p]])!.border += length;
    }
  };
  eachRun(runs, (begin, end) => {
    const area = labels[begin];
    const group = groups.get(groupOf[area]) ?? {
      label: groupOf[area],
      areas: [],
      size: 0,
      border: 0,
      isAtBorder: false,
    };
    groups.set(group.label, group);
    group.size += end - begin;
    const touches = begin < width || begin % width === 0 || end % width === 0 || end > labels.length - width;
    if (touches) group.isAtBorder = true;
    if (seen[area] === 0) group.areas.push(area);
    seen[area] = 1;
    if (begin % width > 0) border(begin - 1, begin, 1);
  });
  eachOverlap(runs, width, (_upper, _lower, from, to) => border(from, from + width, to - from));
  return [...groups.values()]
    .filter(({ areas, size }) => areas.length > 1 && size >= sizeMin)
    .sort((a, b) => b.size - a.size || a.label - b.label);
}

function pixelsOf({ labels, runs }: Segmented, groupOf: Int32Array, { label, size }: Group): Int32Array {
  const pixels = new Int32Array(size);
  let n = 0;
  eachRun(runs, (begin, end) => {
    if (groupOf[labels[begin]] === label) for (let p = begin; p < end; p++) pixels[n++] = p;
  });
  return pixels;
}

/** The gradient, with spots or without, or the field, of least cost over all the pixels; null where each costs more than `most`. */
function fillOf(
  { clean, width, height }: Segmented,
  pixels: Int32Array,
  { lambda, most, mayOverlap, isGround }: Pick<Joining, "lambda" | "mayOverlap"> & { most: number; isGround: boolean },
): Gradient | null {
  const total = pixels.length;
  const radial = fitRadial(evenly(pixels, samplesMax), clean, width, total, lambda);
  let [fill, least]: [Gradient | null, number] =
    radial && radial.cost <= most ? [radial.radial, radial.cost] : [null, most];
  if (!mayOverlap) return fill;
  const opaque = pixels.filter((p) => clean[p * 4 + 3] >= opaqueMin);
  if (opaque.length < opaqueShareMin * total) return fill;
  const spotted = fitSpotted(samplesAt(evenly(opaque, spotSamplesMax), clean, width), total, lambda, least);
  if (spotted) [fill, least] = [spotted.fill, spotted.cost];
  return cheapestField({ pixels: opaque, clean, width, height, isGround }, lambda, least) ?? fill;
}

/** The rims of an area that is opaque may be blends. */
const opaqueShareMin = 0.95;

function evenly(pixels: Int32Array, most: number): Int32Array {
  const every = Math.max(1, pixels.length / most);
  return Int32Array.from(
    { length: Math.floor(pixels.length / every) },
    (_, i) => pixels[Math.floor((i + 0.5) * every)],
  );
}

/** The squared error that each area leaves as it would be drawn. */
function errorsOf(
  { labels, clean, width }: Segmented,
  sums: Float64Array,
  gradients: ReadonlyMap<number, Gradient>,
): Float64Array {
  const errors = Float64Array.from({ length: sums.length / stride }, (_, a) =>
    sums[a * stride] > 0 && !gradients.has(a) ? planeError(sums, a) : 0,
  );
  const step = Math.max(1, Math.floor(labels.length / errorSamplesMax)) | 1;
  const one = new Int32Array(1);
  for (let p = 0; gradients.size > 0 && p < labels.length; p += step) {
    const radial = gradients.get(labels[p]);
    one[0] = p;
    if (radial && isRadial(radial)) errors[labels[p]] += step * radialError(radial, one, clean, width);
  }
  return errors;
}

const errorSamplesMax = 24_000;

function isOpaque(pixels: Uint8Array): boolean {
  const words = asWords(pixels);
  for (let p = 0; p < words.length; p++) if (words[p] >>> 24 < opaqueMin) return false;
  return true;
}
