import { BadMarkupError, type Markup } from "./markup.ts";
import { lengthOf, numbersOf, type Viewport, wholeOf } from "./numbers.ts";
import { type Curve, readPath } from "./path-data.ts";

/** The curves of a shape element, in its own units. */
export function curvesOf({ name, attributes }: Markup, viewport: Viewport): Curve[] {
  const length = (attribute: string, otherwise = 0) =>
    lengthOf(attributes.get(attribute), otherwise, wholeOf(attribute, viewport));
  if (name === "path") return readPath(attributes.get("d") ?? "");
  if (name === "circle") return ellipse(length("cx"), length("cy"), length("r"), length("r"));
  if (name === "ellipse") return ellipse(length("cx"), length("cy"), length("rx"), length("ry"));
  if (name === "line") return polygon([length("x1"), length("y1"), length("x2"), length("y2")], false);
  if (name === "rect") {
    const [x, y, width, height] = [length("x"), length("y"), length("width"), length("height")];
    const rx = Math.min(length("rx", length("ry")), width / 2);
    const ry = Math.min(length("ry", rx), height / 2);
    if (width <= 0 || height <= 0) return [];
    if (rx <= 0 || ry <= 0) return polygon([x, y, x + width, y, x + width, y + height, x, y + height], true);
    const [r, b] = [x + width, y + height];
    return readPath(
      `M${x + rx} ${y}H${r - rx}A${rx} ${ry} 0 0 1 ${r} ${y + ry}V${b - ry}A${rx} ${ry} 0 0 1 ${r - rx} ${b}` +
        `H${x + rx}A${rx} ${ry} 0 0 1 ${x} ${b - ry}V${y + ry}A${rx} ${ry} 0 0 1 ${x + rx} ${y}Z`,
    );
  }
  return polygon(numbersOf(attributes.get("points") ?? ""), name === "polygon");
}

function polygon(points: readonly number[], closed: boolean): Curve[] {
  if (points.length % 2 !== 0) throw new BadMarkupError("points are not pairs of numbers");
  if (points.length < 4) return [];
  return [{ x: points[0], y: points[1], kinds: Array(points.length / 2 - 1).fill(1), points: points.slice(2), closed }];
}

function ellipse(cx: number, cy: number, rx: number, ry: number): Curve[] {
  if (rx <= 0 || ry <= 0) return [];
  return readPath(
    `M${cx + rx} ${cy}A${rx} ${ry} 0 0 1 ${cx} ${cy + ry}A${rx} ${ry} 0 0 1 ${cx - rx} ${cy}` +
      `A${rx} ${ry} 0 0 1 ${cx} ${cy - ry}A${rx} ${ry} 0 0 1 ${cx + rx} ${cy}Z`,
  );
}
