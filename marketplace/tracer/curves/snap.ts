import type { AreaMap } from "../regions/components.ts";
import { type Gradient, gradientColour } from "../regions/gradient.ts";
import type { Contour, Contours } from "./contours.ts";
import { leapsOf } from "./leaps.ts";
import { endCorner, narrowEnd, startCorner } from "./narrow-ends.ts";
import type { Points } from "./points.ts";
import { pushOut } from "./trap.ts";

export interface SnapInput {
  /** Premultiplied source, blends untouched. */
  readonly pixels: Uint8Array;
  readonly map: AreaMap;
  readonly contours: Contours;
  /** Colour planes of all areas, 12 numbers each (colour-model.ts). */
  readonly planes: Float64Array;
  /** Areas whose colour is a gradient (gradient.ts) instead. */
  readonly radials: ReadonlyMap<number, Gradient>;
  /** Whether an edge of `area` against `other` lies under what is drawn later. */
  readonly hidden: (area: number, other: number) => boolean;
  /** Most the curve may miss a well-marked edge by, px. */
  readonly tolerance: number;
  /**
   * Most a hidden edge is pushed under its neighbour, px. Less than `depthMax` is so shallow that it must be measured from
   * where the edge really runs.
   */
  readonly trapMax: number;
  /** Where strokes are drawn over the areas later: what runs beneath them is not seen. */
  readonly lines?: { readonly near: Uint8Array } | null;
}

/**
 * Step 5: moves each unit of outline to where the edge really runs. The source pixels on both sides are mixtures of the
 * two areas' colours; how much of each they hold says how far the edge lies from the pixel border. Hidden edges are
 * pushed under the neighbour drawn later (a trap), so that no gap can show.
 *
 * Source: area-coverage reconstruction, as in Hoshyari et al., "Perception-Driven Semi-Structured Boundary Vectorization"
 * (2018) §3; traps as in prepress.
 */
export function snapContour(input: SnapInput, contour: Contour, out: Points): void {
  const { map, tolerance, lines } = input;
  const { steps } = input.contours;
  out.clear();
  crack.area = contour.area;
  let { x, y } = contour;
  const first = { border: false, shift: 0 };
  const last = { border: false, shift: 0 };
  const leaps = lines ? leapsOf(contour, input.contours, map, lines.near) : null;
  for (let i = contour.from; i < contour.to; i++) {
    const direction = steps[i];
    moveCrack(map, direction, x, y);
    const { border, normalX, normalY } = crack;
    measure(input);
    const { shift } = measured;
    if (i === contour.from) {
      first.border = border;
      first.shift = shift;
    } else if (border && last.border) {
      if (steps[i - 1] !== direction) out.add(x, y, tolerance, 1);
    } else if (border !== last.border) {
      // Where the outline meets the picture's edge: the inner step's shift runs along that edge.
      const by = border ? last.shift : shift;
      const along = border ? steps[i - 1] : direction;
      out.add(x + outwardsX(along, by), y + outwardsY(along, by), tolerance, 1);
    }
    const dx = -normalY;
    const dy = normalX;
    const isOpen = !border && leaps?.[i - contour.from] !== 1;
    const corners = isOpen ? narrowEnd(steps, contour, i) : 0;
    if (isOpen && (corners === 0 || !addCorners(input, contour, { corners, step: i, x, y }, out))) {
      out.add(x + dx / 2 + normalX * shift, y + dy / 2 + normalY * shift, measured.tolerance, 0, measured.push);
      out.beneath[out.count - 1] = measured.beneath || besideLeap(leaps, i - contour.from);
    }
    last.border = border;
    last.shift = shift;
    x += dx;
    y += dy;
  }
  const lastDirection = steps[contour.to - 1];
  if (last.border && first.border) {
    if (lastDirection !== steps[contour.from]) out.add(x, y, tolerance, 1);
  } else if (last.border !== first.border) {
    const by = first.border ? last.shift : first.shift;
    const along = first.border ? lastDirection : steps[contour.from];
    out.add(x + outwardsX(along, by), y + outwardsY(along, by), tolerance, 1);
  }
  pushOut(out, input.trapMax >= depthMax);
}

interface NarrowEnd {
  /** As `narrowEnd` answers them. */
  readonly corners: number;
  readonly step: number;
  readonly x: number;
  readonly y: number;
}

/** Puts the corners of the end of a bar in place of the step that was measured; false where it is none, or not all of it is seen. */
function addCorners(input: SnapInput, contour: Contour, { corners, step, x, y }: NarrowEnd, out: Points): boolean {
  const { steps } = input.contours;
  if (measured.push > 0 || measured.beneath === 1) return false;
  const { from, to } = contour;
  const direction = steps[step];
  const { shift, tolerance, push, beneath } = measured;
  const [alongX, alongY] = [-outwardsY(direction, 1), outwardsX(direction, 1)];
  const before = steps[step === from ? to - 1 : step - 1];
  const sides = [
    { side: before, sideX: x + outwardsY(before, 1), sideY: y - outwardsX(before, 1), atX: x, atY: y },
    {
      side: steps[step + 1 === to ? from : step + 1],
      sideX: x + alongX,
      sideY: y + alongY,
      atX: x + alongX,
      atY: y + alongY,
    },
  ].filter((_, nth) => (corners & (nth === 0 ? startCorner : endCorner)) !== 0);
  const shifts = sides.map(({ side, sideX, sideY }) => {
    moveCrack(input.map, side, sideX, sideY);
    measure(input);
    return crack.border || measured.push > 0 || measured.beneath === 1 ? null : measured.shift;
  });
  const isSeen = !shifts.includes(null);
  if (isSeen) {
    sides.forEach(({ side, atX, atY }, nth) => {
      const by = shifts[nth] ?? 0;
      const px = atX + outwardsX(direction, shift) + outwardsX(side, by);
      out.add(px, atY + outwardsY(direction, shift) + outwardsY(side, by), tolerance, 1);
    });
  }
  Object.assign(measured, { shift, tolerance, push, beneath });
  return isSeen;
}

/** 1 for a step beside such as a stroke hides: it may still be of what lies over the stroke's end. */
function besideLeap(leaps: Uint8Array | null, step: number): 0 | 1 {
  if (!leaps) return 0;
  const n = leaps.length;
  for (let k = -besideMax; k <= besideMax; k++) if (leaps[(step + k + n) % n] === 1) return 1;
  return 0;
}

const besideMax = 2;

/** The outward normal of a step, to its left, times `by`. */
function outwardsX(direction: number, by: number): number {
  return direction === 1 ? by : direction === 3 ? -by : 0;
}

function outwardsY(direction: number, by: number): number {
  return direction === 0 ? -by : direction === 2 ? by : 0;
}

/** The unit of outline that is measured, between a pixel of `area` and one of `other`. Scratch: a picture has millions. */
const crack = {
  area: 0,
  other: 0,
  /** The crack runs along the picture's edge: there is nothing to measure it by. */
  border: false,
  normalX: 0,
  normalY: 0,
  /** The pixel inside, and where it is in the map of areas. */
  x: 0,
  y: 0,
  at: 0,
};

/** Sets all of `crack` but its area, for the step in a direction from (x, y). */
function moveCrack({ areas, stride, width, height }: AreaMap, direction: number, x: number, y: number): void {
  crack.normalX = direction === 1 ? 1 : direction === 3 ? -1 : 0;
  crack.normalY = direction === 0 ? -1 : direction === 2 ? 1 : 0;
  crack.x = direction === 0 || direction === 3 ? x : x - 1;
  crack.y = direction === 0 || direction === 1 ? y : y - 1;
  const outsideX = crack.x + crack.normalX;
  const outsideY = crack.y + crack.normalY;
  crack.border = outsideX < 0 || outsideY < 0 || outsideX >= width || outsideY >= height;
  crack.at = (crack.y + 1) * stride + crack.x + 1;
  crack.other = areas[(outsideY + 1) * stride + outsideX + 1];
}

/** Share of the covered depth by which a hidden edge is pushed under its neighbour. */
const trap = 0.7;
export const depthMax = 5;

/** How many pixels deep an area lies under what is drawn over it later, from the crack outwards. */
function coveredDepth({ map: { areas, stride }, hidden }: SnapInput): number {
  const { area, at, normalX, normalY } = crack;
  const step = normalY * stride + normalX;
  let deep = 1;
  while (deep < depthMax) {
    const other = areas[at + (deep + 1) * step];
    if (other < 0 || other === area || !hidden(area, other)) break;
    deep++;
  }
  return deep;
}

const contrastSquaredMin = 64;
/**
 * What `measure` found: how far outwards the edge lies, how far a curve may miss it, how far it is to be pushed, px; 1 where
 * a stroke lies over it.
 */
const measured = { shift: 0, tolerance: 0, push: 0, beneath: 0 };
/** The colours of the two areas at the crack, four channels each. */
const inner = new Float64Array(4);
const outer = new Float64Array(4);

/** Measures the crack; at the picture's edge there is no shift. */
function measure(input: SnapInput): void {
  measured.shift = 0;
  measured.push = 0;
  measured.beneath = 0;
  measured.tolerance = input.tolerance;
  if (crack.border) return;
  if (input.hidden(crack.area, crack.other)) {
    measured.push = Math.min(input.trapMax, trap * coveredDepth(input));
    if (input.trapMax >= depthMax) return;
  }
  if (isNearLine(input)) {
    measured.beneath = 1;
    measured.tolerance = input.tolerance * 2.5;
    return;
  }
  const span = contrastSquared(input);
  // What a curve misses an edge by counts by its contrast; three quarters of that power, as half the error takes more than half as much again to write.
  const faintness = 90 / Math.sqrt(span);
  if (span >= contrastSquaredMin) measured.shift = Math.max(-0.95, Math.min(0.95, shiftOf(input, span)));
  measured.tolerance = input.tolerance * Math.min(4, Math.max(0.62, Math.sqrt(faintness * Math.sqrt(faintness))));
}

/** Whether a stroke lies on a side of the crack. */
function isNearLine({ lines, map: { width } }: SnapInput): boolean {
  if (!lines) return false;
  const p = crack.y * width + crack.x;
  return lines.near[p] === 1 || lines.near[p + crack.normalY * width + crack.normalX] === 1;
}

/** Sets `inner` and `outer`, and tells how far they lie apart, squared. */
function contrastSquared({ map: { width, height }, planes, radials }: SnapInput): number {
  const { area, other, x, y } = crack;
  const px = x + 0.5 - width / 2;
  const py = y + 0.5 - height / 2;
  for (let c = 0, i = area * 12, o = other * 12; c < 4; c++, i += 3, o += 3) {
    inner[c] = planes[i] + planes[i + 1] * px + planes[i + 2] * py;
    outer[c] = planes[o] + planes[o + 1] * px + planes[o + 2] * py;
  }
  if (radials.size > 0) {
    const innerRound = radials.get(area);
    const outerRound = radials.get(other);
    if (innerRound) gradientColour(innerRound, x + 0.5, y + 0.5, inner);
    if (outerRound) gradientColour(outerRound, x + 0.5, y + 0.5, outer);
  }
  let span = 0;
  for (let c = 0; c < 4; c++) span += (inner[c] - outer[c]) ** 2;
  return span;
}

/** How far outwards the edge lies, px, by what the pixels on both sides hold of the two colours. */
function shiftOf({ pixels, map: { areas, stride, width } }: SnapInput, span: number): number {
  const { area, other, at, normalX, normalY } = crack;
  const step = normalY * stride + normalX;
  const pixel = crack.y * width + crack.x;
  const pixelStep = normalY * width + normalX;
  const inside2 = areas[at - step] === area;
  const outside2 = areas[at + 2 * step] === other;
  const here = coverage(pixels, pixel, span) - 1;
  const there = coverage(pixels, pixel + pixelStep, span);
  // A line one pixel wide shares its coverage between its two edges.
  let shift = (inside2 ? here : here / 2) + (outside2 ? there : there / 2);
  if (inside2 && areas[at - 2 * step] === area) {
    const deeper = coverage(pixels, pixel - pixelStep, span);
    if (deeper < 0.88) {
      // Where a line thinner than its pixels ends, they are no fuller further in.
      const thin = endsHere(areas, area, at, step, stride);
      const full = thin ? Math.max(0.1, coverage(pixels, pixel - 2 * pixelStep, span)) : 1;
      shift = Math.min(0, (here + 1) / full - 1) + (outside2 ? there : there / 2) / full;
      if (deeper < 0.88 * full) shift += deeper / full - 1;
    }
  }
  if (outside2 && areas[at + 3 * step] === other) {
    const farther = coverage(pixels, pixel + 2 * pixelStep, span);
    if (farther > 0.12) shift += farther;
  }
  return shift;
}

/** Whether an area at most two pixels wide ends with pixel `at`, `step` pointing out of it. */
function endsHere(areas: Int32Array, area: number, at: number, step: number, stride: number): boolean {
  const side = step === 1 || step === -1 ? stride : 1;
  if (areas[at + step - side] === area || areas[at + step + side] === area) return false;
  const deep = at - 2 * step;
  if (areas[deep - step] !== area) return false;
  const left = areas[deep - side] === area;
  const right = areas[deep + side] === area;
  if (left && right) return false;
  return left ? areas[deep - 2 * side] !== area : right ? areas[deep + 2 * side] !== area : true;
}

/** How much of a pixel the inner colour covers, 0..1. */
function coverage(pixels: Uint8Array, pixel: number, span: number): number {
  const i = pixel * 4;
  const dot =
    (pixels[i] - outer[0]) * (inner[0] - outer[0]) +
    (pixels[i + 1] - outer[1]) * (inner[1] - outer[1]) +
    (pixels[i + 2] - outer[2]) * (inner[2] - outer[2]) +
    (pixels[i + 3] - outer[3]) * (inner[3] - outer[3]);
  return Math.max(0, Math.min(1, dot / span));
}
