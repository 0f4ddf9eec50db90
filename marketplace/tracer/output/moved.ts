import type { Element, Fill, Group, Outline, Shape } from "../drawing.ts";

/** Groups as they are, elsewhere: everything `x` to the right and `y` down, in the drawing's units. */
export function moved(groups: readonly Group[], x: number, y: number): Group[] {
  const within = once((shape: Shape) => movedShape(shape, x, y));
  const element = ({ fill, shape, ...rest }: Element): Element => ({
    ...rest,
    fill: movedFill(fill, x, y),
    shape: movedShape(shape, x, y),
    ...(rest.within && { within: within(rest.within) }),
  });
  return groups.map((group) => ({ ...group, elements: group.elements.map(element) }));
}

/** What is made of the same thing again is the same. */
function once<T extends object, R>(make: (of: T) => R): (of: T) => R {
  const made = new Map<T, R>();
  return (of) => {
    if (!made.has(of)) made.set(of, make(of));
    return made.get(of)!;
  };
}

function movedFill(fill: Fill, x: number, y: number): Fill {
  if (fill.kind === "linear") return { ...fill, x1: fill.x1 + x, y1: fill.y1 + y, x2: fill.x2 + x, y2: fill.y2 + y };
  return fill.kind === "radial" ? { ...fill, cx: fill.cx + x, cy: fill.cy + y } : fill;
}

function movedShape(shape: Shape, x: number, y: number): Shape {
  switch (shape.kind) {
    case "path":
      return { ...shape, outlines: shape.outlines.map((outline) => movedOutline(outline, x, y)) };
    case "circle":
    case "ellipse":
      return { ...shape, cx: shape.cx + x, cy: shape.cy + y };
    case "rect":
      return { ...shape, x: shape.x + x, y: shape.y + y };
    case "line":
      return { ...shape, x1: shape.x1 + x, y1: shape.y1 + y, x2: shape.x2 + x, y2: shape.y2 + y };
    default:
      return { ...shape, points: movedPoints(shape.points, x, y) };
  }
}

function movedOutline(outline: Outline, x: number, y: number): Outline {
  return { ...outline, x: outline.x + x, y: outline.y + y, points: movedPoints(outline.points, x, y) };
}

function movedPoints(points: readonly number[], x: number, y: number): number[] {
  return points.map((v, i) => v + (i % 2 === 0 ? x : y));
}
