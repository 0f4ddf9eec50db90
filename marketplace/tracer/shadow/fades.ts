import { opaqueMin } from "../drawing.ts";
import { isOpaque } from "../image/raster.ts";

/** The pixels of a soft shadow, and their one colour, straight 0..255. */
export interface Fades {
  readonly colour: readonly [number, number, number];
  /** The pixels of each part that hangs together, the largest first. */
  readonly parts: readonly (readonly number[])[];
}

/**
 * Where a premultiplied picture fades to nothing as a shadow does: without a step, over some width, in one colour. All
 * fades of the colour of the largest; null where there is none.
 */
export function findFades(pixels: Uint8Array, width: number, height: number): Fades | null {
  const fading = isOpaque(pixels) ? null : fadingPixels(pixels, width, height);
  return fading && widestFades(fading, pixels, width);
}

/** Most levels a fade may change from pixel to pixel. */
const stepMax = 16;
/** Fewest pixels of a shadow, its least peak of alpha, and its least mean width, px. */
const sizeMin = 150;
const peakMin = 16;
const widthMin = 4;
/** How much of its outline may be an edge, as a share of what fades out. */
const edgeShareMax = 0.25;
/** Most a pixel may miss the shadow's one colour by, root mean square, premultiplied levels. */
const colourOffMax = 1.5;

/** 1 for each pixel that is neither opaque nor transparent and differs little from its four neighbours. */
function fadingPixels(pixels: Uint8Array, width: number, height: number): Uint8Array | null {
  const fading = new Uint8Array(width * height);
  let count = 0;
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const alpha = pixels[p * 4 + 3];
      if (alpha === 0 || alpha >= opaqueMin) continue;
      if (x > 0 && !passes(pixels, p, p - 1)) continue;
      if (x + 1 < width && !passes(pixels, p, p + 1)) continue;
      if (y > 0 && !passes(pixels, p, p - width)) continue;
      if (y + 1 < height && !passes(pixels, p, p + width)) continue;
      fading[p] = 1;
      count++;
    }
  }
  return count < sizeMin ? null : fading;
}

function passes(pixels: Uint8Array, p: number, q: number): boolean {
  const i = p * 4;
  const j = q * 4;
  return (
    Math.abs(pixels[i] - pixels[j]) <= stepMax &&
    Math.abs(pixels[i + 1] - pixels[j + 1]) <= stepMax &&
    Math.abs(pixels[i + 2] - pixels[j + 2]) <= stepMax &&
    Math.abs(pixels[i + 3] - pixels[j + 3]) <= stepMax
  );
}

/** The connected fades that are a shadow, all of the colour of the largest. `fading` is used up. */
function widestFades(fading: Uint8Array, pixels: Uint8Array, width: number): Fades | null {
  const fades: { members: number[]; colour: readonly [number, number, number] }[] = [];
  for (let first = fading.indexOf(1); first >= 0; first = fading.indexOf(1, first + 1)) {
    const { members, rim, edge, peak } = takeFade(first, fading, pixels, width);
    if (members.length < sizeMin || peak < peakMin || edge > edgeShareMax * rim || members.length < widthMin * rim)
      continue;
    const colour = colourOf(members, pixels);
    if (colour) fades.push({ members, colour });
  }
  fades.sort((a, b) => b.members.length - a.members.length || a.members[0] - b.members[0]);
  const [largest] = fades;
  if (!largest) return null;
  const alike = fades.filter(({ colour }) => colour.every((v, c) => Math.abs(v - largest.colour[c]) <= sameColour));
  return { colour: largest.colour, parts: alike.map(({ members }) => members) };
}

/** All that hangs together with one fading pixel, and how much of its border is nothing (`rim`) or an edge. */
function takeFade(first: number, fading: Uint8Array, pixels: Uint8Array, width: number) {
  const steps = [-1, 1, -width, width];
  const members: number[] = [];
  const stack = [first];
  fading[first] = taken;
  let rim = 0;
  let edge = 0;
  let peak = 0;
  for (let p = stack.pop(); p !== undefined; p = stack.pop()) {
    members.push(p);
    peak = Math.max(peak, pixels[p * 4 + 3]);
    const x = p % width;
    for (let k = 0; k < 4; k++) {
      const q = p + steps[k];
      if (q < 0 || q >= fading.length || (k === 0 && x === 0) || (k === 1 && x === width - 1)) continue;
      if (fading[q] === 1) {
        fading[q] = taken;
        stack.push(q);
      } else if (pixels[q * 4 + 3] === 0) rim++;
      else if (fading[q] === 0 && dropsOff(pixels, width, q)) edge++;
    }
  }
  return { members, rim, edge, peak };
}

/** A fading pixel that has been counted. */
const taken = 2;

/** Whether an edge, not a fade, leads down from here. */
function dropsOff(pixels: Uint8Array, width: number, p: number): boolean {
  const least = pixels[p * 4 + 3] - stepMax;
  for (const q of [p - 1, p + 1, p - width, p + width]) {
    const alpha = pixels[q * 4 + 3];
    if (alpha !== undefined && alpha < least) return true;
  }
  return false;
}

/** Most two fades may differ in a channel and count as one shadow, levels. */
export const sameColour = 12;

/** The one straight colour of the pixels, by least squares, or null where they have more than one. */
function colourOf(members: readonly number[], pixels: Uint8Array): readonly [number, number, number] | null {
  let square = 0;
  for (const p of members) square += pixels[p * 4 + 3] ** 2;
  let off = 0;
  const channel = (c: number) => {
    let product = 0;
    let own = 0;
    for (const p of members) {
      product += pixels[p * 4 + c] * pixels[p * 4 + 3];
      own += pixels[p * 4 + c] ** 2;
    }
    off += own - product ** 2 / square;
    return Math.min(255, (product / square) * 255);
  };
  const colour = [channel(0), channel(1), channel(2)] as const;
  return off <= colourOffMax ** 2 * members.length ? colour : null;
}
