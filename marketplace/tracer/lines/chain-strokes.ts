import { lengthOf } from "../curves/length.ts";
import type { Colour, Shape } from "../drawing.ts";
import type { Ends } from "./fit-path.ts";
import { crossing, lineThrough, type Place } from "./straight-line.ts";
import { type FoundStroke, fitStroke } from "./strokes-of.ts";

export interface OwnStroke extends FoundStroke {
  readonly colour: Colour;
}

/** How the end of a stroke goes on: as which other, from which of its sides. */
export interface Link {
  readonly stroke: number;
  readonly side: 0 | 1;
  /** The stroke goes on round a corner. */
  readonly bends: boolean;
  /** The strokes that lie over the gap. */
  readonly over: readonly number[];
}

/** A name for one side of a stroke. */
export const keyOf = (stroke: number, side: 0 | 1) => stroke * 2 + side;

/** Strokes that are one. */
export interface Chain {
  readonly members: readonly number[];
  /** Along them, from corner to corner. */
  readonly stretches: readonly (readonly Place[])[];
  readonly closed: boolean;
  readonly ends: Ends;
}

export function chainFrom(
  first: number,
  firstSide: 0 | 1,
  next: ReadonlyMap<number, Link>,
  found: readonly OwnStroke[],
  endPlace: (stroke: number, side: 0 | 1) => Place | null,
): Chain {
  const members: number[] = [];
  const stretches: Place[][] = [[]];
  let [stroke, side] = [first, firstSide];
  for (;;) {
    members.push(stroke);
    const { points } = found[stroke];
    for (const point of side === 0 ? points : points.toReversed()) stretches[stretches.length - 1].push(point);
    const link = next.get(keyOf(stroke, side === 0 ? 1 : 0));
    if (link && !members.includes(link.stroke)) {
      [stroke, side] = [link.stroke, link.side];
      if (link.bends) stretches.push([]);
      continue;
    }
    const closed = link ? link.stroke === first && link.side === firstSide : found[first].closed;
    const ends: Ends = closed ? [null, null] : [endPlace(first, firstSide), endPlace(stroke, side === 0 ? 1 : 0)];
    return { members, stretches, closed, ends };
  }
}

/** What a chain is drawn as: where it has corners and is straight between them, a polyline with just these. */
export function shapeOfChain({ stretches, closed, ends }: Chain, width: number): Shape {
  const whole = () => fitStroke(stretches.flat(), width, closed, ends);
  if (stretches.length === 1 || closed) return whole();
  const last = stretches.length - 1;
  const fitted = stretches.map((points, i) =>
    fitStroke(points, width, false, [i === 0 ? ends[0] : null, i === last ? ends[1] : null]),
  );
  const runs = fitted.map(verticesOf);
  if (runs.some((run) => run === null)) return whole();
  const shortest = 3 + 2 * width;
  const vertices = runs.reduce((before, after) => before && after && cornered(before, after, shortest));
  return { kind: "polyline", points: vertices?.flatMap(({ x, y }) => [x, y]) ?? [] };
}

function verticesOf(shape: Shape): Place[] | null {
  if (shape.kind === "line")
    return [
      { x: shape.x1, y: shape.y1 },
      { x: shape.x2, y: shape.y2 },
    ];
  if (shape.kind !== "polyline") return null;
  return shape.points.flatMap((x, i) => (i % 2 === 0 ? [{ x, y: shape.points[i + 1] }] : []));
}

/**
 * Two runs of straight lines as one, with the corner where the last line of the one meets the first of the other. Short
 * lines there are left out: they were measured together with the thing that hides the corner.
 */
function cornered(one: readonly Place[], other: readonly Place[], shortest: number): Place[] {
  const isShort = (a: Place, b: Place) => lengthOf(a.x - b.x, a.y - b.y) < shortest;
  const before = one.length > 2 && isShort(one[one.length - 2], one[one.length - 1]) ? one.slice(0, -1) : one;
  const after = other.length > 2 && isShort(other[0], other[1]) ? other.slice(1) : other;
  const [from, to] = [one[one.length - 1], other[0]];
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const met = crossing(lineThrough(before.slice(-2)), lineThrough(after.slice(0, 2)));
  const gap = lengthOf(to.x - from.x, to.y - from.y);
  const isNear = met && lengthOf(met.x - middle.x, met.y - middle.y) <= gap + shortest;
  return [...before.slice(0, -1), isNear ? met : middle, ...after.slice(1)];
}
