import { type Field, fieldColour } from "./field.ts";
import { type Radial, radialColour } from "./radial-fit.ts";
import { type Spotted, spottedColour } from "./spots.ts";

/** What an area is filled with that is neither one colour nor a plane. */
export type Gradient = Radial | Field | Spotted;

export function isField(gradient: Gradient): gradient is Field {
  return "lines" in gradient;
}

function isSpotted(gradient: Gradient): gradient is Spotted {
  return "spots" in gradient;
}

export function isRadial(gradient: Gradient): gradient is Radial {
  return !isField(gradient) && !isSpotted(gradient);
}

/** Sets the four channels of `out` to a gradient's colour at a place, px. */
export function gradientColour(gradient: Gradient, x: number, y: number, out: Float64Array): void {
  if (isField(gradient)) fieldColour(gradient, x, y, out);
  else if (isSpotted(gradient)) spottedColour(gradient, x, y, out);
  else radialColour(gradient, x, y, out);
}
