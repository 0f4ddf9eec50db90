import type { Colour } from "../drawing.ts";
import { straight } from "../drawing.ts";
import type { Areas } from "../regions/areas.ts";
import { absorb } from "./absorb.ts";
import { type Sizes, shortMin } from "./candidates.ts";
import type { OwnStroke } from "./chain-strokes.ts";
import { findDashes } from "./dashes.ts";
import { joinStrokes } from "./join-strokes.ts";
import type { LiftedStroke, Lines } from "./lines.ts";
import { areThinStrokes, areWideStrokes, looker, nameOf, thinMax, wideMax } from "./look-for-strokes.ts";
import { joinTones, setThickApart, splitTones } from "./recut.ts";
import { State } from "./state.ts";
import type { FoundStroke } from "./strokes-of.ts";

export interface LiftedLines {
  /** The areas beneath, which go on under the strokes. */
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
  const drawnAs = joinTones(state);
  setThickApart(state);
  const { map } = state.areas;
  for (const [widest, kind] of [
    [thinMax, areThinStrokes],
    [thinMax, areThinStrokes],
    [wideMax, areWideStrokes],
  ] as const) {
    const before = found.length;
    if (widest === thinMax ? !thinAgain : state.areas.map.count > wideCountMax) continue;
    if (!liftAll(state, { widest }, kind, found)) return null;
    // What one pass takes away may leave strokes whole for the next.
    if (found.length === before && widest === thinMax) thinAgain = false;
    if (found.length > before && !state.settle()) return null;
  }
  if (!liftAsWide(state, found)) return null;
  const dashed = liftDashes(state, found.length);
  if (found.length + dashed.length === 0 || (dashed.length > 0 && !state.settle())) return null;
  const { at } = state;
  const { strokes, names } = joinStrokes(found, at, map, { areas: state.areas, pixels });
  for (let p = 0; p < at.length; p++) if (at[p] >= 0) at[p] = names[at[p]] ?? at[p] - names.length + strokes.length;
  strokes.push(...dashed);
  if (absorb(state, strokes, pixels) && !state.settle()) return null;
  splitTones(state, areas, drawnAs);
  return { areas: state.areas, pixels: state.pixels, runOf: state.runOf, lines: { strokes, at, near: state.near } };
}

/** What is as wide as a stroke that was found may be short, or made of many. */
function liftAsWide(state: State, found: OwnStroke[]): boolean {
  const widths = found.map(({ width }) => width);
  if (widths.length === 0) return true;
  const before = found.length;
  const isAsWide = ({ width }: FoundStroke) => widths.some((other) => Math.abs(width - other) <= asWideMax * other);
  const areAsWide = (strokes: readonly FoundStroke[]) => strokes.every(isAsWide);
  if (!liftAll(state, { widest: Math.max(...widths) + 1, shortest: shortMin }, areAsWide, found)) return false;
  return found.length === before || state.settle();
}

/** By how much of its width a stroke may be wider or narrower than others. */
const asWideMax = 0.08;

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

/**
 * Puts the strokes of a kind on the list, and their numbers where they are; false where it is no drawing of lines: little
 * of it is thin, or most of that is no stroke.
 */
function liftAll(
  state: State,
  sizes: Sizes,
  areWanted: (strokes: readonly FoundStroke[]) => boolean,
  found: OwnStroke[],
): boolean {
  const { map, tones } = state.areas;
  const candidates = state.candidates(sizes);
  if (candidates.length === 0) return true;
  const look = looker(state, sizes.widest, areWanted);
  const main = candidates.reduce((most, other) => (other.places.length > most.places.length ? other : most));
  const all = candidates.reduce((sum, { places }) => sum + places.length, 0);
  if (found.length === 0 && all < linesShareMin * map.width * map.height) return isOfWideLines(state);
  const first = look(main);
  const isMain = found.length === 0 && main.places.length > mainShare * all;
  if (isMain && !first && !state.wide.has(nameOf(main.places))) return false;
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

/** Whether most of what lies beside the largest area may be wide strokes. */
function isOfWideLines(state: State): boolean {
  const { sizes } = state.areas.map;
  let [all, largest] = [0, 0];
  for (const size of sizes) {
    all += size;
    largest = Math.max(largest, size);
  }
  const wide = state.candidates({ widest: wideMax }).reduce((sum, { places }) => sum + places.length, 0);
  return 2 * wide > all - largest;
}

/** In smaller shares of all that is thin an area may be no stroke. */
const mainShare = 0.4;
/** A drawing of lines has at least this share of its pixels in thin areas. */
const linesShareMin = 0.002;
/** Wide strokes are looked for beside thin ones only, in pictures of few areas. */
const wideCountMax = 300;
