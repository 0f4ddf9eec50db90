import type { AreaMap } from "./components.ts";
import type { Contour, Contours } from "./contours.ts";
import type { Points } from "./outline.ts";
import { type Radial, radialColour } from "./radial-fit.ts";

export interface SnapInput {
  /** Premultiplied source, blends untouched. */
  readonly pixels: Uint8Array;
  readonly map: AreaMap;
  readonly contours: Contours;
  /** Colour planes of all areas, 12 numbers each (colour-model.ts). */
  readonly planes: Float64Array;
  /** Areas whose colour is a radial gradient instead. */
  readonly radials: ReadonlyMap<number, Radial>;
  /** Whether an edge of `area` against `other` lies under what is drawn later. */
  readonly hidden: (area: number, other: number) => boolean;
  /** Most the curve may miss a well-marked edge by, px. */
  readonly tolerance: number;
  /** Whether the outline must have a corner wherever its neighbour changes, so that neighbours share their edges. */
  readonly junctions: boolean;
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
  const { pixels, map, contours, planes, radials, hidden, tolerance, junctions } = input;
  const { areas, stride, width, height } = map;
  const { steps } = contours;
  const area = contour.area;
  const round = radials.size > 0 ? radials : null;
  out.clear();
  let x = contour.x;
  let y = contour.y;
  let wasBorder = false;
  let firstBorder = false;
  let firstShift = 0;
  let lastShift = 0;
  let lastOther = junctions ? otherSide(map, steps[contour.to - 1]!, x, y) : -1;
  for (let i = contour.from; i < contour.to; i++) {
    const direction = steps[i]!;
    const dx = direction === 0 ? 1 : direction === 2 ? -1 : 0;
    const dy = direction === 1 ? 1 : direction === 3 ? -1 : 0;
    // Outward normal, to the left of the step.
    const nx = dy;
    const ny = -dx;
    const ix = direction === 0 || direction === 3 ? x : x - 1;
    const iy = direction === 0 || direction === 1 ? y : y - 1;
    const ox = ix + nx;
    const oy = iy + ny;
    const border = ox < 0 || oy < 0 || ox >= width || oy >= height;
    let shift = 0;
    let allowed = tolerance;
    let push = 0;
    const other = areas[(oy + 1) * stride + ox + 1]!;
    if (junctions && other !== lastOther && !border && lastOther !== -1) out.add(x, y, tolerance, 1);
    lastOther = other;
    if (!border) {
      const at = (iy + 1) * stride + ix + 1;
      const step = ny * stride + nx;
      if (hidden(area, other)) {
        let deep = 1;
        while (deep < depthMax && covered(areas[at + (deep + 1) * step]!, area, hidden)) deep++;
        push = trap * deep;
        allowed = tolerance;
      } else {
        measure(
          pixels,
          width,
          planes,
          round,
          areas,
          area,
          other,
          at,
          step,
          iy * width + ix,
          ny * width + nx,
          ix,
          iy,
          map,
        );
        shift = measured.shift;
        allowed = tolerance * measured.slack;
      }
    }
    if (i === contour.from) {
      firstBorder = border;
      firstShift = shift;
    } else if (border && wasBorder) {
      if (steps[i - 1] !== direction) out.add(x, y, tolerance, 1);
    } else if (border !== wasBorder) {
      // Where the outline meets the picture's edge: the inner step's shift runs along that edge.
      const s = border ? lastShift : shift;
      const d = border ? steps[i - 1]! : direction;
      const mx = d === 1 ? s : d === 3 ? -s : 0;
      const my = d === 0 ? -s : d === 2 ? s : 0;
      out.add(x + mx, y + my, tolerance, 1);
    }
    if (!border) out.add(x + dx / 2 + nx * shift, y + dy / 2 + ny * shift, allowed, 0, push);
    wasBorder = border;
    lastShift = shift;
    x += dx;
    y += dy;
  }
  const lastDirection = steps[contour.to - 1]!;
  if (wasBorder && firstBorder) {
    if (lastDirection !== steps[contour.from]) out.add(x, y, tolerance, 1);
  } else if (wasBorder !== firstBorder) {
    const s = firstBorder ? lastShift : firstShift;
    const d = firstBorder ? lastDirection : steps[contour.from]!;
    out.add(x + (d === 1 ? s : d === 3 ? -s : 0), y + (d === 0 ? -s : d === 2 ? s : 0), tolerance, 1);
  }
  pushOut(out);
}

/** What lies across the last step of an outline that starts at (x, y). */
function otherSide({ areas, stride }: AreaMap, direction: number, x: number, y: number): number {
  const px = direction === 1 || direction === 2 ? x : x - 1;
  const py = direction < 2 ? y - 1 : y;
  return areas[(py + 1) * stride + px + 1]!;
}

/** Moves hidden points outwards, across the general run of the outline rather than across their own step. */
function pushOut({ x, y, tolerance, push, corner, count: n }: Points): void {
  if (n < 3) return;
  if (pushedX.length < n) {
    pushedX = new Float64Array(n * 2);
    pushedY = new Float64Array(n * 2);
  }
  for (let i = 0, last = 9; i < 2 * n; i++) {
    const j = i < n ? i : i - n;
    last = push[j] = Math.min(push[j]!, last + deepening);
  }
  for (let i = 2 * n - 1, last = 9; i >= 0; i--) {
    const j = i < n ? i : i - n;
    last = push[j] = Math.min(push[j]!, last + deepening);
    if (last > 0) tolerance[j] = Math.max(0.3, last * stray);
  }
  const reach = Math.min(3, (n - 1) >> 1);
  for (let i = 0; i < n; i++) {
    pushedX[i] = x[i]!;
    pushedY[i] = y[i]!;
    if (push[i] === 0) continue;
    let sx = x[i]!;
    let sy = y[i]!;
    let dx = 0;
    let dy = 0;
    let count = 1;
    let smooth = true;
    for (let k = 1; k <= reach; k++) {
      const a = i - k < 0 ? i - k + n : i - k;
      const b = i + k >= n ? i + k - n : i + k;
      if (corner[a] === 1 || corner[b] === 1) break;
      dx += x[b]! - x[a]!;
      dy += y[b]! - y[a]!;
      // Averaged with the hidden only: a short hidden end must not be drawn back from under its neighbour.
      smooth &&= push[a]! > 0 && push[b]! > 0;
      if (!smooth) continue;
      sx += x[a]! + x[b]!;
      sy += y[a]! + y[b]!;
      count += 2;
    }
    const length = Math.sqrt(dx * dx + dy * dy);
    if (length === 0) continue;
    pushedX[i] = sx / count + (dy / length) * push[i]!;
    pushedY[i] = sy / count - (dx / length) * push[i]!;
  }
  for (let i = 0; i < n; i++) {
    x[i] = pushedX[i]!;
    y[i] = pushedY[i]!;
  }
}

let pushedX = new Float64Array(4096);
let pushedY = new Float64Array(4096);

/** Share of the covered depth by which a hidden edge is pushed under its neighbour, and by which it may then stray. */
const trap = 0.7;
const stray = 0.75;
const depthMax = 5;
/** A trap begins this shallow where an edge goes out of sight, and deepens by as much per step. */
const deepening = 0.6;

function covered(other: number, area: number, hidden: SnapInput["hidden"]): boolean {
  return other >= 0 && other !== area && hidden(area, other);
}

const contrastSquaredMin = 64;
const measured = { shift: 0, slack: 1 };
const inner = new Float64Array(4);
const outer = new Float64Array(4);

function measure(
  pixels: Uint8Array,
  width: number,
  planes: Float64Array,
  radials: ReadonlyMap<number, Radial> | null,
  areas: Int32Array,
  area: number,
  other: number,
  at: number,
  step: number,
  pixel: number,
  pixelStep: number,
  ix: number,
  iy: number,
  map: AreaMap,
): void {
  const px = ix + 0.5 - width / 2;
  const py = iy + 0.5 - map.height / 2;
  let span = 0;
  for (let c = 0, i = area * 12, o = other * 12; c < 4; c++, i += 3, o += 3) {
    inner[c] = planes[i]! + planes[i + 1]! * px + planes[i + 2]! * py;
    outer[c] = planes[o]! + planes[o + 1]! * px + planes[o + 2]! * py;
  }
  const innerRound = radials?.get(area);
  const outerRound = radials?.get(other);
  if (innerRound) radialColour(innerRound, ix + 0.5, iy + 0.5, inner);
  if (outerRound) radialColour(outerRound, ix + 0.5, iy + 0.5, outer);
  for (let c = 0; c < 4; c++) span += (inner[c]! - outer[c]!) ** 2;
  if (span < contrastSquaredMin) {
    measured.shift = 0;
    measured.slack = 2.5;
    return;
  }
  const inside2 = areas[at - step] === area;
  const outside2 = areas[at + 2 * step] === other;
  const here = coverage(pixels, pixel, span) - 1;
  const there = coverage(pixels, pixel + pixelStep, span);
  // A line one pixel wide shares its coverage between its two edges.
  let shift = (inside2 ? here : here / 2) + (outside2 ? there : there / 2);
  if (inside2 && areas[at - 2 * step] === area) {
    const t = coverage(pixels, pixel - pixelStep, span);
    if (t < 0.88) {
      // Where a line thinner than its pixels ends, they are no fuller further in.
      const thin = endsHere(areas, area, at, step, map.stride);
      const full = thin ? Math.max(0.1, coverage(pixels, pixel - 2 * pixelStep, span)) : 1;
      shift = Math.min(0, (here + 1) / full - 1) + (outside2 ? there : there / 2) / full;
      if (t < 0.88 * full) shift += t / full - 1;
    }
  }
  if (outside2 && areas[at + 3 * step] === other) {
    const t = coverage(pixels, pixel + 2 * pixelStep, span);
    if (t > 0.12) shift += t;
  }
  measured.shift = Math.max(-0.95, Math.min(0.95, shift));
  measured.slack = Math.min(2.5, Math.max(0.8, Math.sqrt(90 / Math.sqrt(span))));
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
  let dot = 0;
  for (let c = 0, i = pixel * 4; c < 4; c++, i++) dot += (pixels[i]! - outer[c]!) * (inner[c]! - outer[c]!);
  return Math.max(0, Math.min(1, dot / span));
}
