import { lengthOf } from "../curves/length.ts";
import type { AreaMap } from "../regions/components.ts";
import { median } from "./paths.ts";

/** What thickParts marks pixels with, in the order of `AreaMap.areas`; all 0 before and after. */
export type Marks = Uint8Array;
const thick = 1;
const left = 2;

/**
 * Where an area of lines is much thicker than these are: a marker on a curve, an arrow's head. 1 for its pixels there, in
 * the order of `places`; null where it is so nowhere, or nearly everywhere. Source: opening, as in Serra, "Image Analysis and
 * Mathematical Morphology" (1982): what a disc wider than the lines reaches, and the tips that stick out of that.
 */
export function thickParts(places: Int32Array, map: AreaMap, widest: number, marks: Marks): Uint8Array | null {
  const { areas, stride } = map;
  const width = lineWidth(places, areas, stride);
  if (width > widest) return null;
  const core = Math.max(width / 2 + 1.2, 1.15 * width);
  const holes = roundHoles(places, map);
  const isCore = fits(areas, [areas[places[0]], ...holes.map(([q]) => areas[q])], core, stride);
  const cores = [...places.filter(isCore), ...holes.flat().filter(isCore)];
  if (cores.length === 0) return null;
  const filled = holes.reduce((sum, hole) => sum + hole.length, places.length);
  if (cores.length > coresMax * filled) return null;
  const area = areas[places[0]];
  const reached = discOf(core + 0.6, stride);
  for (const q of cores) for (const step of reached) if (areas[q + step] === area) marks[q + step] = thick;
  for (const piece of piecesBeside(places, marks, stride)) {
    if (!isLine(piece, width, stride)) for (const q of piece) marks[q] = thick;
  }
  const found = new Uint8Array(places.length);
  let count = 0;
  for (let i = 0; i < places.length; i++) {
    if (marks[places[i]] === thick) {
      found[i] = 1;
      count += 1;
    }
    marks[places[i]] = 0;
  }
  return count === places.length || count > thickMax * places.length ? null : found;
}

const samplesMax = 400;
const coresMax = 0.5;
const thickMax = 0.8;

/** How wide the area is at most of its places, by how wide it is along rows and columns, px. */
function lineWidth(places: Int32Array, areas: Int32Array, stride: number): number {
  const area = areas[places[0]];
  const run = (q: number, step: number) => {
    let n = 1;
    while (n < runMax && areas[q + n * step] === area) n++;
    return n - 1;
  };
  const widths: number[] = [];
  const every = Math.max(1, Math.floor(places.length / samplesMax));
  for (let i = every >> 1; i < places.length; i += every) {
    const q = places[i];
    const [across, along] = [run(q, -1) + run(q, 1) + 1, run(q, -stride) + run(q, stride) + 1];
    widths.push((across * along) / lengthOf(across, along));
  }
  return median(widths);
}

const runMax = 30;

/** Steps to the pixels of a disc. */
function discOf(radius: number, stride: number): number[] {
  const far = Math.floor(radius);
  const steps: number[] = [];
  for (let y = -far; y <= far; y++)
    for (let x = -far; x <= far; x++) if (x * x + y * y <= radius * radius) steps.push(y * stride + x);
  return steps;
}

/** Whether a disc around a place lies in areas. */
function fits(areas: Int32Array, own: readonly number[], radius: number, stride: number): (q: number) => boolean {
  const far = Math.floor(radius);
  const steps = [far, -far, far * stride, -far * stride, ...discOf(radius, stride)];
  const [first] = own;
  const isOwn = own.length === 1 ? (area: number) => area === first : (area: number) => own.includes(area);
  return (q) => {
    for (let i = 0; i < steps.length; i++) if (!isOwn(areas[q + steps[i]])) return false;
    return true;
  };
}

/** The insides of rings: small areas that are round and have nothing but the area of `places` around them, as their pixels. */
function roundHoles(places: Int32Array, { areas, stride, sizes }: AreaMap): number[][] {
  const area = areas[places[0]];
  const seen = new Set([-1]);
  const found: number[][] = [];
  const around = [-1, 1, -stride, stride];
  for (const q of places) {
    for (const step of around) {
      const other = areas[q + step];
      if (other === area || seen.has(other)) continue;
      seen.add(other);
      const hole = sizes[other] <= holeMax ? roundHole(q + step, area, areas, stride) : null;
      if (hole) found.push(hole);
    }
  }
  return found;
}

function roundHole(from: number, around: number, areas: Int32Array, stride: number): number[] | null {
  const own = areas[from];
  const pixels = new Set([from]);
  for (const q of pixels) {
    for (const step of [-1, 1, -stride, stride]) {
      const next = areas[q + step];
      if (next === own) pixels.add(q + step);
      else if (next !== around) return null;
    }
  }
  const [wide, high] = sizeOf(pixels, stride);
  const isRound = Math.max(wide, high) <= 1.2 * Math.min(wide, high) + 1 && pixels.size >= roundMin * wide * high;
  return isRound ? [...pixels] : null;
}

/** A chart's open marker, and the rings of an icon, have no more within, px. */
const holeMax = 260;
/** Share of its box that a round part fills. */
const roundMin = 0.66;

/** What is left of an area without its thick parts, in pieces. */
function piecesBeside(places: Int32Array, marks: Marks, stride: number): number[][] {
  for (const q of places) if (marks[q] === 0) marks[q] = left;
  const pieces: number[][] = [];
  for (const first of places) {
    if (marks[first] !== left) continue;
    marks[first] = 0;
    const piece = [first];
    for (const q of piece) {
      for (let row = q - stride; row <= q + stride; row += stride) {
        for (let p = row - 1; p <= row + 1; p++) {
          if (marks[p] !== left) continue;
          marks[p] = 0;
          piece.push(p);
        }
      }
    }
    pieces.push(piece);
  }
  return pieces;
}

/** Whether a piece is longer than a tip or a rim. */
function isLine(piece: readonly number[], width: number, stride: number): boolean {
  const [wide, high] = sizeOf(piece, stride);
  return lengthOf(wide, high) >= lineMin + 2.5 * width && piece.length >= 2.2 * width * width;
}

/** Width and height of what pixels lie in. */
function sizeOf(pixels: Iterable<number>, stride: number): readonly [number, number] {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, -1, -1];
  for (const q of pixels) {
    const [x, y] = [q % stride, Math.floor(q / stride)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return [right - left + 1, bottom - top + 1];
}

const lineMin = 3;
