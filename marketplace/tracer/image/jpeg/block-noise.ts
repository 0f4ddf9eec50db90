import type { Raster } from "../raster.ts";
import { findSaved } from "./detect.ts";
import { toPlanes, unevenUnits, withUnits } from "./planes.ts";
import { restore } from "./restore.ts";

/** A picture as it was before it was saved as JPEG, as nearly as can be told. */
export interface Cleared {
  readonly image: Raster;
  /** How strong the noise was: 0 could not be seen, 1 is about quality 30. */
  readonly noise: number;
}

/**
 * Takes the noise of JPEG out of a picture; null where it has none, where that is not to be seen, or where most of what
 * is noisy is lettering or texture, which it would take with it. It goes by the pixels, so a PNG of a JPEG is seen too.
 */
export function clearBlockNoise(image: Raster): Cleared | null {
  const saved = findSaved(image);
  if (!saved) return null;
  const planes = toPlanes(image, saved.halved ? 16 : 8);
  const units = unevenUnits(planes);
  if (units.filter(({ dense }) => dense).length > denseShareMax * units.length) return null;
  const rounds = Math.round(workMax / (units.length * planes.unit ** 2));
  restore(planes, units, saved.quality, Math.max(roundsMin, Math.min(roundsMax, rounds)));
  return { image: withUnits(image, planes, units), noise: Math.min(1, (90 - saved.quality) / 60) };
}

const denseShareMax = 0.25;
const roundsMin = 8;
const roundsMax = 20;
/** Samples times rounds that there is time for. */
const workMax = 6e6;
