import { lengthOf } from "../curves/length.ts";
import type { Shape } from "../drawing.ts";
import type { Areas } from "../regions/areas.ts";
import { chainOf } from "./dash-chains.ts";
import { isHiddenBetween } from "./missing-dash.ts";
import type { Place } from "./straight-line.ts";

/** A line of equal pieces at equal distances. */
export interface DashedLine {
  readonly shape: Shape;
  readonly width: number;
  /** Length of a piece and of a gap. */
  readonly dashes: readonly [number, number];
  readonly areas: readonly number[];
}

/** A small straight piece of one colour. */
export interface Dash extends Place {
  readonly area: number;
  readonly dx: number;
  readonly dy: number;
  readonly length: number;
  readonly width: number;
}

/**
 * Small areas of one paint that are the dashes of a line, straight where it goes on as far as that. `lifted` has what was
 * taken off each pixel before, or -1; null where nothing was.
 */
export function findDashes(areas: Areas, pixels: Uint8Array, lifted: Int32Array | null): DashedLine[] {
  const byPaint = new Map<number, Dash[]>();
  for (const dash of smallBars(areas, pixels)) {
    const paint = areas.paints[dash.area];
    const list = byPaint.get(paint);
    if (list) list.push(dash);
    else byPaint.set(paint, [dash]);
  }
  const found: DashedLine[] = [];
  const work = { left: workMax };
  const mayMiss = (one: Dash, other: Dash) => isHiddenBetween(one, other, areas, lifted);
  for (const dashes of byPaint.values()) {
    const free = new Set(dashes);
    for (const seed of dashes) {
      if (!free.has(seed)) continue;
      const left = [...free];
      const row = rowOf(seed, left, mayMiss);
      const chain = chainOf(seed, left, work);
      const line = chain && chain.areas.length > chainMore * (row?.length ?? 0) ? chain : row && lineOf(row);
      if (!line) continue;
      for (const dash of left) if (line.areas.includes(dash.area)) free.delete(dash);
      if (isOnGround(line, dashes, areas)) found.push(line);
    }
  }
  return found;
}

/**
 * Whether what is seen between the dashes is also beside them: else these are no dashes, but what shows of a ground between
 * two lines that others cross.
 */
function isOnGround(line: DashedLine, all: readonly Dash[], { map, paints }: Areas): boolean {
  const { flat, width, height } = map;
  const groundAt = (x: number, y: number) => {
    if (x < 0 || y < 0 || x >= width || y >= height) return Number.NaN;
    const area = flat[Math.floor(y) * width + Math.floor(x)];
    return paints[area] >= 0 ? paints[area] : -1 - area;
  };
  const byArea = new Map(all.map((dash) => [dash.area, dash]));
  const row = line.areas.flatMap((area) => byArea.get(area) ?? []);
  const same = row.slice(1).filter((dash, i) => {
    const ground = groundAt((dash.x + row[i].x) / 2, (dash.y + row[i].y) / 2);
    const off = dash.width / 2 + besideBy;
    return [off, -off].every((to) => groundAt(dash.x - dash.dy * to, dash.y + dash.dx * to) === ground);
  });
  return 2 * same.length >= row.length - 1;
}

/** How far beside a dash its ground is looked for, px. */
const besideBy = 1.5;

const sizeMax = 400;
const barsMax = 2000;
const slimMin = 1.6;

/** Areas of one opaque colour that are short straight bars, measured by their coverage. */
function smallBars({ map, planes, opaque, sloped, paints }: Areas, pixels: Uint8Array): Dash[] {
  const { flat, width, height, count, sizes } = map;
  const wanted = Uint8Array.from({ length: count }, (_, a) =>
    sizes[a] >= 3 && sizes[a] <= sizeMax && opaque[a] === 1 && sloped[a] === 0 && paints[a] >= 0 ? 1 : 0,
  );
  const alike = new Map<number, number>();
  for (let a = 0; a < count; a++) if (wanted[a] === 1) alike.set(paints[a], (alike.get(paints[a]) ?? 0) + 1);
  for (let a = 0; a < count; a++) if (wanted[a] === 1 && alike.get(paints[a])! < rowMin) wanted[a] = 0;
  const bars = wanted.reduce((sum, n) => sum + n, 0);
  if (bars < rowMin || bars > barsMax) return [];
  const sums = new Float64Array(count * 6);
  for (let y = 1, p = width + 1; y < height - 1; y++, p += 2) {
    for (let x = 1; x < width - 1; x++, p++) {
      let q = p;
      if (wanted[flat[p]] === 0) {
        if (wanted[flat[p - 1]] === 1) q = p - 1;
        else if (wanted[flat[p + 1]] === 1) q = p + 1;
        else if (wanted[flat[p - width]] === 1) q = p - width;
        else if (wanted[flat[p + width]] === 1) q = p + width;
        else continue;
      }
      const area = flat[q];
      const ground = q === p ? groundBeside(flat, p, width) : flat[p];
      const share = ground < 0 ? 1 : coverage(pixels, planes, area, ground, p);
      const s = area * 6;
      sums[s] += share;
      sums[s + 1] += share * x;
      sums[s + 2] += share * y;
      sums[s + 3] += share * x * x;
      sums[s + 4] += share * x * y;
      sums[s + 5] += share * y * y;
    }
  }
  const found: Dash[] = [];
  for (let a = 0; a < count; a++) {
    const dash = wanted[a] === 1 ? dashOf(a, sums.subarray(a * 6, a * 6 + 6)) : null;
    if (dash) found.push(dash);
  }
  return found;
}

/** Another area beside a pixel, or -1. */
function groundBeside(flat: Int32Array, p: number, width: number): number {
  for (const q of [p - 1, p + 1, p - width, p + width]) if (flat[q] !== flat[p]) return flat[q];
  return -1;
}

/** How much of pixel `p` an area in it or beside it covers. */
function coverage(pixels: Uint8Array, planes: Float64Array, area: number, ground: number, p: number): number {
  let dot = 0;
  let span = 0;
  for (let c = 0; c < 4; c++) {
    const from = planes[ground * 12 + c * 3];
    const whole = planes[area * 12 + c * 3] - from;
    dot += (pixels[p * 4 + c] - from) * whole;
    span += whole * whole;
  }
  const share = span > 0 ? dot / span : 0;
  return share < 0.04 ? 0 : Math.min(1, share);
}

function dashOf(area: number, [n, sx, sy, sxx, sxy, syy]: Float64Array): Dash | null {
  const [x, y] = [sx / n, sy / n];
  const [xx, xy, yy] = [sxx / n - x * x, sxy / n - x * y, syy / n - y * y];
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
  const spread = xx * dx * dx + 2 * xy * dx * dy + yy * dy * dy;
  const across = xx + yy - spread;
  const length = Math.sqrt(Math.max(0, 12 * spread - 1));
  const width = n / length;
  // A bar's pixels lie as evenly across it as they do along it.
  if (!(length > slimMin * width) || 12 * across > (width + 1.2) ** 2 + 1) return null;
  return { area, x: x + 0.5, y: y + 0.5, dx, dy, length, width };
}

const rowMin = 4;
/** Pieces looked at for those that follow others. */
const workMax = 10_000_000;
/** How many more pieces than a straight row a line that bends must have. */
const chainMore = 1.4;

/**
 * The dashes in line with one, as far as they are alike and evenly spaced; null if they are few. `mayMiss`: whether one may be
 * missing between two.
 */
function rowOf(seed: Dash, all: readonly Dash[], mayMiss: (one: Dash, other: Dash) => boolean): Dash[] | null {
  const along = (d: Dash) => (d.x - seed.x) * seed.dx + (d.y - seed.y) * seed.dy;
  const inLine = all
    .filter((d) => {
      const off = Math.abs((d.x - seed.x) * seed.dy - (d.y - seed.y) * seed.dx);
      const turned = Math.abs(d.dx * seed.dy - d.dy * seed.dx);
      return off <= 0.6 + 0.02 * Math.abs(along(d)) && turned < 0.2 && Math.abs(d.width - seed.width) < 0.5;
    })
    .sort((a, b) => along(a) - along(b));
  const place = inLine.indexOf(seed);
  const pitch = Math.min(...[inLine[place - 1], inLine[place + 1]].flatMap((d) => (d ? [Math.abs(along(d))] : [])));
  if (!(pitch < seed.length * 4)) return null;
  const follows = (a: Dash | undefined, b: Dash | undefined) => {
    if (!a || !b) return false;
    const pitches = Math.abs(along(a) - along(b)) / pitch;
    const isNear = (n: number) => Math.abs(pitches - n) < 0.12 + 0.6 / pitch;
    return isNear(1) || (isNear(2) && mayMiss(a, b));
  };
  let [first, last] = [place, place];
  while (follows(inLine[first], inLine[first - 1])) first--;
  while (follows(inLine[last], inLine[last + 1])) last++;
  const row = inLine.slice(first, last + 1);
  const whole = row.slice(1, -1).every((d) => Math.abs(d.length - seed.length) < 0.15 * seed.length + 0.6);
  return row.length >= rowMin && whole ? row : null;
}

function lineOf(row: readonly Dash[]): DashedLine {
  const n = row.length;
  const [first, last] = [row[0], row[n - 1]];
  const far = lengthOf(last.x - first.x, last.y - first.y);
  const [dx, dy] = [(last.x - first.x) / far, (last.y - first.y) / far];
  const inner = row.slice(1, -1);
  const length = inner.reduce((sum, d) => sum + d.length, 0) / inner.length;
  const steps = row.slice(1).map((d, i) => lengthOf(d.x - row[i].x, d.y - row[i].y));
  const inside = steps.slice(1, -1).reduce((sum, step) => sum + step, 0);
  // Where a piece is cut short its middle is nearer to that of the next, and where one is missing the next is far.
  const usual = steps.toSorted((a, b) => a - b)[(steps.length - 1) >> 1];
  const pitch = inside / Math.round(inside / usual);
  const start = row[1];
  // A last piece that was cut short says where the line ends; the first begins a whole one.
  const back = Math.round(steps[0] / pitch) * pitch + length / 2;
  const from = { x: start.x - dx * back, y: start.y - dy * back };
  const to = { x: last.x + (dx * last.length) / 2, y: last.y + (dy * last.length) / 2 };
  const width = inner.reduce((sum, d) => sum + d.width, 0) / inner.length;
  const shape = { kind: "line", x1: from.x, y1: from.y, x2: to.x, y2: to.y } as const;
  return { shape, width, dashes: [length, pitch - length], areas: row.map(({ area }) => area) };
}
