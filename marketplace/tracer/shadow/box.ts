import type { Element, Fill, Group, Shape, Stop } from "../drawing.ts";
import { type BoxFit, fitBox } from "./box-fit.ts";
import type { Shadow } from "./field.ts";

/**
 * A shadow of a rounded box as gradients: a radial one in each corner, linear ones between, flat inside; only the parts
 * that are seen. Null where the shadow is of another shape.
 */
export function boxShadow(shadow: Shadow): Group | null {
  const fit = fitBox(shadow);
  return fit && { id: "shadow", elements: boxElements(fit, shadow), crisp: true };
}

/** A stretch of the picture across or down: beside the inner box, or across it, where the distance does not change. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The side of the inner box that distances are measured from; null across it. */
  readonly origin: number | null;
}

function stretches(near: number, far: number, radius: number): Stretch[] {
  const from = near - radius;
  const to = far + radius;
  if (near === far) return [{ from, to, origin: near }];
  return [
    { from, to: near, origin: near },
    { from: near, to: far, origin: null },
    { from: far, to, origin: far },
  ];
}

export function boxElements({ box, fade: { from, values } }: BoxFit, shadow: Shadow): Element[] {
  const [r, g, b] = shadow.colour;
  const stops: Stop[] = values.map((value, k) => ({
    offset: from + ((1 - from) * k) / (values.length - 1),
    colour: { r, g, b, opacity: Math.round((value / 255) * 1000) / 1000 },
  }));
  const elements: Element[] = [];
  const radii = { rx: box[4], ry: box[5] };
  for (const y of stretches(box[2], box[3], radii.ry)) {
    for (const x of stretches(box[0], box[1], radii.rx)) {
      for (const [across, down, fill] of fillsOf(x, y, radii, stops)) {
        if (!isSeen(shadow, across, down)) continue;
        elements.push({ fill, shape: shapeOf(across, down) });
      }
    }
  }
  return elements;
}

/** The ellipse around a point, or a rectangle. */
function shapeOf(x: Stretch, y: Stretch): Shape {
  const [width, height] = [x.to - x.from, y.to - y.from];
  const isAround = ({ from, to, origin }: Stretch) => origin !== null && from < origin && origin < to;
  if (!isAround(x) || !isAround(y)) return { kind: "rect", x: x.from, y: y.from, width, height };
  const [cx, cy] = [(x.from + x.to) / 2, (y.from + y.to) / 2];
  if (width === height) return { kind: "circle", cx, cy, r: width / 2 };
  return { kind: "ellipse", cx, cy, rx: width / 2, ry: height / 2 };
}

/** What fills the rectangle of two stretches: a corner, a side, cut in two where its gradient turns, or the middle. */
function fillsOf(
  x: Stretch,
  y: Stretch,
  { rx, ry }: { readonly rx: number; readonly ry: number },
  stops: readonly Stop[],
): (readonly [Stretch, Stretch, Fill])[] {
  const { origin: cx } = x;
  const { origin: cy } = y;
  if (cx !== null && cy !== null) return [[x, y, { kind: "radial", cx, cy, r: rx, ry, stops }]];
  if (cx !== null) {
    const [y1, y2] = [y.from, y.from];
    return halves(x, cx).map(([half, x2]) => [half, y, { kind: "linear", x1: cx, y1, x2, y2, stops }]);
  }
  if (cy !== null) {
    const [x1, x2] = [x.from, x.from];
    return halves(y, cy).map(([half, y2]) => [x, half, { kind: "linear", x1, y1: cy, x2, y2, stops }]);
  }
  return [[x, y, { kind: "flat", colour: stops[0].colour }]];
}

/** A stretch to either side of its origin, each with where it ends away from it. */
function halves({ from, to }: Stretch, origin: number): [Stretch, number][] {
  const found: [Stretch, number][] = [];
  if (from < origin) found.push([{ from, to: origin, origin }, from]);
  if (to > origin) found.push([{ from: origin, to, origin }, to]);
  return found;
}

function isSeen({ alpha, bare, x: left, y: top, width, height }: Shadow, x: Stretch, y: Stretch): boolean {
  const end = (stretch: Stretch, start: number, size: number) => Math.min(size, Math.ceil(stretch.to - start));
  for (let row = Math.max(0, Math.floor(y.from - top)); row < end(y, top, height); row++) {
    for (let column = Math.max(0, Math.floor(x.from - left)); column < end(x, left, width); column++) {
      const i = row * width + column;
      if (bare[i] === 1 && alpha[i] > 0) return true;
    }
  }
  return false;
}
