import type { Colour } from "../drawing.ts";
import { isOpaque, type Raster } from "./raster.ts";

/** A faint picture with more contrast. */
export interface Strengthened {
  readonly image: Raster;
  /** How many times the contrast it has now. */
  readonly strength: number;
  /** The colour that one of its drawing's is in the picture as it was. */
  readonly original: (colour: Colour) => Colour;
}

/**
 * A picture of little contrast with more of it, so that what stands out in it counts as much as in another; null for all others, and for
 * grain, which is what differs from most pixels that are `grainPx` away. Of a see-through picture, all of it faint, it is the opacity.
 */
export function strengthened(image: Raster, grainPx = 1): Strengthened | null {
  return isOpaque(image.rgba) ? withMoreContrast(image, grainPx) : moreOpaque(image);
}

/**
 * Every channel is stretched as much, about a level that neither black nor white passes. A mixture of two colours is the mixture of the
 * stretched ones, so the colours of the drawing can be put back one by one.
 */
function withMoreContrast(image: Raster, grainPx: number): Strengthened | null {
  const { low, range } = levels(image);
  if (range < seenMin || range > rangeMin / strengthMin) return null;
  const strength = Math.min(rangeMin / range, grainMax / grain(image, grainPx));
  if (strength < strengthMin) return null;
  const fixed = low.map((level) => (255 * level) / (255 - range));
  const rgba = new Uint8Array(image.rgba);
  for (let i = 0; i < rgba.length; i += 4) {
    for (let c = 0; c < 3; c++) rgba[i + c] = Math.round(fixed[c] + (rgba[i + c] - fixed[c]) * strength);
  }
  const back = (level: number, c: number) => Math.round(fixed[c] + (level - fixed[c]) / strength);
  const original = ({ r, g, b, opacity }: Colour) => ({ r: back(r, 0), g: back(g, 1), b: back(b, 2), opacity });
  return { image: { ...image, rgba }, strength, original };
}

function moreOpaque(image: Raster): Strengthened | null {
  const rgba = new Uint8Array(image.rgba);
  let most = 0;
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] > most) most = rgba[i];
  const strength = rangeMin / most;
  if (most === 0 || strength < strengthMin) return null;
  for (let i = 3; i < rgba.length; i += 4) rgba[i] = Math.round(rgba[i] * strength);
  return {
    image: { ...image, rgba },
    strength,
    original: (colour) => ({ ...colour, opacity: colour.opacity / strength }),
  };
}

/** The lowest level of each channel, and how far the channel of the widest range goes; no further than where a picture is not faint. */
function levels({ width, height, rgba }: Raster): { low: readonly number[]; range: number } {
  const [low, high] = [
    [255, 255, 255],
    [0, 0, 0],
  ];
  let range = 0;
  for (let y = 0; y < height && range <= rangeMin; y++) {
    for (let i = y * width * 4; i < (y + 1) * width * 4; i += 4) {
      for (let c = 0; c < 3; c++) {
        const level = rgba[i + c];
        if (level < low[c]) low[c] = level;
        if (level > high[c]) high[c] = level;
      }
    }
    range = Math.max(...high.map((level, c) => level - low[c]));
  }
  return { low, range };
}

/** What most pixels differ by at most from those `away` px beside them, in green: nothing in what was drawn, something in grain and noise. */
function grain({ width, height, rgba }: Raster, away: number): number {
  const counts = new Uint32Array(256);
  for (let y = 0; y < height; y++) {
    for (let i = (y * width + away) * 4 + 1; i < (y + 1) * width * 4; i += 4) {
      counts[Math.abs(rgba[i] - rgba[i - 4 * away])]++;
    }
  }
  let left = height * Math.max(0, width - away) * grainyShare;
  let step = 0;
  while (left > counts[step]) left -= counts[step++];
  return step;
}

/** What has fewer levels is not seen. */
const seenMin = 4;
/** What has fewer levels is faint. */
const rangeMin = 128;
/** What would be strengthened by less is drawn as it is. */
const strengthMin = 2;
const grainyShare = 0.6;
/** Levels that grain may differ by when it is strengthened. */
const grainMax = 4;
