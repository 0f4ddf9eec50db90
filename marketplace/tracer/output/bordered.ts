import { lengthOf } from "../curves/length.ts";
import type { Element, Shape } from "../drawing.ts";

/**
 * A circle or rectangle with a border of even width, as one element: `inner` lies on `outer` and leaves of it just the
 * border. Null where it does not.
 */
export function bordered(outer: Element, inner: Element): Element | null {
  if (outer.stroke || inner.stroke || outer.fade || inner.fade || outer.fill.kind !== "flat") return null;
  const { colour } = outer.fill;
  const border = borderOf(outer.shape, inner.shape);
  if (!border || colour.opacity < 1) return null;
  const { shape, width } = border;
  return { fill: inner.fill, shape, stroke: { colour, width, cap: "butt" }, whole: true };
}

interface Border {
  /** Its middle line. */
  readonly shape: Shape;
  readonly width: number;
}

function borderOf(outer: Shape, inner: Shape): Border | null {
  if (outer.kind === "circle" && inner.kind === "circle") {
    const width = outer.r - inner.r;
    if (lengthOf(outer.cx - inner.cx, outer.cy - inner.cy) > offMax || !isBorder(width, 2 * outer.r)) return null;
    return { shape: { ...outer, r: outer.r - width / 2 }, width };
  }
  if (outer.kind !== "rect" || inner.kind !== "rect") return null;
  const sides = [
    inner.x - outer.x,
    inner.y - outer.y,
    outer.x + outer.width - inner.x - inner.width,
    outer.y + outer.height - inner.y - inner.height,
  ];
  const width = sides.reduce((sum, side) => sum + side, 0) / 4;
  if (sides.some((side) => Math.abs(side - width) > offMax)) return null;
  if (!isBorder(width, Math.min(outer.width, outer.height))) return null;
  const [round, within] = [outer.rx ?? 0, inner.rx ?? 0];
  // Within a corner that is hardly round a border's edge is sharp.
  if (Math.abs(round - within - width) > radiusOffMax && Math.max(round, within) > width + 0.5) return null;
  const rx = within > 0 ? within + width / 2 : Math.max(0, round - width / 2);
  const shape = {
    kind: "rect" as const,
    x: outer.x + width / 2,
    y: outer.y + width / 2,
    width: outer.width - width,
    height: outer.height - width,
    ...(rx > 0.75 && { rx }),
  };
  return { shape, width };
}

/** How far apart two middles may lie, or two sides of a border, px. */
const offMax = 0.3;
const radiusOffMax = 1.2;

function isBorder(width: number, across: number): boolean {
  return width > 0.6 && width <= across / 4 && (width <= 8 || width <= across / 7);
}
