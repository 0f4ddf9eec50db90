import { type Element, type Shape, straight } from "../drawing.ts";
import { pointsAlong } from "../lines/points-along.ts";
import { boxOf } from "../lines/round.ts";
import type { Place } from "../lines/straight-line.ts";
import type { Field } from "../regions/field.ts";
import { isField } from "../regions/gradient.ts";
import { type Radial, radialColour } from "../regions/radial-fit.ts";
import { opacityAt, type Spot, type Spotted } from "../regions/spots.ts";
import { drawField } from "./draw-field.ts";
import { radialFill } from "./fills.ts";

/** A field, or a gradient with its spots, as elements that are drawn only within the outline of the area that they fill. */
export function drawInParts(gradient: Field | Spotted, shape: Shape): Element[] {
  if (isField(gradient)) return drawField(gradient).map((element) => ({ ...element, within: shape }));
  const { base } = gradient;
  const fill = radialFill(base);
  const around = pointsAlong(shape);
  const spots = gradient.spots.filter((spot) => reaches(spot, around));
  const drawn = spots.map((spot) => drawSpot(spot, base));
  if (spots.every((spot) => isInside(spot, shape, around))) return [{ fill, shape }, ...drawn];
  return [{ fill, shape: boxAround(around) }, ...drawn].map((element) => ({ ...element, within: shape }));
}

/** The least rectangle on whole pixels around an outline. */
function boxAround(around: readonly Place[]): Shape {
  const { left, top, right, bottom } = boxOf(around);
  const [x, y] = [Math.floor(left), Math.floor(top)];
  return { kind: "rect", x, y, width: Math.ceil(right) - x, height: Math.ceil(bottom) - y };
}

/** An ellipse whose opacity falls towards its rim, in the fewest stops of which no difference is seen on its base. */
function drawSpot({ cx, cy, rx, ry, colour, opacity }: Spot, base: Radial): Element {
  radialColour(base, cx, cy, under);
  const contrast = Math.max(...colour.map((level, c) => Math.abs(level - under[c])));
  const own = straight(colour[0], colour[1], colour[2], 255);
  const places = opacity.map((_, k) => k);
  for (let k = places.length - 2; k > 0; k--) {
    const [before, at, after] = places.slice(k - 1, k + 2);
    const share = (at - before) / (after - before);
    const off = opacity[at] - opacity[before] * (1 - share) - opacity[after] * share;
    if (Math.abs(off) * contrast < levelsMin) places.splice(k, 1);
  }
  const stops = places.map((k) => ({
    offset: k / (opacity.length - 1),
    colour: { ...own, opacity: Math.round(opacity[k] * 100) / 100 },
  }));
  return {
    fill: { kind: "radial", cx, cy, r: rx, ry, stops },
    shape: { kind: "ellipse", cx, cy, rx, ry },
  };
}

/** What a stop must add to be seen, levels. */
const levelsMin = 2;
const under = new Float64Array(4);

/** Whether a spot lies over some of what is within an outline. */
function reaches(spot: Spot, around: readonly Place[]): boolean {
  return isAmid(spot.cx, spot.cy, around) || around.some((place) => opacityAt(spot, place.x, place.y) > 0);
}

/** Whether all of a spot that is seen lies within a shape of one outline. */
function isInside(spot: Spot, shape: Shape, around: readonly Place[]): boolean {
  if (shape.kind === "path" && shape.outlines.length > 1) return false;
  if (shape.kind === "rect" && shape.rx) return false;
  return isAmid(spot.cx, spot.cy, around) && around.every((place) => opacityAt(spot, place.x, place.y) === 0);
}

/** Whether a ray from a place crosses the outline an odd number of times. */
function isAmid(x: number, y: number, around: readonly Place[]): boolean {
  let inside = false;
  for (let i = 0, j = around.length - 1; i < around.length; j = i++) {
    const [from, to] = [around[j], around[i]];
    if (from.y > y !== to.y > y && x < from.x + ((y - from.y) / (to.y - from.y)) * (to.x - from.x)) inside = !inside;
  }
  return inside;
}
