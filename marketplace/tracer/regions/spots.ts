import { type Radial, radialColour } from "./radial-fit.ts";

/** A gradient with soft spots on it: a blush, a gleam, a shade. */
export interface Spotted {
  readonly base: Radial;
  /** Each lies on those before it. */
  readonly spots: readonly Spot[];
}

/** An ellipse of one colour, which fades away towards its rim. */
export interface Spot {
  /** Px of the picture. */
  readonly cx: number;
  readonly cy: number;
  readonly rx: number;
  readonly ry: number;
  /** Three channels. */
  readonly colour: readonly number[];
  /** Its opacity, 0..1, at even steps from the middle to the rim, where it is 0. */
  readonly opacity: readonly number[];
}

/** Sets the four channels of `out` to the colour at a place. */
export function spottedColour({ base, spots }: Spotted, x: number, y: number, out: Float64Array): void {
  radialColour(base, x, y, out);
  for (const spot of spots) {
    const opacity = opacityAt(spot, x, y);
    for (let c = 0; c < 3; c++) out[c] += (spot.colour[c] - out[c]) * opacity;
  }
}

export function opacityAt({ cx, cy, rx, ry, opacity }: Spot, x: number, y: number): number {
  const [u, v] = [(x - cx) / rx, (y - cy) / ry];
  const along = Math.sqrt(u * u + v * v) * (opacity.length - 1);
  if (along >= opacity.length - 1) return 0;
  const step = Math.floor(along);
  return opacity[step] + (opacity[step + 1] - opacity[step]) * (along - step);
}
