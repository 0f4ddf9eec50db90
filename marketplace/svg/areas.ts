import { moments, plane, stride } from "./colour-model.ts";
import { type AreaMap, components } from "./components.ts";
import { type Colour, opaqueMin } from "./drawing.ts";
import type { Settings } from "./options.ts";
import { assignPalette, type Palette, paletteOf } from "./palette.ts";

/** The areas a picture is cut into, with what is known of each before it is outlined. */
export interface Areas {
  readonly map: AreaMap;
  /** Colour planes, 12 numbers each (colour-model.ts). */
  readonly planes: Float64Array;
  readonly sums: Float64Array;
  readonly sloped: Uint8Array;
  readonly opaque: Uint8Array;
  /** Nothing is drawn here: transparent, or background to be removed. */
  readonly empty: Uint8Array;
  readonly background: Background | null;
}

export interface Background {
  readonly areas: Uint8Array;
  readonly colour: Colour;
}

/** From a label per pixel to described areas. `clean` is the unblended picture the labels were made from. */
export function describeAreas(
  clean: Uint8Array,
  width: number,
  height: number,
  labels: Int32Array,
  labelCount: number,
  settings: Settings,
): Areas {
  let map = components(labels, width, height, labelCount);
  let sums = moments(clean, width, height, map.flat, map.count);
  let palette: Palette | null = null;
  if (settings.palette || settings.colors !== null) {
    palette = paletteOf(sums, map.count, settings);
    const entries = assignPalette(sums, map.count, palette);
    const entryOf = new Int32Array(labels.length);
    for (let p = 0; p < entryOf.length; p++) entryOf[p] = entries[map.flat[p]!]!;
    map = components(entryOf, width, height, palette.colours.length + 1);
    sums = moments(clean, width, height, map.flat, map.count);
  }
  const { count } = map;
  const planes = new Float64Array(count * 12);
  const sloped = new Uint8Array(count);
  const opaque = new Uint8Array(count);
  const empty = new Uint8Array(count);
  const gainMin = settings.gradients ? slopeWorth * settings.lambda : Number.POSITIVE_INFINITY;
  const entries = palette ? assignPalette(sums, count, palette) : null;
  for (let a = 0; a < count; a++) {
    if (palette && entries) {
      const colour = palette.colours[entries[a]!];
      empty[a] = colour ? 0 : 1;
      opaque[a] = colour ? 1 : 0;
      const premultiplied = colour ? [colour.r, colour.g, colour.b, 255] : [0, 0, 0, 0];
      for (let c = 0; c < 4; c++) planes[a * 12 + c * 3] = premultiplied[c]!;
      continue;
    }
    sloped[a] = plane(sums, a, gainMin, planes, a * 12) ? 1 : 0;
    const alpha = sums[a * stride + 15]! / sums[a * stride]!;
    const fades = sloped[a] === 1 && Math.hypot(planes[a * 12 + 10]!, planes[a * 12 + 11]!) > 0.02;
    opaque[a] = alpha >= opaqueMin && !fades ? 1 : 0;
    empty[a] = alpha < 4 ? 1 : 0;
  }
  const background = findBackground(map, sums, opaque);
  if (settings.removeBackground && background) {
    for (let a = 0; a < count; a++) {
      if (background.areas[a] === 0) continue;
      empty[a] = 1;
      opaque[a] = 0;
    }
  }
  return { map, planes, sums, sloped, opaque, empty, background };
}

/** A gradient is worth its definition when it explains this many lambdas of squared error. */
const slopeWorth = 30;

/** The colour of most of the picture's border, and the areas at the border that have it, within eight levels. */
function findBackground(
  { areas, stride: row, width, height, count }: AreaMap,
  sums: Float64Array,
  opaque: Uint8Array,
): Background | null {
  const onBorder = new Int32Array(count);
  const touch = (x: number, y: number) => {
    onBorder[areas[(y + 1) * row + x + 1]!]!++;
  };
  for (let x = 0; x < width; x++) {
    touch(x, 0);
    touch(x, height - 1);
  }
  for (let y = 0; y < height; y++) {
    touch(0, y);
    touch(width - 1, y);
  }
  let main = 0;
  for (let a = 1; a < count; a++) if (onBorder[a]! > onBorder[main]!) main = a;
  if (onBorder[main]! < borderShareMin * 2 * (width + height) || opaque[main] === 0) return null;
  const mean = (a: number, c: number) => sums[a * stride + 6 + c * 3]! / sums[a * stride]!;
  const same = new Uint8Array(count);
  for (let a = 0; a < count; a++) {
    if (onBorder[a] === 0) continue;
    same[a] = [0, 1, 2].every((c) => Math.abs(mean(a, c) - mean(main, c)) <= levelsAlike) ? 1 : 0;
  }
  const colour = {
    r: Math.round(mean(main, 0)),
    g: Math.round(mean(main, 1)),
    b: Math.round(mean(main, 2)),
    opacity: 1,
  };
  return { areas: same, colour };
}

const borderShareMin = 0.35;
const levelsAlike = 8;
