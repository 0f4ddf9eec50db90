import type { Colour } from "../drawing.ts";
import type { Settings } from "../settings.ts";
import { channelStride, coloursAt, stride, unevenness } from "./colour-model.ts";
import type { AreaMap } from "./components.ts";
import { withCounters } from "./counters.ts";
import type { Sample } from "./palette.ts";

export interface Background {
  /** 1 for the areas that are background. */
  readonly areas: Uint8Array;
  readonly colour: Colour;
}

/** What was lifted off a picture whose background is removed: its colours, and a map with 1 for the pixels that lie on it. */
export interface Beneath {
  readonly shades: readonly Sample[];
  readonly on: Uint8Array | null;
}

interface Removing extends Beneath {
  /** How many times the contrast it has the picture is traced with. */
  readonly strength: number;
}

/** What findBackground has to know where the background is to be removed; null where it is not. */
export function removalOf({ removeBackground, strengthened }: Settings, beneath: Beneath): Removing | null {
  return removeBackground ? { ...beneath, strength: strengthened?.strength ?? 1 } : null;
}

/**
 * The colour of most of the picture's border, and the areas at the border within eight levels of it. With `removing`,
 * the background must be of one colour, and the inside of letters goes with it, unless it lies `on` something soft.
 */
export function findBackground(
  map: AreaMap,
  sums: Float64Array,
  opaque: Uint8Array,
  removing: Removing | null,
): Background | null {
  const { width, height, count } = map;
  const onBorder = bordersOf(map);
  let main = 0;
  for (let a = 1; a < count; a++) if (onBorder[a] > onBorder[main]) main = a;
  if (onBorder[main] < borderShareMin * 2 * (width + height) || opaque[main] === 0) return null;
  if (removing && unevenness(sums, main) > unevenMax * removing.strength ** 2) return null;
  const mean = (a: number, c: number) => sums[a * stride + coloursAt + c * channelStride] / sums[a * stride];
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
  if (!removing) return { areas: same, colour };
  const mayOpen = removing.on ? notOn(removing.on, map, opaque) : opaque;
  return { areas: withCounters(map, sums, mayOpen, { areas: same, colour }), colour };
}

/** How many pixels of the picture's four sides are of each area. */
function bordersOf({ runs: { begins, rows }, areaOf, height, count }: AreaMap): Int32Array {
  const found = new Int32Array(count);
  for (let y = 0; y < height; y++) {
    found[areaOf[rows[y]]]++;
    found[areaOf[rows[y + 1] - 1]]++;
    if (y > 0 && y < height - 1) continue;
    const sides = height === 1 ? 2 : 1;
    for (let run = rows[y]; run < rows[y + 1]; run++) found[areaOf[run]] += sides * (begins[run + 1] - begins[run]);
  }
  return found;
}

/** Clears the areas of `some` that lie mostly on something. */
function notOn(on: Uint8Array, { flat, sizes }: AreaMap, some: Uint8Array): Uint8Array {
  const lying = new Int32Array(some.length);
  for (let p = 0; p < flat.length; p++) lying[flat[p]] += on[p];
  return some.map((is, a) => (2 * lying[a] > sizes[a] ? 0 : is));
}

const borderShareMin = 0.35;
const levelsAlike = 8;
/** Most that a background's pixels differ from its colour: more than the noise and the light of a scan. */
const unevenMax = 500;
