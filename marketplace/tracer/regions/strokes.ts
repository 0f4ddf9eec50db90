import { eachRun } from "../image/runs.ts";
import { plane, planeError, type Segmented, stride } from "./colour-model.ts";

export interface StrokesInput extends Segmented {
  /** Areas whose colour is a gradient: neither strokes nor grounds. */
  readonly gradients: ReadonlyMap<number, unknown>;
}

/** A letter, or a part of one: a small area that touches one larger area, of even colour, and nothing of other colours. */
export interface Stroke {
  readonly label: number;
  readonly pixels: Int32Array;
  /** The label of the ground. */
  readonly on: number;
  /** The ground's colour here, and how far the stroke's own lies from it; four channels each. */
  readonly ground: Float64Array;
  readonly tone: Float64Array;
  /** Squared length of `tone`. */
  readonly contrast: number;
}

/** How far off a colour line a tone may lie, squared, as a share of its own square. */
export const offLineMax = 0.01;

/** Largest area of a letter, px. */
const strokePxMax = 400;
const contrastSquaredMin = 40 * 40;
/** Most squared error per pixel in a ground that counts as even. */
const unevenMax = 24;
/** Most of its sides a stroke may turn to colours that are not on the line from its ground to itself. */
const foreignShareMax = 0.1;

/** All strokes of a picture, in the order of their labels. */
export function findStrokes(input: StrokesInput): Stroke[] {
  const { sums, gradients } = input;
  const { at, begins, small } = smallAreas(input);
  const planes = new Float64Array(12);
  const strokes: Stroke[] = [];
  for (let label = 0; label < small.length; label++) {
    if (begins[label] === begins[label + 1]) continue;
    const pixels = at.subarray(begins[label], begins[label + 1]);
    const on = groundOf(label, pixels, small, input);
    if (on < 0 || gradients.has(on) || planeError(sums, on) > unevenMax * sums[on * stride]) continue;
    plane(sums, on, planes, 0);
    const stroke = describe(label, pixels, on, planes, input);
    if (stroke.contrast >= contrastSquaredMin && !meetsOthers(stroke, input)) strokes.push(stroke);
  }
  return strokes;
}

/** Which areas are no larger than a letter, and their pixels: those of area a are at[begins[a]] up to at[begins[a + 1]]. */
function smallAreas({ labels, runs, sums, gradients }: StrokesInput) {
  const count = sums.length / stride;
  const small = new Uint8Array(count);
  for (let a = 0; a < count; a++) small[a] = sums[a * stride] <= strokePxMax && !gradients.has(a) ? 1 : 0;
  const begins = new Int32Array(count + 1);
  eachRun(runs, (begin, end) => {
    const a = labels[begin];
    if (small[a] === 1) begins[a + 1] += end - begin;
  });
  for (let a = 0; a < count; a++) begins[a + 1] += begins[a];
  const place = begins.slice();
  const at = new Int32Array(begins[count]);
  eachRun(runs, (begin, end) => {
    const a = labels[begin];
    if (small[a] === 1) for (let p = begin; p < end; p++) at[place[a]++] = p;
  });
  return { at, begins, small };
}

/** The one large area that an area touches; -1 if there are none or more, or if it lies at the picture's edge. */
function groundOf(
  label: number,
  pixels: Int32Array,
  small: Uint8Array,
  { labels, width, height }: StrokesInput,
): number {
  let on = -1;
  for (const p of pixels) {
    const x = p % width;
    if (x === 0 || x === width - 1 || p < width || p >= width * (height - 1)) return -1;
    for (let k = 0; k < 4; k++) {
      const other = labels[beside(p, k, width)];
      if (other === on || other === label || small[other] === 1) continue;
      if (on >= 0) return -1;
      on = other;
    }
  }
  return on;
}

function describe(
  label: number,
  pixels: Int32Array,
  on: number,
  planes: Float64Array,
  { clean, width, height }: StrokesInput,
): Stroke {
  const ground = new Float64Array(4);
  const tone = new Float64Array(4);
  const x = (pixels[0] % width) + 0.5 - width / 2;
  const y = Math.floor(pixels[0] / width) + 0.5 - height / 2;
  for (const p of pixels) for (let c = 0; c < 4; c++) tone[c] += clean[p * 4 + c];
  let contrast = 0;
  for (let c = 0; c < 4; c++) {
    const here = planes[c * 3] + planes[c * 3 + 1] * x + planes[c * 3 + 2] * y;
    ground[c] = Math.max(0, Math.min(255, here));
    tone[c] = tone[c] / pixels.length - ground[c];
    contrast += tone[c] ** 2;
  }
  return { label, pixels, on, ground, tone, contrast };
}

function meetsOthers(
  { label, pixels, ground, tone, contrast }: Stroke,
  { labels, clean, width }: StrokesInput,
): boolean {
  let sides = 0;
  let foreign = 0;
  for (const p of pixels) {
    for (let k = 0; k < 4; k++) {
      const q = beside(p, k, width);
      if (labels[q] === label) continue;
      sides++;
      let dot = 0;
      let square = 0;
      for (let c = 0; c < 4; c++) {
        const v = clean[q * 4 + c] - ground[c];
        dot += v * tone[c];
        square += v * v;
      }
      const off = square - (dot * dot) / contrast;
      if (dot < -0.1 * contrast || off > offLineMax * Math.max(contrast, square)) foreign++;
    }
  }
  return foreign > foreignShareMax * sides;
}

/** The pixel to one of the four sides. */
function beside(p: number, k: number, width: number): number {
  return k === 0 ? p - 1 : k === 1 ? p + 1 : k === 2 ? p - width : p + width;
}
