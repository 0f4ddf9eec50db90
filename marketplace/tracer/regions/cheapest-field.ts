import { type Field, fieldColour } from "./field.ts";
import { type FieldPixels, fitField, sheetOf } from "./fit-field.ts";

/** The pixels of an area that may be a field. */
export interface FieldArea {
  /** Rising, all opaque. */
  readonly pixels: Int32Array;
  /** The picture's. */
  readonly clean: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** It would be drawn beneath all else, without an outline. */
  readonly isGround: boolean;
}

/** The field over an area whose cost is least, if that is less than `most`. */
export function cheapestField(area: FieldArea, lambda: number, most: number): Field | null {
  const { pixels, clean, width, height, isGround } = area;
  const { line, place, clip } = isGround ? groundWorth : ownWorth;
  const bytesOf = (lines: number, places: number) => (clip + lines * line + places * place) * lambda;
  if (bytesOf(2, 4) >= most) return null;
  const members = new Uint8Array(width * height);
  for (const p of pixels) members[p] = 1;
  const window: FieldPixels = { ...windowOf(area, isGround ? 1 : reach), pixels: clean, width, members };
  const sheet = sheetOf(window);
  let best: Field | null = null;
  let least = most;
  for (const direction of ["across", "down"] as const) {
    for (const tolerance of tolerances) {
      const isTooMuch = (lines: number, places: number) => bytesOf(lines, places) >= least;
      const field = fitField(sheet, window, direction, tolerance, isTooMuch);
      // A finer one is larger still.
      if (!field) break;
      const places = field.lines.reduce((sum, one) => sum + one.places.length, 0);
      const cost = bytesOf(field.lines.length, places) + meanError(field, pixels, window) * pixels.length;
      if (cost >= least) continue;
      least = cost;
      best = { ...field, isGround };
    }
  }
  return best;
}

/** How far the outline of an area may go beyond its pixels, px. */
const reach = 5;
/** What a line of a field costs, each of its places, and keeping it within an outline, in lambdas. */
const ownWorth = { line: 200, place: 40, clip: 60 };
/** A picture that is a field for the most part is one that is to be smooth. */
const groundWorth = { line: 40, place: 14, clip: 0 };
/** Levels; the coarsest first. */
const tolerances = [12, 8, 6, 4, 3, 2];
const samplesMax = 6000;

/** Squared error of a pixel, on average. */
function meanError(field: Field, places: Int32Array, { pixels, width }: FieldPixels): number {
  const colour = new Float32Array(4);
  // A step that shares no factor with the rows' length.
  const step = Math.max(1, Math.floor(places.length / samplesMax)) | 1;
  let sum = 0;
  let n = 0;
  for (let i = 0; i < places.length; i += step, n++) {
    const p = places[i];
    fieldColour(field, (p % width) + 0.5, Math.floor(p / width) + 0.5, colour);
    for (let c = 0; c < 3; c++) sum += (colour[c] - pixels[p * 4 + c]) ** 2;
  }
  return sum / n;
}

/** The least window around the pixels and `beyond`. */
function windowOf({ pixels, width, height }: FieldArea, beyond: number) {
  let [left, right] = [width, 0];
  for (const p of pixels) {
    const x = p % width;
    if (x < left) left = x;
    if (x >= right) right = x + 1;
  }
  const top = Math.floor(pixels[0] / width);
  const bottom = Math.floor(pixels[pixels.length - 1] / width) + 1;
  return {
    left: Math.max(0, left - beyond),
    top: Math.max(0, top - beyond),
    right: Math.min(width, right + beyond),
    bottom: Math.min(height, bottom + beyond),
  };
}
