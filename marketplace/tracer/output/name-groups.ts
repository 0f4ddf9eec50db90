import { asOutlined, type Element, type Group, type Shape } from "../drawing.ts";
import { pointsAlong } from "../lines/points-along.ts";
import { boxOf } from "../lines/round.ts";

/** Groups with ids of their own: what each is, as far as that is known, and a number. */
export function namedGroups(groups: readonly Group[]): Group[] {
  const counts = new Map<string, number>();
  return groups.map((group) => {
    const name = group.id === "object" ? kindOf(group.elements) : (group.id ?? "object");
    if (name === "background" || name === "details") return { ...group, id: name };
    const number = (counts.get(name) ?? 0) + 1;
    counts.set(name, number);
    return { ...group, id: `${name}-${number}` };
  });
}

/** What a group is: the shape that all else in it lies on, if that is one a person has a name for. */
function kindOf(elements: readonly Element[]): string {
  const [first, ...more] = asOutlined(elements);
  if (!first) return "object";
  if (elements.every(({ fill }) => fill.kind === "none") && more.length > 0) return "lines";
  const around = boxOf(pointsAlong(first.shape));
  return more.every(({ shape }) => isWithin(boxOf(pointsAlong(shape)), around)) ? shapeName(first.shape) : "object";
}

function shapeName(shape: Shape): string {
  if (shape.kind === "circle" || shape.kind === "ellipse" || shape.kind === "line") return shape.kind;
  if (shape.kind === "rect") {
    const [thin, long] = [shape.width, shape.height].sort((a, b) => a - b);
    return thin * lineRatio < long ? "line" : "rectangle";
  }
  if (shape.kind !== "path")
    return shape.kind === "polyline" ? "line" : shape.points.length === 6 ? "triangle" : "object";
  const [{ kinds, open = false }] = shape.outlines;
  if (open) return "line";
  const isTriangle = shape.outlines.length === 1 && kinds.length === 3 && kinds.every((kind) => kind === 1);
  return isTriangle ? "triangle" : "object";
}

/** A rectangle this many times as long as wide is a line. */
const lineRatio = 12;

type Box = ReturnType<typeof boxOf>;

function isWithin({ left, top, right, bottom }: Box, around: Box): boolean {
  return left > around.left - 1 && top > around.top - 1 && right < around.right + 1 && bottom < around.bottom + 1;
}
