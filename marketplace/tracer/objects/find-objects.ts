import { type Contours, contours } from "../curves/contours.ts";
import { keepTo } from "../deadline.ts";
import type { Areas } from "../regions/areas.ts";
import type { AreaMap, PixelAreas } from "../regions/components.ts";
import { Merging } from "../regions/merge.ts";
import { joinBehind, type Marks } from "./behind.ts";
import { type GroundAreas, type Grounds, groundsOf } from "./grounds.ts";
import { divideInk, type InkAreas, inkOf, withoutInk } from "./ink.ts";
import { joinParts } from "./join-parts.ts";
import { pairOf, readJunctions } from "./junctions.ts";
import { type AreaShapes, colourOff, shapesOf } from "./shapes-of-areas.ts";
import { carried } from "./text-runs.ts";

/** Which object each area belongs to. */
export interface Objects {
  /** A number below the count of areas; -1 for the background, its gaps and what is transparent. */
  readonly objectOf: Int32Array;
  /** 1 for the objects that are runs of text, and for those that others stand on. */
  readonly isText: Uint8Array;
  readonly isGround: Uint8Array;
  /** Contours drawn round things, and the area that each pixel is nearest to without them; null where there are none. */
  readonly ink: { readonly areas: Uint8Array; readonly labels: Int32Array } | null;
}

/**
 * The objects of a picture as a person would name them. The background is none, nor are the gaps through which it is seen; a
 * line of letters is one; what other things stand on is one; all else is joined from parts that touch (join-parts.ts).
 * `clean` is the unblended picture the areas were made from.
 */
export function findObjects(
  areas: GroundAreas,
  chain: Contours,
  clean: Uint8Array,
  runOf: Int32Array | null,
  deadlineMs = Number.POSITIVE_INFINITY,
): Objects {
  const { map } = areas;
  const shapes = shapesOf(map, chain, clean);
  const runs = runOf ?? new Int32Array(map.count).fill(-1);
  const grounds = groundsOf(areas, shapes, runs);
  const { ground, stageOf } = grounds;
  const ink = hasPlanes(areas) ? inkIn(areas, ground, runs) : null;
  const partOf = numbered(map, clean, grounds, runs, deadlineMs);
  showThrough(shapes, partOf, runs, ground);
  const parts = partOf.reduce((most, part) => Math.max(most, part), 0) + 1;
  const standsFor = new Uint8Array(parts);
  const apart = new Uint8Array(parts);
  for (let a = 0; a < map.count; a++) {
    if (ground[a] === 1 || stageOf[a] >= 0) standsFor[partOf[a]] = 1;
    if (standsFor[partOf[a]] === 1 || runs[a] >= 0) apart[partOf[a]] = 1;
  }
  keepTo(deadlineMs);
  const marks = { apart, standsFor };
  const { count, sizes, width, height } = map;
  const bare = { flat: ink?.labels ?? map.flat, count, sizes, width, height };
  joinBehind(bare, partOf, parts, marks, coloursOf(map, shapes, partOf, parts).colourOff);
  const names = joined(bare, shapes, partOf, parts, marks);
  const first = new Int32Array(parts).fill(-1);
  const objectOf = new Int32Array(map.count);
  const isText = new Uint8Array(map.count);
  const isGround = new Uint8Array(map.count);
  for (let a = 0; a < map.count; a++) {
    const name = names[partOf[a]];
    if (first[name] < 0) first[name] = a;
    objectOf[a] = ground[a] === 1 ? -1 : first[name];
    if (runs[a] >= 0) isText[first[name]] = 1;
    if (stageOf[a] >= 0) isGround[first[name]] = 1;
  }
  return { objectOf, isText, isGround, ink };
}

function hasPlanes(areas: GroundAreas & Partial<InkAreas>): areas is GroundAreas & InkAreas {
  return areas.planes !== undefined;
}

function inkIn(areas: InkAreas, ground: Uint8Array, runOf: Int32Array): Objects["ink"] {
  const ink = inkOf(areas, ground, runOf);
  return ink.includes(1) ? { areas: ink, labels: withoutInk(areas.map, ink, ground) } : null;
}

export interface Grouped {
  readonly areas: Areas;
  readonly chain: Contours;
  readonly runOf: Int32Array | null;
  readonly objects: Objects;
}

/** The areas with their objects; contours that several share are divided among them. */
export function groupObjects(
  { areas, chain, runOf }: Omit<Grouped, "objects">,
  clean: Uint8Array,
  deadlineMs: number,
): Grouped {
  const objects = findObjects(areas, chain, clean, runOf, deadlineMs);
  if (!objects.ink) return { areas, chain, runOf, objects };
  const divided = divideInk(areas, objects.ink.areas, objects.ink.labels, objects);
  const { map } = divided.areas;
  return { ...divided, chain: contours(map), runOf: runOf && carried(runOf, areas.map, map) };
}

/** A part per area: all ground is one, so is each stage and each run of text; where areas are many they are merged first. */
function numbered(
  map: AreaMap,
  clean: Uint8Array,
  { ground, stageOf }: Grounds,
  runOf: Int32Array,
  deadlineMs: number,
): Int32Array {
  const { count } = map;
  const apart = Uint8Array.from(ground, (is, a) => (is === 1 || stageOf[a] >= 0 || runOf[a] >= 0 ? 1 : 0));
  const free = count - apart.reduce((sum, one) => sum + one, 0);
  const merged = free > partsMax ? coarse(map, clean, apart, count - free + partsMax, deadlineMs) : null;
  const numbers = new Map<string, number>([["ground", 0]]);
  const partOf = new Int32Array(count);
  for (let a = 0; a < count; a++) {
    const key =
      ground[a] === 1
        ? "ground"
        : stageOf[a] >= 0
          ? `stage ${stageOf[a]}`
          : runOf[a] >= 0
            ? `run ${runOf[a]}`
            : `${merged ? merged[a] : a}`;
    const part = numbers.get(key) ?? numbers.size;
    numbers.set(key, part);
    partOf[a] = part;
  }
  return partOf;
}

/** An area that shows through a part, such as the inside of a letter, belongs to the part beneath it. */
function showThrough(shapes: AreaShapes, partOf: Int32Array, runOf: Int32Array, ground: Uint8Array): void {
  const { inside } = shapes;
  for (let a = 0; a < partOf.length; a++) {
    const around = inside[a];
    const beneath = around < 0 ? -1 : inside[around];
    if (beneath < 0 || ground[a] === 1 || runOf[a] >= 0 || runOf[around] < 0) continue;
    partOf[a] = colourOff(shapes, a, beneath) <= levelsAlike ? partOf[beneath] : partOf[around];
  }
}

const levelsAlike = 8;

const partsMax = 300;

function coarse(
  { runs, areaOf, width, height, count }: AreaMap,
  pixels: Uint8Array,
  apart: Uint8Array,
  left: number,
  deadlineMs: number,
): Int32Array {
  const merging = new Merging({ pixels, width, height, runs, areaOf, count, apart, deadlineMs });
  merging.run(Number.POSITIVE_INFINITY, left);
  return merging.names(merging.merges);
}

function joined(
  map: PixelAreas,
  shapes: AreaShapes,
  partOf: Int32Array,
  parts: number,
  { apart, standsFor }: Marks,
): Int32Array {
  const { flat, width, height, count, sizes } = map;
  const pixels = new Float64Array(parts);
  for (let a = 0; a < count; a++) pixels[partOf[a]] += sizes[a];
  const outlines = new Float64Array(parts);
  const borders = new Map<number, number>();
  const meet = (one: number, other: number) => {
    if (one === other) return;
    outlines[one]++;
    outlines[other]++;
    if (apart[one] === 1 || apart[other] === 1) return;
    const pair = pairOf(one, other, parts);
    borders.set(pair, (borders.get(pair) ?? 0) + 1);
  };
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const part = partOf[flat[p]];
      if (x + 1 < width) meet(part, partOf[flat[p + 1]]);
      if (y + 1 < height) meet(part, partOf[flat[p + width]]);
      if (x === 0 || x === width - 1) outlines[part]++;
      if (y === 0 || y === height - 1) outlines[part]++;
    }
  }
  const { colourOff, isPlain } = coloursOf(map, shapes, partOf, parts);
  const says = readJunctions(map, partOf, parts, standsFor);
  const whole = width * height - pixels[0];
  // A picture without any ground would be joined to a single part.
  const left = { least: apart.includes(1) ? 0 : partsLeftMin, most: partsLeftMax };
  return joinParts({ count: parts, sizes: pixels, outlines, borders, says, colourOff, isPlain, whole }, costMax, left);
}

/** The mean colours of parts: how far apart those of two are, levels, and which are nearly white or black. */
function coloursOf({ count, sizes }: PixelAreas, shapes: AreaShapes, partOf: Int32Array, parts: number) {
  const pixels = new Float64Array(parts);
  const colours = new Float64Array(parts * 4);
  for (let a = 0; a < count; a++) {
    pixels[partOf[a]] += sizes[a];
    for (let c = 0; c < 4; c++) colours[partOf[a] * 4 + c] += shapes.colours[a * 4 + c] * sizes[a];
  }
  const level = (part: number, c: number) => colours[part * 4 + c] / pixels[part];
  return {
    colourOff: (one: number, other: number) =>
      Math.max(...[0, 1, 2, 3].map((c) => Math.abs(level(one, c) - level(other, c)))),
    isPlain: (part: number) => {
      const levels = [0, 1, 2].map((c) => level(part, c));
      return Math.min(...levels) > whiteMin || Math.max(...levels) < blackMax;
    },
  };
}

const whiteMin = 216;
const blackMax = 40;

const costMax = 0.025;
const partsLeftMin = 6;
const partsLeftMax = 12;
