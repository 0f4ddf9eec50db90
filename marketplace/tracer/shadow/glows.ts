import type { Element, Fill, Shape, Stop } from "../drawing.ts";
import { isOpaque } from "../image/raster.ts";
import { type Box, fitEllipse } from "./box-fit.ts";
import type { Shadow } from "./field.ts";
import { missedBy, samplesOf, sizeFor, stopsFor } from "./glow-fit.ts";
import { type Picture, Separation, softParts } from "./glow-parts.ts";

/** Something round that stands alone on nothing and fades into it on all sides, as one gradient. */
export interface Glow {
  readonly element: Element;
  /** The pixels it is of. */
  readonly members: Int32Array;
}

/**
 * The glows of a premultiplied picture: parts with nothing around them, without an edge, whose colours are a function of the
 * distance from a middle, in a circle or an ellipse; and such as touch where they are faint. At most `partsMax` parts, the
 * largest, are looked at.
 */
export function findGlows(picture: Picture): Glow[] {
  if (isOpaque(picture.pixels)) return [];
  const search = new Search(picture);
  const parts = softParts(picture).slice(0, partsMax);
  return parts.flatMap((part) => search.glowsIn(part, new Set()));
}

const partsMax = 48;
/** Least peak of a glow's alpha. */
const peakMin = 24;
/** How much more another's stops may miss a glow by and be shared, levels. */
const alikeMax = 1;

class Search {
  private readonly known: (readonly Stop[])[] = [];
  private readonly picture: Picture;
  private readonly separation: Separation;

  constructor(picture: Picture) {
    this.picture = picture;
    this.separation = new Separation(picture);
  }

  /** A part as a glow, or as several that touch, whatever is in the `seam`; none where not all of it is. */
  glowsIn(part: Int32Array, seam: ReadonlySet<number>): Glow[] {
    const one = this.asGlow(part, seam);
    if (one) return [one];
    const apart = this.separation.of(part);
    const glows: Glow[] = [];
    for (const some of apart?.parts ?? []) {
      const inside = this.glowsIn(some, new Set([...seam, ...apart!.seam]));
      if (inside.length === 0) return [];
      glows.push(...inside);
    }
    return glows;
  }

  /** With the stops of another, where these are as good. */
  private asGlow(members: Int32Array, seam: ReadonlySet<number>): Glow | null {
    const { pixels, width } = this.picture;
    if (!members.some((p) => pixels[p * 4 + 3] >= peakMin)) return null;
    const window = windowOf(members, seam, this.picture);
    const box = fitEllipse(window);
    if (!box) return null;
    const samples = samplesOf(window, box, pixels, width);
    const own = stopsFor(samples);
    if (!own) return null;
    const off = missedBy(own, samples) + alikeMax;
    for (const stops of this.known) {
      const size = sizeFor(stops, samples);
      if (missedBy(stops, samples, size) <= off) return { element: elementOf(box, stops, size), members };
    }
    if (this.known.length < knownMax) this.known.push(own);
    return { element: elementOf(box, own), members };
  }
}

/** Most stops that are compared with those of each glow. */
const knownMax = 12;

/** A glow that fills `size` times its box. */
function elementOf([cx, , cy, , across, down]: Box, stops: readonly Stop[], size = 1): Element {
  const [rx, ry] = [across * size, down * size];
  const r = (rx + ry) / 2;
  if (Math.abs(rx - ry) <= roundMax * Math.max(1, rx / roundSize)) {
    return { fill: { kind: "radial", cx, cy, r, stops }, shape: { kind: "circle", cx, cy, r } };
  }
  const fill: Fill = { kind: "radial", cx, cy, r: rx, ry, stops };
  const shape: Shape = { kind: "ellipse", cx, cy, rx, ry };
  return { fill, shape };
}

/** An ellipse nearly as high as wide is a circle, px; of more for larger ones. */
const roundMax = 0.35;
const roundSize = 40;

/** The window around a part, with what else is in it unknown. */
function windowOf(members: Int32Array, seam: ReadonlySet<number>, { pixels, width, height }: Picture): Shadow {
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (const p of members) {
    const x = p % width;
    const y = (p - x) / width;
    left = Math.min(left, x);
    right = Math.max(right, x + 1);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + 1);
  }
  [left, top] = [Math.max(0, left - around), Math.max(0, top - around)];
  [right, bottom] = [Math.min(width, right + around), Math.min(height, bottom + around)];
  const [w, h] = [right - left, bottom - top];
  const alpha = new Float32Array(w * h);
  const bare = new Uint8Array(w * h);
  for (let row = 0, i = 0; row < h; row++) {
    for (let p = (top + row) * width + left; p < (top + row) * width + right; p++, i++) {
      if (pixels[p * 4 + 3] === 0) bare[i] = 1;
    }
  }
  for (const p of members) {
    if (seam.has(p)) continue;
    const i = (Math.floor(p / width) - top) * w + (p % width) - left;
    alpha[i] = pixels[p * 4 + 3];
    bare[i] = 1;
  }
  return { x: left, y: top, width: w, height: h, colour: [0, 0, 0], alpha, bare };
}

/** What is looked at of the nothing around a glow, px. */
const around = 2;
