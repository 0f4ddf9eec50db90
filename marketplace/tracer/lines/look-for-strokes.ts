import { keepTo } from "../deadline.ts";
import { type Candidate, narrowAreas } from "./candidates.ts";
import { covering } from "./covering.ts";
import { mayBeEven } from "./may-be-even.ts";
import type { State } from "./state.ts";
import { type FoundStroke, strokesOf } from "./strokes-of.ts";

/** Strokes of a kind that make up an area, and which of them each of its pixels is of. */
export interface Look {
  readonly strokes: readonly FoundStroke[];
  readonly owners: Int32Array;
  readonly ink: readonly number[];
}

/** Looks at areas for strokes of a kind; what fails is not looked at again. */
export function looker(state: State, widest: number, areWanted: (strokes: readonly FoundStroke[]) => boolean) {
  const { areas, pixels, failed, deadlineMs } = state;
  const { map, planes } = areas;
  const isNarrow = narrowAreas(areas, state.measured);
  return ({ area, places }: Candidate): Look | null => {
    keepTo(deadlineMs);
    const name = nameOf(places);
    if (failed.has(name) || failed.has(`${name} ${widest}`)) return null;
    const ink = [0, 3, 6, 9].map((c) => planes[area * 12 + c]);
    const picture = {
      pixels,
      areas: map.areas,
      stride: map.stride,
      width: map.width,
      area,
      ink,
      isNarrow,
      paints: areas.paints,
    };
    const may = mayBeEven(places, map, widest);
    const strokes = may ? strokesOf(places, state.on, picture, widest) : null;
    const wanted = strokes && areWanted(strokes) ? strokes : null;
    const cover = covering(wanted, places, picture, state.work);
    if (cover) return { ...cover, ink };
    failed.add(wanted ? name : `${name} ${widest}`);
    if (strokes && !wanted) state.wide.add(name);
    return null;
  };
}

/** An area by its first place and its size, which it keeps while others change. */
export function nameOf(places: Int32Array): string {
  return `${places[0]} ${places.length}`;
}

export function areThinStrokes(strokes: readonly FoundStroke[]): boolean {
  return strokes.every(({ width }) => width <= thinMax);
}

/** Wide ones are strokes where nothing else ends so: round ends, rings, arcs, what is very long, and several that meet. */
export function areWideStrokes(strokes: readonly FoundStroke[]): boolean {
  if (strokes.some(({ width }) => width > wideMax)) return false;
  const length = strokes.reduce((sum, { points }) => sum + points.length, 0);
  return (strokes.length > 1 && length > longMin * strokes[0].width) || strokes.every(isClearStroke);
}

function isClearStroke({ shape, width, cap, closed, points }: FoundStroke): boolean {
  const isArc = shape.kind === "path" && shape.outlines[0].kinds.every((kind) => kind === 2);
  return cap === "round" || closed || points.length > (isArc ? 4 : longMin) * width;
}

/** Length of a clear stroke, in widths. */
const longMin = 15;

/** Lines of 6 px, by how exactly widths are measured. */
export const thinMax = 6.3;
export const wideMax = 40;
