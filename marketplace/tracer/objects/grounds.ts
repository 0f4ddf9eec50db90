import type { Areas } from "../regions/areas.ts";
import { find, unite } from "../regions/union-find.ts";
import { type AreaShapes, colourOff } from "./shapes-of-areas.ts";

/** What other things stand on. */
export interface Grounds {
  /** 1 for the background, its gaps and what is transparent. */
  readonly ground: Uint8Array;
  /** The stage an area is of, named by one of its areas, or -1: what is so large that things lie on it, not in it. */
  readonly stageOf: Int32Array;
}

export type GroundAreas = Pick<Areas, "map" | "empty" | "background" | "paints">;

/**
 * The background and the gaps through which it is seen, and the stages: hills, the sea, a screen, a plate that fills the
 * picture. Parts of one paint are one stage, and so is a plate with its rim.
 */
export function groundsOf(areas: GroundAreas, shapes: AreaShapes, runOf: Int32Array): Grounds {
  const { empty, background } = areas;
  const ground = Uint8Array.from(empty, (nothing, a) => (nothing === 1 || background?.areas[a] === 1 ? 1 : 0));
  markGaps(areas, shapes, runOf, ground);
  const stages = stagesOf(areas, shapes, (a) => ground[a] === 0 && runOf[a] < 0);
  const stageOf = Int32Array.from(stages, (is, a) => (is === 1 ? a : -1));
  // From the outside in, so that a rim, the plate in it and what is the face of that are one.
  const order = Array.from(stages.keys()).sort((a, b) => shapes.filled[b] - shapes.filled[a] || a - b);
  for (const a of order) {
    const around = shapes.inside[a];
    if (ground[a] === 1 || around < 0 || stageOf[around] < 0) continue;
    if (shapes.filled[a] < faceShareMin * shapes.filled[around]) continue;
    if (stages[around] === 1 && shapes.border[around] > 0) continue;
    stageOf[a] = stageOf[around];
    stages[a] = 1;
  }
  return { ground, stageOf: joinedByPaint(areas, shapes, stageOf) };
}

const faceShareMin = 0.55;

/** Marks gaps: areas in which nothing lies and that show what lies beneath the area around them. */
function markGaps(
  { map, paints, background }: GroundAreas,
  shapes: AreaShapes,
  runOf: Int32Array,
  ground: Uint8Array,
): void {
  if (!background) return;
  const { r, g, b } = background.colour;
  const { colours, inside, filled } = shapes;
  const main = background.areas.indexOf(1);
  for (let a = 0; a < map.count; a++) {
    if (ground[a] === 1 || runOf[a] >= 0 || filled[a] !== map.sizes[a]) continue;
    const samePaint = paints[a] >= 0 && paints[a] === paints[main];
    const off = Math.max(...[r, g, b].map((level, c) => Math.abs(level - colours[a * 4 + c])));
    const around = inside[a] < 0 ? -1 : inside[inside[a]];
    const seenThrough = around >= 0 && ground[around] === 1 && colourOff(shapes, a, around) <= levelsAlike;
    if (samePaint || (off <= levelsAlike && colours[a * 4 + 3] > 252) || seenThrough) ground[a] = 1;
  }
}

const levelsAlike = 4;

/** Plates, and what reaches across the picture or along much of its edge, counted with all of its paint beside it. */
function stagesOf({ map, paints }: GroundAreas, shapes: AreaShapes, may: (area: number) => boolean): Uint8Array {
  const { width, height, count, sizes } = map;
  const { boxes, border, filled, inside } = shapes;
  const reaches = new Map<string, Reach>();
  const keyOf = (a: number) => (paints[a] < 0 ? `${a}` : `${paints[a]} in ${inside[a]}`);
  for (let a = 0; a < count; a++) {
    if (!may(a)) continue;
    const box = boxes.subarray(a * 4, a * 4 + 4);
    const reach = reaches.get(keyOf(a)) ?? { box: [width, height, 0, 0], border: 0, size: 0 };
    reach.box = reach.box.map((v, i) => (i < 2 ? Math.min(v, box[i]) : Math.max(v, box[i])));
    reach.border += border[a];
    reach.size += sizes[a];
    reaches.set(keyOf(a), reach);
  }
  const stages = new Uint8Array(count);
  for (let a = 0; a < count; a++) {
    const reach = may(a) ? reaches.get(keyOf(a)) : undefined;
    if (!reach) continue;
    const [left, top, right, bottom] = reach.box;
    const isAcross = (left === 0 && right === width) || (top === 0 && bottom === height);
    const isWide = isAcross && reach.size > acrossShareMin * width * height;
    const box = boxes.subarray(a * 4, a * 4 + 4);
    const isPlate =
      filled[a] > plateShareMin * width * height && filled[a] > compactMin * (box[2] - box[0]) * (box[3] - box[1]);
    stages[a] = isPlate || isWide || reach.border > borderShareMin * 2 * (width + height) ? 1 : 0;
  }
  return stages;
}

interface Reach {
  box: number[];
  border: number;
  size: number;
}

const acrossShareMin = 0.03;
const borderShareMin = 0.2;
const plateShareMin = 0.33;
/** A disc fills π/4 of its box. */
const compactMin = 0.76;

/** One stage for all of a paint; what things in front cut off from one is of it, too. */
function joinedByPaint({ paints, map }: GroundAreas, { inside, border }: AreaShapes, stageOf: Int32Array): Int32Array {
  const parent = Int32Array.from(stageOf, (_, a) => a);
  const first = new Map<number, number>();
  stageOf.forEach((stage, a) => {
    if (stage < 0) return;
    unite(parent, stage, a);
    if (paints[a] < 0) return;
    unite(parent, first.get(paints[a]) ?? a, a);
    if (!first.has(paints[a])) first.set(paints[a], a);
  });
  for (let a = 0; a < map.count; a++) {
    const stage = stageOf[a] < 0 && paints[a] >= 0 ? (first.get(paints[a]) ?? -1) : -1;
    if (stage < 0 || (border[a] === 0 && inside[a] !== inside[stage])) continue;
    stageOf[a] = stage;
    unite(parent, stage, a);
  }
  return stageOf.map((stage, a) => (stage < 0 ? -1 : find(parent, a)));
}
