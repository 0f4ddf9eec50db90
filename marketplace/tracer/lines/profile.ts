import { lengthOf } from "../curves/length.ts";
import type { Branch } from "./graph.ts";
import type { StraightLine } from "./straight-line.ts";

/** A place on the middle line of a stroke, and how wide it is there, px. */
export interface Sample {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** A picture in which one area's strokes are measured. */
export interface Measured {
  /** Premultiplied source, blends untouched. */
  readonly pixels: Uint8Array;
  /** Area per pixel with a border of -1 (components.ts). */
  readonly areas: Int32Array;
  readonly stride: number;
  readonly width: number;
  readonly area: number;
  /** The area's colour, four channels. */
  readonly ink: readonly number[];
  /** 1 for areas too narrow to be anything's ground. */
  readonly isNarrow: Uint8Array;
  /** The paint of each area, or -1 (areas.ts). */
  readonly paints: Int32Array;
}

/**
 * Where a branch's middle really runs. Across each of its pixels, along the row or the column, coverage adds up to the
 * stroke's width, and its centre of mass lies on the middle line, whatever the pixels' borders. Places with neighbours too
 * near to tell are left out. Source: the method of moments, as in Lyvers et al., "Subpixel Measurements Using a Moment-Based
 * Edge Operator" (1989). `every` is at how many pixels it is measured.
 */
export function sampleBranch({ pixels, closed }: Branch, picture: Measured, expected: number, every = 1): Sample[] {
  const { stride } = picture;
  const n = pixels.length;
  const reach = Math.max(2, Math.min(6, Math.round(expected)));
  const at = (i: number) => (closed ? pixels[(i + n) % n] : pixels[Math.max(0, Math.min(n - 1, i))]);
  const samples: Sample[] = [];
  let [lastX, lastY] = [Number.NaN, Number.NaN];
  for (let i = every >> 1; i < n; i += every) {
    const [a, b] = [at(i - reach), at(i + reach)];
    const isInner = closed || (i >= reach && i + reach < n);
    if (expected >= normalMin && isInner && bends(a, pixels[i], b, stride)) {
      const sample = sampleNormal(pixels[i], a, b, picture, expected * 3 + 4);
      if (sample) samples.push(sample);
      continue;
    }
    const dx = (b % stride) - (a % stride);
    const dy = Math.floor(b / stride) - Math.floor(a / stride);
    const steep = Math.abs(dy) >= Math.abs(dx);
    const across = measureAcross(pixels[i], steep ? 1 : stride, picture, expected * 3 + 4);
    if (!across) continue;
    const x = (pixels[i] % stride) - 0.5 + (steep ? across.centre : 0);
    const y = Math.floor(pixels[i] / stride) - 0.5 + (steep ? 0 : across.centre);
    // Two pixels of one row or column measure the same.
    if (steep ? y === lastY && Math.abs(x - lastX) < 0.5 : x === lastX && Math.abs(y - lastY) < 0.5) continue;
    [lastX, lastY] = [x, y];
    const slant = lengthOf(dx, dy) || 1;
    samples.push({ x, y, width: (across.mass * (steep ? Math.abs(dy) : Math.abs(dx))) / slant });
  }
  return samples;
}

/** Where wider strokes bend they are measured across their own course, px: rows and columns cross both their sides there. */
const normalMin = 3;

function bends(before: number, q: number, after: number, stride: number): boolean {
  const [ax, ay] = [(q % stride) - (before % stride), Math.floor(q / stride) - Math.floor(before / stride)];
  const [bx, by] = [(after % stride) - (q % stride), Math.floor(after / stride) - Math.floor(q / stride)];
  return ax * bx + ay * by < bendMin * lengthOf(ax, ay) * lengthOf(bx, by);
}

/** Cosine of some 18°. */
const bendMin = 0.95;
const dense = 0.25;

/** The middle at a pixel of a branch, across the way from one of its pixels before that to one after it. */
function sampleNormal(q: number, before: number, after: number, picture: Measured, farthest: number): Sample | null {
  const { stride } = picture;
  const dx = (after % stride) - (before % stride);
  const dy = Math.floor(after / stride) - Math.floor(before / stride);
  const long = lengthOf(dx, dy);
  if (long === 0) return null;
  const [nx, ny] = [-dy / long, dx / long];
  const [x, y] = [(q % stride) - 0.5, Math.floor(q / stride) - 0.5];
  const one = halfNormal({ x, y, dx: -nx, dy: -ny }, picture, farthest);
  const other = one && halfNormal({ x, y, dx: nx, dy: ny }, picture, farthest);
  if (!one || !other) return null;
  const mass = one.mass + other.mass;
  const off = (other.moment - one.moment) / mass;
  return { x: x + nx * off, y: y + ny * off, width: mass };
}

/** From a place outwards to where the ground begins. */
function halfNormal({ x, y, dx, dy }: StraightLine, picture: Measured, farthest: number) {
  const { areas, area, stride, ink, isNarrow } = picture;
  const placeAt = (t: number) => (Math.floor(y + dy * t) + 1) * stride + Math.floor(x + dx * t) + 1;
  let edge = 0.5;
  while (areas[placeAt(edge)] === area) {
    edge += 0.5;
    if (edge > farthest) return null;
  }
  const beside = areas[placeAt(edge)];
  const [near, far] = [placeAt(edge + 1), placeAt(edge + 2)];
  const on = areas[near];
  if (beside < 0 || on < 0 || on === area || isNarrow[beside] === 1 || isNarrow[on] === 1) return null;
  let span = 0;
  for (let c = 0; c < 4; c++) {
    ground[c] = levelAt(areas[far] === on ? far : near, c, picture);
    span += (ink[c] - ground[c]) ** 2;
  }
  if (span < contrastSquaredMin) return null;
  let mass = 0;
  let moment = 0;
  for (let t = dense / 2; t < edge + 1.5; t += dense) {
    const share = coverageBetween(x + dx * t, y + dy * t, picture, span) * dense;
    mass += share;
    moment += share * t;
  }
  return { mass, moment };
}

/** The coverage at a place between the middles of pixels. */
function coverageBetween(x: number, y: number, picture: Measured, span: number): number {
  const { stride } = picture;
  const [left, top] = [Math.floor(x - 0.5), Math.floor(y - 0.5)];
  const [u, v] = [x - 0.5 - left, y - 0.5 - top];
  const q = (top + 1) * stride + left + 1;
  const upper = coverage(q, picture, span) * (1 - u) + coverage(q + 1, picture, span) * u;
  const lower = coverage(q + stride, picture, span) * (1 - u) + coverage(q + stride + 1, picture, span) * u;
  return upper * (1 - v) + lower * v;
}

/** Coverage along a row or column through pixel `q` of a stroke: its sum, and its centre from there. */
function measureAcross(q: number, step: number, picture: Measured, farthest: number) {
  const one = halfAcross(q, -step, picture, farthest);
  const other = halfAcross(q, step, picture, farthest);
  if (!one || !other) return null;
  const here = (one.here + other.here) / 2;
  const mass = here + one.mass + other.mass;
  return { mass, centre: (other.moment - one.moment) / mass };
}

const contrastSquaredMin = 30 * 30;
const ground = new Float64Array(4);

/** From pixel `q` outwards to where the ground begins. */
function halfAcross(q: number, step: number, picture: Measured, farthest: number) {
  const { areas, area, ink, isNarrow } = picture;
  let edge = 1;
  while (areas[q + edge * step] === area) if (++edge > farthest) return null;
  const beside = areas[q + edge * step];
  // The picture's edge cuts it off: what is seen is all there is.
  if (beside < 0) return { ...summed(q, step, edge - 1, picture, 0), here: 1 };
  const on = areas[q + (edge + 1) * step];
  const place = on < 0 || on === area ? edge : areas[q + (edge + 2) * step] === on ? edge + 2 : edge + 1;
  if (on === area || isNarrow[beside] === 1 || (on >= 0 && isNarrow[on] === 1)) return null;
  let span = 0;
  for (let c = 0; c < 4; c++) {
    ground[c] = levelAt(q + place * step, c, picture);
    span += (ink[c] - ground[c]) ** 2;
  }
  if (span < contrastSquaredMin) return null;
  return { ...summed(q, step, edge + (on < 0 ? 0 : 1), picture, span), here: coverage(q, picture, span) };
}

function summed(q: number, step: number, count: number, picture: Measured, span: number) {
  let mass = 0;
  let moment = 0;
  for (let d = 1; d <= count; d++) {
    const share = span === 0 ? 1 : coverage(q + d * step, picture, span);
    mass += share;
    moment += share * d;
  }
  return { mass, moment };
}

function levelAt(q: number, channel: number, { pixels, stride, width }: Measured): number {
  return pixels[((Math.floor(q / stride) - 1) * width + (q % stride) - 1) * 4 + channel];
}

/** How much of a pixel the ink covers, 0..1, on the ground found last. */
function coverage(q: number, picture: Measured, span: number): number {
  const { ink } = picture;
  let dot = 0;
  for (let c = 0; c < 4; c++) dot += (levelAt(q, c, picture) - ground[c]) * (ink[c] - ground[c]);
  const share = dot / span;
  return share < faintest ? 0 : Math.min(1, share);
}

/**
 * How much of a pixel at the edge of the area its ink covers; null where there is no edge, or where a third area is too
 * near to tell. Among the pixels around it, the one that differs most from the ink is taken for the ground: along an edge
 * that is nearly level there are only blends.
 */
export function shareOf(q: number, picture: Measured): number | null {
  const { areas, area, stride, isNarrow, ink } = picture;
  if (isNearThird(q, picture)) return null;
  for (const far of [1, 2]) {
    let [clearest, span] = [-1, 0];
    for (const step of [far, -far, far * stride, -far * stride]) {
      if (areas[q] !== area && areas[q - step] !== area) continue;
      const on = areas[q + step] ?? -1;
      if (on < 0 || on === area || isNarrow[on] === 1) continue;
      const place = areas[q + 2 * step] === on ? q + 2 * step : q + step;
      let off = 0;
      for (let c = 0; c < 4; c++) off += (ink[c] - levelAt(place, c, picture)) ** 2;
      if (off > span) [clearest, span] = [place, off];
    }
    if (clearest < 0) continue;
    if (span < contrastSquaredMin) return null;
    for (let c = 0; c < 4; c++) ground[c] = levelAt(clearest, c, picture);
    return coverage(q, picture, span);
  }
  return null;
}

/** Whether two other areas than the one that is measured lie within two pixels. */
function isNearThird(q: number, { areas, area, stride }: Measured): boolean {
  let other = -1;
  for (let dy = -2; dy <= 2; dy++) {
    for (let p = q + dy * stride - 2, last = p + 4; p <= last; p++) {
      const near = areas[p] ?? -1;
      if (near < 0 || near === area || near === other) continue;
      if (other >= 0) return true;
      other = near;
    }
  }
  return false;
}

/** Less than this is noise. */
const faintest = 0.03;

export interface Tip {
  /** How far beyond the last sample the ink reaches if the end is square, px. */
  readonly beyond: number;
  /** How much better a round end explains it than a square one: the squared errors of both. */
  readonly square: number;
  readonly round: number;
}

/**
 * Where a stroke ends: the ink beyond its last sample, by the stroke's width, is what it goes on for. `(dx, dy)` points out
 * of the stroke; the ground is that of pixel `groundAt`. Null where the ink does not differ from that: the picture's edge
 * cuts the stroke off.
 */
export function measureTip(
  { x, y }: Pick<Sample, "x" | "y">,
  { x: dx, y: dy }: { readonly x: number; readonly y: number },
  width: number,
  picture: Measured,
  groundAt: number,
): Tip | null {
  const { stride, areas } = picture;
  let span = 0;
  for (let c = 0; c < 4; c++) {
    ground[c] = levelAt(groundAt, c, picture);
    span += (picture.ink[c] - ground[c]) ** 2;
  }
  if (span < contrastSquaredMin) return null;
  const far = Math.ceil(width * 1.5 + 6);
  const cells: { along: number; off: number; share: number }[] = [];
  let mass = 0;
  for (let py = Math.floor(y) - far; py <= y + far; py++) {
    for (let px = Math.floor(x) - far; px <= x + far; px++) {
      const q = (py + 1) * stride + px + 1;
      if (px < 0 || py < 0 || px >= picture.width || q >= areas.length - stride || areas[q] < 0) continue;
      const along = (px + 0.5 - x) * dx + (py + 0.5 - y) * dy;
      const off = (px + 0.5 - x) * dy - (py + 0.5 - y) * dx;
      if (along < -0.5 || along > far || Math.abs(off) > width / 2 + 1.2) continue;
      if (!isBeside(q, picture)) continue;
      const share = coverage(q, picture, span);
      mass += share * Math.min(1, along + 0.5);
      if (along > 0.5) cells.push({ along, off, share });
    }
  }
  const beyond = mass / width;
  const half = width / 2;
  let square = 0;
  let round = 0;
  for (const { along, off, share } of cells) {
    square += (share - covered(along, off, half, beyond, false)) ** 2;
    round += (share - covered(along, off, half, beyond - (Math.PI * width) / 8, true)) ** 2;
  }
  return { beyond, square, round };
}

/** Whether a pixel is of the area or touches it. */
function isBeside(q: number, { areas, area, stride }: Measured): boolean {
  for (let dy = -stride; dy <= stride; dy += stride)
    for (let p = q + dy - 1; p <= q + dy + 1; p++) if (areas[p] === area) return true;
  return false;
}

/** The share of a pixel within a stroke that ends at `end`, by sixteen points of it. */
function covered(along: number, off: number, half: number, end: number, round: boolean): number {
  let n = 0;
  for (let i = 0; i < 16; i++) {
    const u = along + ((i & 3) - 1.5) / 4;
    const v = Math.abs(off + ((i >> 2) - 1.5) / 4);
    if (v > half) continue;
    if (u <= end || (round && (u - end) ** 2 + v * v <= half * half)) n++;
  }
  return n / 16;
}
