import { lengthOf } from "../curves/length.ts";
import type { Shape } from "../drawing.ts";
import { type Ends, fitClosed, fitOpen, missMax } from "./fit-path.ts";
import { graphOf } from "./graph.ts";
import { type Path, pathsOf } from "./paths.ts";
import { type Measured, measureTip, type Tip } from "./profile.ts";
import { roundShape } from "./round.ts";
import { lineThrough, onto, type Place, type StraightLine } from "./straight-line.ts";

/** A stroke as it can be drawn. */
export interface FoundStroke {
  readonly shape: Shape;
  readonly width: number;
  readonly cap: "butt" | "round";
  readonly closed: boolean;
  /** Along its middle, as measured, and its ends. */
  readonly points: readonly Place[];
  readonly ends: Ends;
  /** The pixels that its middle was thinned to, and whether it could be measured along these. */
  readonly way: readonly Place[];
  readonly isMeasured: boolean;
  /** Whether another thing begins at the stroke's start, and at its end: the stroke may go on beneath it. */
  readonly abuts: readonly [boolean, boolean];
  /** Whether it was seen how the stroke is cut at its start, and at its end. */
  readonly tips: readonly [boolean, boolean];
}

/** The end of a stroke that no other of its area meets: its last measured place, the way out, and what was found there. */
interface FreeEnd {
  readonly at: Place;
  readonly dx: number;
  readonly dy: number;
  /** Something else begins; the stroke goes up to that. */
  readonly abuts: boolean;
  /** Null where it abuts, or nothing tells where it ends. */
  readonly tip: Tip | null;
  readonly reach: number;
}

/** An area as strokes no wider than `widest`, if it is nothing else; `on` is scratch. */
export function strokesOf(pixels: Int32Array, on: Uint8Array, picture: Measured, widest: number): FoundStroke[] | null {
  for (const q of pixels) on[q] = 1;
  const graph = graphOf(pixels, on, picture.stride, widest);
  if (!graph || graph.branches.length > branchesMax) return null;
  const paths = pathsOf(graph, picture, pixels.length);
  if (!paths || paths.length === 0 || paths.length > pathsMax) return null;
  const free = paths.map((path) => (path.closed ? [] : [freeEnd(path, 0, picture), freeEnd(path, 1, picture)]));
  if (free.flat().some((end) => end && !end.abuts && !end.tip)) return null;
  // A tip that goes on much farther ends at another stroke of the area.
  const tips = free.flatMap((ends, i) =>
    ends.flatMap((end) => (end?.tip && end.tip.beyond < 1.5 * paths[i].width + 2 ? [end.tip] : [])),
  );
  const total = (of: (tip: Tip) => number) => tips.reduce((sum, tip) => sum + of(tip), 0);
  const widestFound = Math.max(...paths.map(({ width }) => width));
  // The ends of a thin line say little of how they are cut.
  const sure = widestFound < 3 ? 0.4 : 0.7;
  const round = widestFound >= 1.8 && total((tip) => tip.round) < sure * total((tip) => tip.square);
  const cap = round ? "round" : "butt";
  const strokes = paths.map((path, i): FoundStroke => {
    const { width, closed, way, isEven: isMeasured } = path;
    const points = pointsOf(path);
    const [start, end] = free[i];
    const ends: Ends = closed
      ? [null, null]
      : [start ? tipOf(start, width, cap) : path.start, end ? tipOf(end, width, cap) : path.end];
    const shape = fitStroke(points, width, closed, ends);
    const abuts = [start?.abuts === true, end?.abuts === true] as const;
    const seen = [Boolean(start?.tip), Boolean(end?.tip)] as const;
    return { shape, width, cap, closed, points, ends, abuts, tips: seen, way, isMeasured };
  });
  return strokes.length === 1 && isBar(strokes[0]) ? null : strokes;
}

/** Points along a path: its samples, or where it was thinned to. */
function pointsOf({ isEven, samples, way, start, end }: Path): readonly Place[] {
  if (isEven) return samples;
  return [...(start ? [start] : []), ...way, ...(end ? [end] : [])];
}

/** What a middle line is drawn as. */
export function fitStroke(points: readonly Place[], width: number, closed: boolean, ends: Ends): Shape {
  return closed ? (roundShape(points, roundMissMax) ?? fitClosed(points, width)) : fitOpen(points, width, ends);
}

/** How far round shapes may miss their measured middle, px: renderers draw arcs as short lines. */
const roundMissMax = 1.4 * missMax;

const pathsMax = 400;
/** What branches more often is a tangle, or a texture. */
const branchesMax = 200;

/** A short or wide bar by itself is a rectangle. */
function isBar({ shape, width, cap }: FoundStroke): boolean {
  if (shape.kind !== "line" || cap === "round") return false;
  const length = lengthOf(shape.x2 - shape.x1, shape.y2 - shape.y1);
  return length < 6 * width || width > lineWidthMax;
}

const lineWidthMax = 6.3;

function tipOf({ at, dx, dy, tip, reach }: FreeEnd, width: number, cap: FoundStroke["cap"]): Place {
  // Where something lies over it, it goes on beneath.
  const beyond = tip ? tip.beyond - (cap === "round" ? roundShare * width : 0) : reach + 1;
  return { x: at.x + dx * beyond, y: at.y + dy * beyond };
}

/** By how much of its width a stroke with a round end stops sooner than one that is cut off square and covers as much. */
export const roundShare = Math.PI / 8;

/** The line on which samples come to an end, from it inwards. */
function endLine(points: readonly Place[], side: 0 | 1, width: number) {
  const ordered = side === 0 ? points : points.toReversed();
  const reach = Math.max(4, 1.2 * width);
  const near = ordered.filter(({ x, y }, i) => i < 30 && lengthOf(x - ordered[0].x, y - ordered[0].y) <= reach);
  return lineThrough(near.length > 1 ? near : ordered.slice(0, 2));
}

function freeEnd(path: Path, side: 0 | 1, picture: Measured): FreeEnd | null {
  if (side === 0 ? path.start : path.end) return null;
  const samples = pointsOf(path);
  const { width } = path;
  const line = endLine(samples, side, width);
  const [dx, dy] = [-line.dx, -line.dy];
  const at = onto(line, side === 0 ? samples[0] : samples[samples.length - 1]);
  const { ground, reach, abuts } = lookBeyond(at, line, width, picture);
  const tip = abuts ? null : measureTip(at, { x: dx, y: dy }, width, picture, ground);
  return { at, dx, dy, abuts, tip, reach };
}

/**
 * Looks beyond an end: how far the area goes on, a pixel that is clear of it, and whether another area begins there than
 * lies beside the stroke. `line` points inwards.
 */
function lookBeyond(at: Place, { dx, dy }: StraightLine, width: number, { areas, area, stride, paints }: Measured) {
  const placeOf = (x: number, y: number) => {
    const q = (Math.floor(y) + 1) * stride + Math.floor(x) + 1;
    return q < 0 || q >= areas.length || Math.floor(x) < -1 || Math.floor(x) > stride - 2 ? 0 : q;
  };
  const beside = [1, -1].map((side) => {
    const off = (width / 2 + 1.6) * side;
    const found = (back: number) => areas[placeOf(at.x + dx * back - dy * off, at.y + dy * back + dx * off)];
    // Where another stroke crosses it, nearer to the end.
    let back = Math.max(5, 2 * width);
    while (found(back) === area && back > 2) back /= 2;
    return found(back);
  });
  let ground = 0;
  let reach = 0;
  let abuts = false;
  for (let [s, clear] = [0, 0]; clear < 3; s += 0.5) {
    const q = placeOf(at.x - dx * s, at.y - dy * s);
    if (areas[q] < 0) break;
    ground = q;
    // Across a gap it is another end's.
    if (areas[q] === area && clear < 1) reach = s;
    else {
      clear += 0.5;
      if (!beside.some((one) => areOneGround(one, areas[q], paints))) abuts = true;
    }
  }
  return { ground, reach, abuts };
}

/** Whether two areas are one area, or have one paint, such as the inside of a line's loop and the ground around it. */
function areOneGround(one: number, other: number, paints: Int32Array): boolean {
  return one === other || (one >= 0 && other >= 0 && paints[one] >= 0 && paints[one] === paints[other]);
}
