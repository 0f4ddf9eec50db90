import { keepTo } from "../deadline.ts";
import type { Colour, Shape, Stroke } from "../drawing.ts";
import { straight } from "../drawing.ts";
import { carried } from "../objects/text-runs.ts";
import { type Areas, joinPaints, regrouped } from "../regions/areas.ts";
import type { AreaMap } from "../regions/components.ts";
import { beneath, markNear, withoutLines } from "./beneath.ts";
import { type Candidate, narrowAreas, thinAreas } from "./candidates.ts";
import { coverPicture } from "./cover.ts";
import { covering } from "./covering.ts";
import { findDashes } from "./dashes.ts";
import { evenTones } from "./even-tones.ts";
import { joinStrokes, type OwnStroke } from "./join-strokes.ts";
import { mayBeEven } from "./may-be-even.ts";
import { type Measures, measureAreas } from "./measure.ts";
import { type FoundStroke, strokesOf } from "./strokes-of.ts";
import { thickParts } from "./thick-parts.ts";

export interface LiftedStroke {
  readonly shape: Shape;
  readonly stroke: Stroke;
  readonly closed: boolean;
}

/** Strokes that were lifted off a picture, in the order in which they lie over each other. */
export interface Lines {
  readonly strokes: readonly LiftedStroke[];
  /** The stroke that lies on each pixel, or -1. */
  readonly at: Int32Array;
  /** 1 for each pixel beneath or beside a stroke. */
  readonly near: Uint8Array;
}

export interface LiftedLines {
  /** What lies beneath: it goes on under the strokes. */
  readonly areas: Areas;
  readonly lines: Lines;
  /** The picture without them. */
  readonly pixels: Uint8Array;
  /** The run of text that each of the areas is of, or -1. */
  readonly runOf: Int32Array | null;
}

/**
 * Step 3e: takes strokes off the areas, thin ones before wide ones. An area that is nothing but lines of even width becomes
 * strokes along their middle lines; the areas beside it go on beneath, up to its middle, and those of one paint become one.
 * So a grid does not cut its ground to pieces, and a frame ends where its fill does. Areas in a run of text (`runOf`) stay.
 */
export function liftLines(
  areas: Areas,
  pixels: Uint8Array,
  runOf: Int32Array | null,
  deadlineMs: number,
): LiftedLines | null {
  const found: OwnStroke[] = [];
  const state = new State(areas, pixels, runOf, deadlineMs);
  let thinAgain = true;
  joinTones(state);
  setThickApart(state);
  const { map } = state.areas;
  for (const [widest, kind] of [
    [thinMax, isThinStroke],
    [thinMax, isThinStroke],
    [wideMax, isWideStroke],
  ] as const) {
    const before = found.length;
    if (widest === thinMax ? !thinAgain : before === 0 || state.areas.map.count > wideCountMax) continue;
    if (!liftAll(state, widest, kind, found)) return null;
    // What one pass takes away may leave strokes whole for the next.
    if (found.length === before && widest === thinMax) thinAgain = false;
    if (found.length > before && !settle(state)) return null;
  }
  const dashed = liftDashes(state, found.length);
  if (found.length + dashed.length === 0 || (dashed.length > 0 && !settle(state))) return null;
  const { at } = state;
  const { strokes, names } = joinStrokes(found, at, map, { areas: state.areas, pixels });
  for (let p = 0; p < at.length; p++) if (at[p] >= 0) at[p] = names[at[p]] ?? at[p] - names.length + strokes.length;
  strokes.push(...dashed);
  if (absorb(state, strokes, pixels) && !settle(state)) return null;
  return { areas: state.areas, pixels: state.pixels, runOf: state.runOf, lines: { strokes, at, near: state.near } };
}

function liftDashes(state: State, first: number): LiftedStroke[] {
  const { areas, pixels } = state;
  const { planes, tones, map } = areas;
  const rows = findDashes(areas, pixels, first > 0 ? state.at : null);
  if (rows.length === 0) return [];
  const { at } = state;
  const rowOf = new Map(rows.flatMap((row, i) => row.areas.map((area) => [area, first + i] as const)));
  for (let p = 0; p < at.length; p++) at[p] = at[p] < 0 ? (rowOf.get(map.flat[p]) ?? -1) : at[p];
  return rows.map(({ shape, width, dashes, areas: [area] }) => {
    const [r, g, b, alpha] = [0, 3, 6, 9].map((c) => planes[area * 12 + c]);
    const colour = tones[area] ?? straight(r, g, b, alpha);
    return { shape, stroke: { colour, width, cap: "butt", dashes }, closed: false };
  });
}

/** What is left of the picture, and what was lifted off so far; made of the picture's size once something is. */
class State {
  areas: Areas;
  pixels: Uint8Array;
  runOf: Int32Array | null;
  readonly deadlineMs: number;
  /** Areas that are no strokes: their first place, their size and how wide a stroke was wanted. */
  readonly failed = new Set<string>();
  /** Areas that are strokes, but wider ones than were wanted. */
  readonly wide = new Set<number>();
  /** Of the areas as they are. */
  measures: Measures | null = null;
  /** 1 for areas that are pieces of a line with thick parts. */
  pieces: Uint8Array | null = null;
  private strokeAt: Int32Array | null = null;
  private nearStroke: Uint8Array | null = null;
  private scratch: Uint8Array | null = null;

  constructor(areas: Areas, pixels: Uint8Array, runOf: Int32Array | null, deadlineMs: number) {
    this.deadlineMs = deadlineMs;
    this.areas = areas;
    this.runOf = runOf;
    this.pixels = pixels;
  }

  get measured(): Measures {
    this.measures ??= measureAreas(this.areas.map);
    return this.measures;
  }

  /** Areas that may be strokes, but for those of texts. */
  candidates(widest: number): Candidate[] {
    return thinAreas(this.areas, this.measured, widest, {
      isText: (area) => this.runOf !== null && this.runOf[area] >= 0,
      isPiece: (area) => this.pieces?.[area] === 1,
    });
  }

  get at(): Int32Array {
    this.strokeAt ??= new Int32Array(this.areas.map.width * this.areas.map.height).fill(-1);
    return this.strokeAt;
  }

  get near(): Uint8Array {
    this.nearStroke ??= new Uint8Array(this.areas.map.width * this.areas.map.height);
    return this.nearStroke;
  }

  /** A byte for each place in the map of areas. */
  get on(): Uint8Array {
    this.scratch ??= new Uint8Array(this.areas.map.areas.length);
    return this.scratch;
  }
}

/** Lets the areas go on beneath the strokes; false where nothing else is left. */
function settle(state: State): boolean {
  const { areas, pixels, at, near } = state;
  state.pieces = null;
  const labels = beneath(areas.map.flat, at, areas.map.width, areas.map.height);
  if (!labels) return false;
  state.areas = joinPaints(regrouped(areas, labels));
  state.runOf = state.runOf && carried(state.runOf, areas.map, state.areas.map);
  state.measures = null;
  markNear(at, near, areas.map.width, areas.map.height);
  state.pixels = withoutLines(state.areas, pixels, near);
  return true;
}

/** Gives small areas that lie wholly on a stroke, in its colour, to it: pieces of it between things that lie over it. */
function absorb(
  { areas: { map, planes, opaque, sloped, paints }, at }: State,
  strokes: readonly LiftedStroke[],
  source: Uint8Array,
): boolean {
  const { nearest: cover, distance } = coverPicture(strokes, map.width, map.height);
  const colourOff = (stroke: number, levelOf: (channel: number) => number) => {
    const { r, g, b } = strokes[stroke].stroke.colour;
    return Math.max(...[r, g, b].map((level, c) => Math.abs(level - levelOf(c))));
  };
  const covered = new Int32Array(map.count);
  const owner = new Int32Array(map.count).fill(-1);
  for (let p = 0; p < at.length; p++) {
    const area = map.flat[p];
    // Between the dashes of a line lies none of it.
    if (cover[p] >= 0 && strokes[cover[p]].stroke.dashes) continue;
    if (at[p] >= 0 || cover[p] < 0 || map.sizes[area] > pieceMax || opaque[area] === 0 || sloped[area] === 1) continue;
    if (colourOff(cover[p], (c) => planes[area * 12 + c * 3]) > pieceOffMax) continue;
    covered[area]++;
    owner[area] = cover[p];
  }
  // A marker is of the line's colour beside the line, too.
  const beside = new Int32Array(map.count);
  for (let p = 0; p < at.length; p++) {
    const stroke = owner[map.flat[p]];
    if (stroke >= 0 && at[p] < 0 && distance[p] > besideMin && colourOff(stroke, (c) => source[p * 4 + c]) <= inkOffMax)
      beside[map.flat[p]]++;
  }
  let some = giveSlivers(map, paints, at, cover);
  for (let p = 0; p < at.length; p++) {
    const area = map.flat[p];
    if (at[p] >= 0 || owner[area] < 0 || covered[area] < pieceShareMin * map.sizes[area] || beside[area] > 2) continue;
    at[p] = cover[p] >= 0 ? cover[p] : owner[area];
    some = true;
  }
  return some;
}

/** Gives slivers between strokes to these: areas of a few pixels, all of them blends at the edges of two or more. */
function giveSlivers(
  { flat, sizes, count, width }: AreaMap,
  paints: Int32Array,
  at: Int32Array,
  cover: Int32Array,
): boolean {
  // What has the paint of something large is no blend, but the inside of a ring.
  const isPaint = new Set(paints.filter((paint, area) => paint >= 0 && sizes[area] > sliverMax));
  const beside = Array.from({ length: count }, () => new Set<number>());
  const isClear = new Uint8Array(count);
  for (let p = 0; p < at.length; p++) {
    const area = flat[p];
    if (sizes[area] > sliverMax || isClear[area] === 1) continue;
    if (cover[p] < 0 || isPaint.has(paints[area])) isClear[area] = 1;
    for (const q of [p, p - 1, p + 1, p - width, p + width]) if (cover[q] >= 0) beside[area].add(cover[q]);
  }
  let some = false;
  for (let p = 0; p < at.length; p++) {
    const area = flat[p];
    if (at[p] >= 0 || cover[p] < 0 || sizes[area] > sliverMax || isClear[area] === 1 || beside[area].size < 2) continue;
    at[p] = cover[p];
    some = true;
  }
  return some;
}

const sliverMax = 40;

/** How far from a stroke's edge nothing of a pixel is its, px. */
const besideMin = 0.55;
/** How far the colour of a pixel may be from a stroke's that is no blend, levels. */
const inkOffMax = 16;
/** How much of a piece must lie on the stroke: what lies over its ends leaves blends beside it. */
const pieceShareMin = 0.6;
/** How far its colour may be from the stroke's, levels: it may be mostly blends. */
const pieceOffMax = 40;
/** Largest piece of a stroke that is not found by itself, px. */
const pieceMax = 200;

/**
 * Puts the strokes of a kind on the list, and their numbers where they are; false where it is no drawing of lines: little
 * of it is thin, or most of that is no stroke.
 */
function liftAll(
  state: State,
  widest: number,
  isWanted: (stroke: FoundStroke) => boolean,
  found: OwnStroke[],
): boolean {
  const { map, tones } = state.areas;
  const candidates = state.candidates(widest);
  if (candidates.length === 0) return true;
  const look = looker(state, widest, isWanted);
  const main = candidates.reduce((most, other) => (other.places.length > most.places.length ? other : most));
  const all = candidates.reduce((sum, { places }) => sum + places.length, 0);
  if (found.length === 0 && all < linesShareMin * map.width * map.height) return false;
  const first = look(main);
  const isMain = found.length === 0 && main.places.length > mainShare * all;
  if (isMain && !first && !state.wide.has(main.area)) return false;
  for (const candidate of candidates) {
    const { area, places } = candidate;
    const seen = candidate === main ? first : look(candidate);
    if (!seen) continue;
    const { strokes, owners, ink } = seen;
    const colour: Colour = tones[area] ?? straight(ink[0], ink[1], ink[2], ink[3]);
    places.forEach((q, i) => {
      state.at[(Math.floor(q / map.stride) - 1) * map.width + (q % map.stride) - 1] = found.length + owners[i];
    });
    found.push(...strokes.map((stroke) => ({ ...stroke, colour })));
  }
  return true;
}

/** Strokes of a kind that make up an area, and which of them each of its pixels is of. */
interface Look {
  readonly strokes: readonly FoundStroke[];
  readonly owners: Int32Array;
  readonly ink: readonly number[];
}

function looker(state: State, widest: number, isWanted: (stroke: FoundStroke) => boolean) {
  const { areas, pixels, failed, deadlineMs } = state;
  const { map, planes } = areas;
  const isNarrow = narrowAreas(areas, state.measured);
  return ({ area, places }: Candidate): Look | null => {
    keepTo(deadlineMs);
    const name = `${places[0]} ${places.length}`;
    if (failed.has(name) || failed.has(`${name} ${widest}`)) return null;
    const ink = [0, 3, 6, 9].map((c) => planes[area * 12 + c]);
    const picture = { pixels, areas: map.areas, stride: map.stride, width: map.width, area, ink, isNarrow };
    const may = mayBeEven(places, map, widest);
    const strokes = may ? strokesOf(places, state.on, picture, widest) : null;
    const wanted = strokes?.every(isWanted) ? strokes : null;
    const { strokes: fitting, owners } = covering(wanted, places, picture);
    if (owners) return { strokes: fitting, owners, ink };
    failed.add(wanted ? name : `${name} ${widest}`);
    if (strokes && !wanted) state.wide.add(area);
    return null;
  };
}

/** Gives pieces of thin lines that are of a lighter tone to these lines. */
function joinTones(state: State): void {
  const { areas } = state;
  const drawnAs = evenTones(areas, state.candidates(thinMax), narrowAreas(areas, state.measured));
  if (!drawnAs) return;
  state.areas = regrouped(
    areas,
    areas.map.flat.map((area) => drawnAs[area]),
  );
  state.runOf = state.runOf && carried(state.runOf, areas.map, state.areas.map);
  state.measures = null;
}

/** Makes areas of the thick parts of lines: a curve's markers, arrows' heads. What turns out as no stroke is joined again. */
function setThickApart(state: State): void {
  const { areas } = state;
  const { map } = areas;
  const look = looker(state, thinMax, isThinStroke);
  const source = Array.from({ length: map.count }, (_, area) => area);
  const labels = map.flat.slice();
  const split: Int32Array[] = [];
  const pixelOf = (q: number) => (Math.floor(q / map.stride) - 1) * map.width + (q % map.stride) - 1;
  for (const candidate of state.candidates(thinMax)) {
    const { area, places } = candidate;
    const thick = thickParts(places, map, thinMax);
    if (!thick || look(candidate)) continue;
    places.forEach((q, i) => {
      if (thick[i] === 1) labels[pixelOf(q)] = source.length;
    });
    source.push(area);
    split.push(places);
  }
  if (source.length === map.count) return;
  state.areas = regrouped(areas, labels, source);
  state.runOf = state.runOf && carried(state.runOf, map, state.areas.map);
  state.measures = null;
  state.pieces = new Uint8Array(state.areas.map.count);
  for (const places of split) for (const q of places) state.pieces[state.areas.map.flat[pixelOf(q)]] = 1;
}

/** In smaller shares of all that is thin an area may be no stroke. */
const mainShare = 0.4;
/** A drawing of lines has at least this share of its pixels in thin areas. */
const linesShareMin = 0.002;

function isThinStroke({ width }: FoundStroke): boolean {
  return width <= thinMax;
}

/** Wide ones are strokes where nothing else ends so: round ends, rings, arcs, and what is very long. */
function isWideStroke({ shape, width, cap, closed, points }: FoundStroke): boolean {
  const isArc = shape.kind === "path" && shape.outlines[0].kinds.every((kind) => kind === 2);
  return width <= wideMax && (cap === "round" || closed || points.length > (isArc ? 4 : 15) * width);
}

/** Lines of 6 px, by how exactly widths are measured. */
const thinMax = 6.3;
const wideMax = 40;
/** Wide strokes are looked for beside thin ones only, in pictures of few areas. */
const wideCountMax = 60;
