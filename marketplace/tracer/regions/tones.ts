import { type Colour, opaqueMin } from "../drawing.ts";
import type { Settings } from "../settings.ts";
import { type Background, type Beneath, findBackground, removalOf } from "./background.ts";
import { alphaAt, channelStride, coloursAt, stride } from "./colour-model.ts";
import type { AreaMap } from "./components.ts";
import { nearestColour, paletteOf, type Sample } from "./palette.ts";

/** Mean alpha below which nothing is drawn, levels. */
export const alphaMin = 4;

/** A picture's areas in the colours of a palette. */
export interface Toned {
  /** A label per pixel: one for all opaque areas of a colour, one of its own for each that is see-through. */
  readonly labels: Int32Array;
  readonly labelCount: number;
  /** The colour of each label; null: nothing is drawn. */
  readonly tones: readonly (Colour | null)[];
  readonly palette: readonly Colour[];
  /** What of a map of these labels is the background that is to be removed, if there is one. */
  readonly removed: (map: AreaMap) => Background | null;
}

/**
 * Gives every area its colour of the palette (palette.ts). A background that is to be removed is looked for in the
 * picture's own colours: in a palette's, what lies on it may have the same.
 */
export function toneAreas(map: AreaMap, sums: Float64Array, settings: Settings, beneath: Beneath): Toned {
  const { count, flat } = map;
  const alphas = Float64Array.from({ length: count }, (_, a) => sums[a * stride + alphaAt] / sums[a * stride]);
  const opaque = Uint8Array.from(alphas, (alpha) => (alpha >= opaqueMin ? 1 : 0));
  const ground = settings.removeBackground ? findBackground(map, sums, opaque, removalOf(settings, beneath)) : null;
  const kept = Array.from(alphas, (alpha, a) => alpha >= alphaMin && ground?.areas[a] !== 1);
  const samples = kept.flatMap((is, a) => (is ? [sampleOf(sums, a)] : []));
  const palette = paletteOf([...samples, ...beneath.shades], settings);
  const tones: (Colour | null)[] = [null, null, ...palette];
  const names = new Int32Array(count);
  for (let a = 0; a < count; a++) {
    if (!kept[a]) {
      names[a] = ground?.areas[a] === 1 ? backgroundLabel : nothingLabel;
      continue;
    }
    const { r, g, b } = straightMean(sums, a);
    const colour = nearestColour(palette, r, g, b);
    names[a] = opaque[a] === 1 ? firstColourLabel + colour : tones.push(palette[colour]) - 1;
  }
  return {
    labels: flat.map((area) => names[area]),
    labelCount: tones.length,
    tones,
    palette,
    removed: ({ labelOf }) =>
      ground && {
        areas: Uint8Array.from(labelOf, (label) => (label === backgroundLabel ? 1 : 0)),
        colour: ground.colour,
      },
  };
}

const nothingLabel = 0;
const backgroundLabel = 1;
const firstColourLabel = 2;

/** The straight colour an area has on the mean. */
export function straightMean(sums: Float64Array, area: number): Colour {
  const at = area * stride;
  const alpha = sums[at + alphaAt];
  const scale = alpha > 0 ? 255 / alpha : 0;
  const level = (c: number) => Math.min(255, sums[at + coloursAt + c * channelStride] * scale);
  return { r: level(0), g: level(1), b: level(2), opacity: 1 };
}

function sampleOf(sums: Float64Array, area: number): Sample {
  const { r, g, b } = straightMean(sums, area);
  const n = sums[area * stride];
  return { n: n * (sums[area * stride + alphaAt] / n / 255) ** 2, r, g, b };
}
