import { fitClosed } from "../curves/fit-curve.ts";
import { Points } from "../curves/points.ts";
import type { Element, Group, Outline } from "../drawing.ts";
import type { Shadow } from "./field.ts";

/**
 * A shadow of any shape as bands that lie over each other, each adding a little opacity: no seams, and steps so small or
 * so close that the eye passes over them. Null where it is too ragged for that. Source of the outlines: marching squares,
 * the plane form of Lorensen & Cline (1987).
 */
export function bandShadow(shadow: Shadow): Group | null {
  const [r, g, b] = shadow.colour;
  const field = padded(shadow);
  const points = new Points();
  const elements: Element[] = [];
  let shown = 0;
  for (const { from, level } of levels(shadow)) {
    const opacity = Math.round((1 - (1 - level / 255) / (1 - shown)) * 1000) / 1000;
    if (opacity <= 0) continue;
    const outlines = isolines(field, from, points);
    if (!outlines) return null;
    if (outlines.length === 0) continue;
    elements.push({ fill: { kind: "flat", colour: { r, g, b, opacity } }, shape: { kind: "path", outlines } });
    shown = 1 - (1 - shown) * (1 - opacity);
  }
  return elements.length > 0 ? { id: "shadow", elements } : null;
}

/** Where each band begins and what all to there together show, levels. */
function levels({ alpha, bare, width, height }: Shadow): { from: number; level: number }[] {
  const slope = new Float64Array(256);
  const count = new Float64Array(256);
  let peak = 0;
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1, i = y * width + 1; x < width - 1; x++, i++) {
      const a = Math.round(alpha[i]);
      if (bare[i] === 0 || a === 0) continue;
      if (a > peak) peak = a;
      slope[a] += Math.hypot(alpha[i + 1] - alpha[i - 1], alpha[i + width] - alpha[i - width]) / 2;
      count[a] += 1;
    }
  }
  const found: { from: number; level: number }[] = [];
  for (let from = 1, last = 0; from < peak; ) {
    const a = Math.floor(from);
    const steep = count[a] > 0 ? slope[a] / count[a] : 0;
    const step = Math.max(stepMin + from * stepGrowth, Math.min(stepMax, steep * bandWidth));
    const level = Math.min(peak, from + step / 2);
    found.push({ from: (last + level) / 2, level });
    last = level;
    from += step;
  }
  return found;
}

/** The step from band to band, levels: least at the rim, growing inwards; more, to a limit, where bands are that narrow, px. */
const stepMin = 3;
const stepGrowth = 0.03;
const stepMax = 8;
const bandWidth = 1.5;

interface Field {
  readonly values: Float32Array;
  readonly bare: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly x: number;
  readonly y: number;
}

const border = 2;

/** The shadow, smoothed a little, carried on by a pixel on all sides and then nothing: outlines close outside. */
function padded({ alpha, bare, x, y, width, height }: Shadow): Field {
  const w = width + 2 * border;
  const h = height + 2 * border;
  const values = new Float32Array(w * h);
  const open = new Uint8Array(w * h);
  const at = (column: number, row: number) =>
    Math.max(0, Math.min(height - 1, row)) * width + Math.max(0, Math.min(width - 1, column));
  const smoothed = (column: number, row: number) => {
    let sum = 0;
    for (let dy = -1; dy <= 1; dy++)
      for (let dx = -1; dx <= 1; dx++) sum += alpha[at(column + dx, row + dy)] * (2 - dx * dx) * (2 - dy * dy);
    return sum / 16;
  };
  for (let row = -1; row <= height; row++) {
    for (let column = -1, i = (row + border) * w + border - 1; column <= width; column++, i++) {
      values[i] = smoothed(column, row);
      open[i] = bare[at(column, row)];
    }
  }
  return { values, bare: open, width: w, height: h, x: x - border, y: y - border };
}

/** Every closed line at which the field passes `level`, as fitted curves; null where they are too long together. */
function isolines(field: Field, level: number, points: Points): Outline[] | null {
  const { values, width, height } = field;
  const outlines: Outline[] = [];
  const seen = new Uint8Array(values.length);
  let left = lengthMax * (width + height);
  for (let p = width + 1; p < values.length - width; p++) {
    if (values[p] < level || values[p - 1] >= level || seen[p] === 1) continue;
    follow(field, level, p, seen, points);
    left -= points.count;
    if (left < 0) return null;
    if (points.count >= pointsMin) outlines.push(fitClosed(points));
  }
  return outlines;
}

/**
 * Goes once round, along the edges between pixels inside and outside `level`, the inside on the right hand, beginning
 * upwards on the left of pixel `first`; each edge passed is a point, where the level lies between the two pixels' middles.
 */
function follow(
  { values, bare, width, x: left, y: top }: Field,
  level: number,
  first: number,
  seen: Uint8Array,
  points: Points,
) {
  points.clear();
  const ahead = [1, width, -1, -width];
  let direction = 3;
  let inside = first;
  do {
    const outside = inside + ahead[(direction + 3) & 3];
    if (direction === 3) seen[inside] = 1;
    const fall = values[inside] - values[outside];
    const share = (values[inside] - level) / fall;
    const x = (inside % width) + ((outside % width) - (inside % width)) * share;
    const y = Math.floor(inside / width) + (Math.floor(outside / width) - Math.floor(inside / width)) * share;
    const tolerance = bare[inside] === 1 ? Math.max(nearest, Math.min(farthest, offMax / fall)) : hiddenTolerance;
    points.add(left + x + 0.5, top + y + 0.5, tolerance);
    const on = ahead[direction];
    if (values[outside + on] >= level) {
      inside = outside + on;
      direction = (direction + 3) & 3;
    } else if (values[inside + on] >= level) inside += on;
    else direction = (direction + 1) & 3;
  } while (inside !== first || direction !== 3);
}

/** How far a band's outline may miss its level, levels, and what that comes to, px; and where it is hidden. */
const offMax = 1.5;
const nearest = 0.35;
const farthest = 2;
const hiddenTolerance = 5;
/** Shorter outlines are specks; more outline than this, to the shadow's width and height, is texture. */
const pointsMin = 12;
const lengthMax = 8;
