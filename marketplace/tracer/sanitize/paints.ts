import type { Colour, Fill, Stop } from "../drawing.ts";
import { BadMarkupError, type Markup } from "./markup.ts";
import { apply, determinant, identity, type Matrix, readTransform, times } from "./matrix.ts";
import { lengthOf, numbersOf, type Viewport, wholeOf } from "./numbers.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** All gradients of a drawing by their id. */
export function gradientsOf(root: Markup): ReadonlyMap<string, Markup> {
  const found = new Map<string, Markup>();
  const look = (node: Markup) => {
    const id = node.attributes.get("id");
    if (id && /^(linear|radial)Gradient$/.test(node.name)) found.set(id, node);
    node.children.forEach(look);
  };
  look(root);
  return found;
}

/** What paints refer to. */
export interface Paints {
  readonly gradients: ReadonlyMap<string, Markup>;
  /** What percentages in the user's space are of. */
  readonly viewport: Viewport;
}

/**
 * A `fill` or `stroke` as it is drawn: `box` is the shape's in its own units, `matrix` leads from those to pixels. Null for
 * none. Linear gradients are exact under any matrix, radial ones under those that keep circles round.
 */
export function fillOf(
  paint: string,
  opacity: number,
  box: Box,
  matrix: Matrix,
  { gradients, viewport }: Paints,
): Fill | null {
  const id = /^url\(\s*["']?#([^"')]+)["']?\s*\)$/.exec(paint)?.[1];
  if (id === undefined) {
    const colour = readColour(paint, opacity);
    return colour && colour.opacity > 0 ? { kind: "flat", colour } : null;
  }
  const gradient = gradients.get(id);
  if (!gradient) throw new BadMarkupError(`there is no gradient "${id.slice(0, 40)}"`);
  const { attributes } = gradient;
  const stops = stopsOf(gradient, opacity);
  if (stops.length === 0) return null;
  if (stops.length === 1) return { kind: "flat", colour: stops[0].colour };
  const inBox = attributes.get("gradientUnits") !== "userSpaceOnUse";
  const unit = { width: 1, height: 1 };
  const length = (name: string, share: number) => {
    const whole = wholeOf(name, inBox ? unit : viewport);
    return lengthOf(attributes.get(name), share * whole, whole);
  };
  const isRadial = gradient.name === "radialGradient";
  const last: Fill = { kind: "flat", colour: stops[stops.length - 1].colour };
  if (isRadial && !(length("r", 0.5) > 0)) return last;
  // Viewers draw nothing where there is no box to measure it by, as of a level line.
  if (inBox && !(box.width > 0 && box.height > 0)) return null;
  const units: Matrix = inBox ? [box.width, 0, 0, box.height, box.x, box.y] : identity;
  const whole = times(matrix, times(units, readTransform(attributes.get("gradientTransform"))));
  if (determinant(whole) === 0) return last;
  if (isRadial) {
    const [cx, cy] = apply(whole, length("cx", 0.5), length("cy", 0.5));
    return { kind: "radial", cx, cy, r: length("r", 0.5) * Math.sqrt(Math.abs(determinant(whole))), stops };
  }
  const from = [length("x1", 0), length("y1", 0)] as const;
  return linear(whole, from, [length("x2", 1), length("y2", 0)], stops);
}

type Point = readonly [number, number];

/** A gradient's colour changes along its normal, which does not turn as its line does: its own slope is carried over. */
function linear(m: Matrix, [x1, y1]: Point, [x2, y2]: Point, stops: readonly Stop[]): Fill {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const square = dx * dx + dy * dy;
  const det = determinant(m);
  if (square === 0 || det === 0) return { kind: "flat", colour: stops[stops.length - 1].colour };
  const gx = (m[3] * dx - m[1] * dy) / (det * square);
  const gy = (m[0] * dy - m[2] * dx) / (det * square);
  const slope = gx * gx + gy * gy;
  const [x, y] = apply(m, x1, y1);
  return { kind: "linear", x1: x, y1: y, x2: x + gx / slope, y2: y + gy / slope, stops };
}

function stopsOf({ children }: Markup, opacity: number): Stop[] {
  let last = 0;
  return children.map(({ name, attributes }) => {
    if (name !== "stop") throw new BadMarkupError(`<${name}> in a gradient`);
    last = Math.max(last, share(attributes.get("offset"), 0));
    const colour = readColour(
      attributes.get("stop-color") ?? "#000",
      opacity * share(attributes.get("stop-opacity"), 1),
    );
    if (!colour) throw new BadMarkupError("a stop has no colour");
    return { offset: last, colour };
  });
}

/** A share of one, as a number or in percent, kept within 0 and 1. */
export function share(text: string | undefined, otherwise: number): number {
  return Math.min(1, Math.max(0, lengthOf(text, otherwise)));
}

const names: Readonly<Record<string, string | undefined>> = { black: "#000000", white: "#ffffff" };

function readColour(text: string, opacity: number): Colour | null {
  if (text === "none" || text === "transparent") return null;
  const word = names[text] ?? text;
  const round = Math.round(opacity * 100) / 100;
  const hex = /^#(?:([0-9a-f]{6})|([0-9a-f])([0-9a-f])([0-9a-f]))$/i.exec(word);
  if (hex) {
    const [, six, r, g, b] = hex;
    const value = Number.parseInt(six ?? `${r}${r}${g}${g}${b}${b}`, 16);
    return { r: value >> 16, g: (value >> 8) & 255, b: value & 255, opacity: round };
  }
  const rgb = /^rgb\(([^()%]*)\)$/.exec(word);
  const values = rgb ? numbersOf(rgb[1]) : [];
  if (values.length !== 3) throw new BadMarkupError(`the colour "${text.slice(0, 40)}" is not written #rrggbb`);
  const [r, g, b] = values.map((v) => Math.min(255, Math.max(0, Math.round(v)))) as [number, number, number];
  return { r, g, b, opacity: round };
}
