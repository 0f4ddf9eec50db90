import { stride } from "./colour-model.ts";
import { findStrokes, offLineMax, type Stroke, type StrokesInput } from "./strokes.ts";
import { find } from "./union-find.ts";

/**
 * Step 3d: gives small lettering the one colour it was written in. A stroke that runs between two rows of pixels leaves
 * both as half-tones and no pixel of its own colour, so that one word comes out in several tones. Strokes close to each
 * other on one ground, whose tones lie on one line with it, are a run of lettering: the paler ones take the ink of the
 * run, and their paleness is read as thinness later (snap.ts); a pale area amid strokes is a gap, and takes the ground.
 *
 * Out: the picture with the new colours, or `clean` itself if there are none. Work is bounded by the picture's size.
 * Source: the colour line of matting, as in unblend.ts; runs of like strokes as in Epshtein, Ofek & Wexler, "Detecting
 * Text in Natural Scenes with Stroke Width Transform" (2010) §3.
 */
export function evenInk(input: StrokesInput): Uint8Array {
  const { sums, clean } = input;
  const strokes = findStrokes(input);
  if (strokes.length === 0) return clean;
  const strokeOf = new Int32Array(sums.length / stride).fill(-1);
  for (let s = 0; s < strokes.length; s++) strokeOf[strokes[s].label] = s;
  const runs = joinRuns(strokes, strokeOf, input);
  const inks = inksOf(strokes, runs);
  let inked = clean;
  for (let s = 0; s < strokes.length; s++) {
    const stroke = strokes[s];
    const ink = inks[runs[s]];
    if (!ink || ink === stroke || !areAlike(stroke, ink)) continue;
    const share = product(stroke.tone, ink.tone) / ink.contrast;
    const thin = isThin(stroke, strokeOf, input);
    if (thin ? share < shareMin : share > gapShareMax || !isAmid(stroke, strokeOf, input)) continue;
    if (inked === clean) inked = clean.slice();
    for (let c = 0; c < 4; c++) {
      const level = Math.round(thin ? ink.ground[c] + ink.tone[c] : stroke.ground[c]);
      for (const p of stroke.pixels) inked[p * 4 + c] = level;
    }
  }
  return inked;
}

/** How far apart two strokes of a run may be, px, and how far side by side if they are about as strong. */
const reach = 3;
const wordReach = 8;
/** How strong one of these is at least, in squared contrast, to the other. */
const aboutAsStrong = 0.56;
/** Least share of the ink in a pale stroke, and most in a gap. */
const shareMin = 0.2;
const gapShareMax = 0.5;
/** Share of its run's pixels that may be stronger than the ink. */
const strongerShareMax = 0.1;
/** Share of them that must be nearly as strong or more, and how nearly, in squared contrast. */
const fullShareMin = 0.5;
const nearlyAsStrong = 0.64;
/** Share of a thin stroke's pixels that may lie amid strokes on all sides. */
const amidShareMax = 0.15;

/** A number per stroke, the same for all of a run: that of its first. */
function joinRuns(
  strokes: readonly Stroke[],
  strokeOf: Int32Array,
  { labels, width, height }: StrokesInput,
): Int32Array {
  const runs = Int32Array.from(strokes, (_, s) => s);
  const near = { strokeOf, labels, width, height };
  for (let s = 0; s < strokes.length; s++) {
    const { pixels } = strokes[s];
    for (let i = 0, j = 1; i < pixels.length; i = j++) {
      while (j < pixels.length && pixels[j] === pixels[j - 1] + 1) j++;
      joinNear({ s, first: pixels[i], last: pixels[j - 1] }, strokes, runs, near);
    }
  }
  return runs.map((_, s) => find(runs, s));
}

/** Joins the run of stroke `s` with those of the strokes near a stretch of its pixels, to its right and below. */
function joinNear(
  { s, first, last }: { readonly s: number; readonly first: number; readonly last: number },
  strokes: readonly Stroke[],
  runs: Int32Array,
  { strokeOf, labels, width, height }: Near,
): void {
  const stroke = strokes[s];
  const line = first - (first % width);
  const left = Math.max(line, first - wordReach);
  const right = Math.min(line + width - 1, last + wordReach);
  let run = find(runs, s);
  let seen = s;
  for (let dy = 0; dy <= reach && line + dy * width < width * height; dy++) {
    for (let p = dy === 0 ? last + 1 : left; p <= right; p++) {
      const t = strokeOf[labels[p + dy * width]];
      if (t < 0 || t === seen) continue;
      const other = find(runs, t);
      const far = p < first - reach || p > last + reach;
      if (other !== run && far && !areAboutAsStrong(stroke, strokes[t])) continue;
      seen = t;
      if (other === run || !areAlike(stroke, strokes[t])) continue;
      runs[Math.max(run, other)] = Math.min(run, other);
      run = Math.min(run, other);
    }
  }
}

interface Near extends Pick<StrokesInput, "labels" | "width" | "height"> {
  /** The stroke each area is, or -1. */
  readonly strokeOf: Int32Array;
}

/** The ink of each run, by its number: a stroke that few of its pixels exceed, if most are nearly as strong. */
function inksOf(strokes: readonly Stroke[], runs: Int32Array): (Stroke | undefined)[] {
  const total = new Int32Array(strokes.length);
  for (let s = 0; s < strokes.length; s++) total[runs[s]] += strokes[s].pixels.length;
  const inks: (Stroke | undefined)[] = strokes.map(() => undefined);
  const passed = new Int32Array(strokes.length);
  const full = new Int32Array(strokes.length);
  const strongestFirst = Array.from(strokes, (_, s) => s).sort(
    (s, t) => strokes[t].contrast - strokes[s].contrast || s - t,
  );
  for (const s of strongestFirst) {
    const { pixels, contrast } = strokes[s];
    const run = runs[s];
    passed[run] += pixels.length;
    if (!inks[run] && passed[run] >= strongerShareMax * total[run]) inks[run] = strokes[s];
    if (contrast > nearlyAsStrong * (inks[run]?.contrast ?? 0)) full[run] += pixels.length;
  }
  return inks.map((ink, run) => (full[run] >= fullShareMin * total[run] ? ink : undefined));
}

/** Whether two strokes lie on one ground and, but for their strength, differ from it alike. */
function areAlike(one: Stroke, other: Stroke): boolean {
  const dot = product(one.tone, other.tone);
  return one.on === other.on && dot > 0 && dot * dot > (1 - offLineMax) * one.contrast * other.contrast;
}

function areAboutAsStrong({ contrast: one }: Stroke, { contrast: other }: Stroke): boolean {
  return Math.min(one, other) > aboutAsStrong * Math.max(one, other);
}

function product(a: Float64Array, b: Float64Array): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/** Whether an area lies amid other strokes: it turns more of its sides to these than to the ground. */
function isAmid({ label, pixels, on }: Stroke, strokeOf: Int32Array, { labels, width }: StrokesInput): boolean {
  let balance = 0;
  for (const p of pixels) {
    for (const q of [p - 1, p + 1, p - width, p + width]) {
      const other = labels[q];
      if (other === on) balance--;
      else if (other !== label && strokeOf[other] >= 0) balance++;
    }
  }
  return balance > 0;
}

function isThin({ pixels }: Stroke, strokeOf: Int32Array, { labels, width }: StrokesInput): boolean {
  let amid = 0;
  for (const p of pixels) {
    let near = 0;
    for (let dy = -width; dy <= width; dy += width)
      for (let q = p + dy - 1; q <= p + dy + 1; q++) if (strokeOf[labels[q]] >= 0) near++;
    if (near === 9) amid++;
  }
  return amid <= amidShareMax * pixels.length;
}
