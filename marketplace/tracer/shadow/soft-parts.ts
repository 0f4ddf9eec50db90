import { type EvenGround, levelsApart } from "./even-ground.ts";

/** What fades into the ground in one colour: a shadow, a glow, a shape with a feathered edge. */
export interface SoftPart {
  /** Straight, 0..255. */
  readonly colour: readonly [number, number, number];
  readonly pixels: readonly number[];
  /** Opacity of each of the pixels, 0..255. */
  readonly alpha: readonly number[];
  /** The part is opaque where it is strongest. */
  readonly solid: boolean;
}

/**
 * What fades into the ground over some width, in one colour. How see-through it is follows from how far each pixel is from
 * the ground towards that colour: the colour of its even middle, or, where it has none, the furthest there is in that
 * direction, so that as much as can be shows through. Source: the colour line of matting, as in unblend.ts.
 */
export function softParts(pixels: Uint8Array, width: number, height: number, ground: EvenGround): SoftPart[] {
  const state = smoothPixels(pixels, width, height, ground.members);
  const parts: SoftPart[] = [];
  for (let first = 0; first < state.length; first++) {
    if (state[first] !== smooth || !touches(ground.members, first, width)) continue;
    const together = take([first], smooth, taken, state, width);
    const line = together.length < sizeMin ? null : lineOf(together, pixels, ground.colour);
    if (!line) continue;
    for (const p of together) if (line.has(p)) state[p] = onLine;
    const rim = together.filter((p) => state[p] === onLine && touches(ground.members, p, width));
    const part = inOneColour({ members: take(rim, onLine, member, state, width), line, state }, pixels, width, ground);
    if (part) parts.push(part);
  }
  return parts;
}

/** What is known of a pixel: it is ground or at an edge, or hangs together smoothly with the ground, in one colour or not. */
const smooth = 1;
const taken = 2;
const onLine = 3;
const member = 4;

/** Fewest pixels of a part, its least contrast in levels, and the least mean width of its fade, px. */
const sizeMin = 150;
const contrastMin = 10;
const widthMin = 5;
/** How much of its outline may be an edge to the ground, or pass smoothly into other colours, as shares of what fades out. */
const edgeShareMax = 0.25;
const passShareMax = 0.5;

/** 1 for each pixel off the ground that no edge passes: none of its steps is most of the way that the colour goes there. */
function smoothPixels(pixels: Uint8Array, width: number, height: number, ground: Uint8Array): Uint8Array {
  const state = ground.map((is) => (is === 1 ? 0 : smooth));
  const mark = (p: number, step: number, at: number, length: number) => {
    if (ground[p] === 1 && ground[p + step] === 1) return;
    const apart = levelsApart(pixels, p, p + step);
    if (apart <= stepFree) return;
    const from = p - step * Math.min(2, at);
    const to = p + step * Math.min(3, length - 1 - at);
    const isEdge = (own: number, around: number) => own > stepFree + stepShareMax * around;
    // JPEG widens an edge of colour, not one of lightness.
    const lighter = Math.abs(lightness(pixels, p) - lightness(pixels, p + step));
    const lighterAround = Math.abs(lightness(pixels, from) - lightness(pixels, to));
    if (!isEdge(apart, levelsApart(pixels, from, to)) && !isEdge(lighter, lighterAround)) return;
    state[p] = 0;
    state[p + step] = 0;
  };
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x + 1 < width) mark(p, 1, x, width);
      if (y + 1 < height) mark(p, width, y, height);
    }
  }
  return state;
}

/** A step so small is no edge, levels; nor is one that is no more of the five it is amid. */
const stepFree = 6;
const stepShareMax = 0.36;

function lightness(pixels: Uint8Array, p: number): number {
  return 0.3 * pixels[p * 4] + 0.6 * pixels[p * 4 + 1] + 0.1 * pixels[p * 4 + 2];
}

function touches(ground: Uint8Array, p: number, width: number): boolean {
  return beside(p, width, ground.length).some((q) => ground[q] === 1);
}

function beside(p: number, width: number, length: number): number[] {
  const x = p % width;
  const found = [];
  if (x > 0) found.push(p - 1);
  if (x + 1 < width) found.push(p + 1);
  if (p >= width) found.push(p - width);
  if (p + width < length) found.push(p + width);
  return found;
}

/** All pixels of a state that hang together with some; they are put into another. */
function take(first: readonly number[], from: number, to: number, state: Uint8Array, width: number): number[] {
  const found: number[] = [];
  const stack = first.slice();
  for (const p of first) state[p] = to;
  for (let p = stack.pop(); p !== undefined; p = stack.pop()) {
    found.push(p);
    for (const q of beside(p, width, state.length)) {
      if (state[q] !== from) continue;
      state[q] = to;
      stack.push(q);
    }
  }
  return found;
}

interface Faded {
  readonly members: readonly number[];
  readonly line: Line;
  readonly state: Uint8Array;
}

function inOneColour(
  { members, line, state }: Faded,
  pixels: Uint8Array,
  width: number,
  { colour: b, members: ground }: EvenGround,
): SoftPart | null {
  let [rim, edge, passes, others] = [0, 0, 0, 0];
  for (const p of members) {
    for (const q of beside(p, width, ground.length)) {
      if (ground[q] === 1) rim++;
      else if (state[q] === taken && !line.leaves(p, q - p)) passes++;
      else if (state[q] === 0 && touches(ground, q, width)) edge++;
      else if (state[q] !== member) others++;
    }
  }
  if (members.length < sizeMin || edge > edgeShareMax * rim || passes > passShareMax * rim) return null;
  const { direction } = line;
  const along = members.map(line.along);
  const peak = along.slice().sort((one, other) => one - other)[Math.floor(0.98 * along.length)];
  const fading = along.filter((t) => t > 0.05 * peak && t < 0.95 * peak).length;
  if (peak < contrastMin || fading < widthMin * rim) return null;
  const reach = b.reduce((least, level, c) => {
    const d = direction[c];
    return d === 0 ? least : Math.min(least, (d > 0 ? 255 - level : level) / Math.abs(d));
  }, Number.POSITIVE_INFINITY);
  const isShade = others > shadeOthersMin * rim && peak < shadePeakMax * reach && direction.every((d) => d <= 0);
  const middle = isShade ? null : evenMiddle(members, along, peak, pixels, width);
  if (middle && peak < solidContrastMin) return null;
  const full = middle ?? reach;
  const colour = b.map((level, c) => Math.max(0, Math.min(255, level + full * direction[c])));
  return {
    colour: [colour[0], colour[1], colour[2]],
    pixels: members,
    alpha: along.map((t) => Math.max(0, Math.min(255, Math.round((255 * t) / full)))),
    solid: middle !== null,
  };
}

/** What things lie on and is dark is a shadow, however even: at least so much of an edge on it, and at most so dark. */
const shadeOthersMin = 0.3;
const shadePeakMax = 0.7;
/** Fainter, an even middle is rather the light on a ground. */
const solidContrastMin = 48;

/** A line of colour from the ground. */
interface Line {
  readonly direction: readonly number[];
  /** How far along a pixel is, levels, and whether it lies on the line. */
  readonly along: (p: number) => number;
  readonly has: (p: number) => boolean;
  /** Whether the colours leave it at once beyond a pixel, as they do at an edge, be it one that JPEG has widened. */
  readonly leaves: (p: number, step: number) => boolean;
}

/** The line on which most of what is nearly ground lies; null where there is none. */
function lineOf(all: readonly number[], pixels: Uint8Array, ground: readonly number[]): Line | null {
  const lengthOf = (p: number) => Math.hypot(...ground.map((level, c) => pixels[p * 4 + c] - level));
  const outer = all.filter((p) => lengthOf(p) > outerMin && lengthOf(p) < outerMax);
  let line: Line | null = null;
  for (let round = 0; round < 3; round++) {
    // First by what is nearly ground, then by all that lies on that line.
    const known = line;
    const some: readonly number[] = known ? (round === 1 ? outer : all).filter(known.has) : outer;
    if (some.length < onLineMin * outer.length || some.length === 0) return null;
    const sum = [0, 0, 0];
    for (const p of some) {
      const length = lengthOf(p);
      for (let c = 0; c < 3; c++) sum[c] += (pixels[p * 4 + c] - ground[c]) * length;
    }
    const length = Math.hypot(...sum);
    if (length === 0) return null;
    line = lineAlong(
      sum.map((v) => v / length),
      pixels,
      ground,
    );
  }
  return line;
}

function lineAlong(direction: readonly number[], pixels: Uint8Array, ground: readonly number[]): Line {
  const along = (p: number) => direction.reduce((total, d, c) => total + d * (pixels[p * 4 + c] - ground[c]), 0);
  const off = (p: number) => {
    const t = along(p);
    return Math.hypot(...direction.map((d, c) => pixels[p * 4 + c] - ground[c] - t * d)) - offShareMax * t;
  };
  return {
    direction,
    along,
    has: (p) => off(p) <= offMax,
    leaves: (p, step) => off(p + edgeReach * step) > leaveMin,
  };
}

/** How far an edge reaches, px, and how far from the line it leads, levels. */
const edgeReach = 6;
const leaveMin = 30;
/** Pixels that are nearly ground, levels from it. */
const outerMin = 6;
const outerMax = 60;
/** Most levels that a pixel may lie off the line, and more by a share of how far along; the least share of those that do not. */
const offMax = 5;
const offShareMax = 0.03;
const onLineMin = 0.9;

/** How far from the ground the even middle lies, if there is one. */
function evenMiddle(
  members: readonly number[],
  along: readonly number[],
  peak: number,
  pixels: Uint8Array,
  width: number,
): number | null {
  let sum = 0;
  let n = 0;
  members.forEach((p, i) => {
    if (along[i] < 0.95 * peak) return;
    if (beside(p, width, pixels.length / 4).some((q) => levelsApart(pixels, p, q) > 1)) return;
    sum += along[i];
    n++;
  });
  return n >= Math.max(evenMin, evenShareMin * members.length) ? sum / n : null;
}

const evenMin = 60;
const evenShareMin = 0.04;
