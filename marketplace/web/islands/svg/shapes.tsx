/** @jsxRuntime automatic @jsxImportSource preact */
import { useMemo } from "preact/hooks";
import {
  asOutlined,
  coloursOf,
  type Drawing,
  type Element,
  type Group,
  hex,
  type Shape,
} from "../../../tracer/drawing.ts";
import { pathData } from "../../../tracer/output/path-data.ts";

const nodesShown = 20_000;

/** The drawing's lines alone, with the points that they go through. Elements are made one by one, never from text. */
export function Outlines({ drawing, layer }: { drawing: Drawing; layer: number | undefined }) {
  const content = useMemo(
    () => (
      <>
        {drawing.groups.map(({ elements }, index) => (
          <g class={index === layer ? "is-on" : undefined}>
            {asOutlined(elements).map((element) => (
              <ShapeOf element={element} />
            ))}
          </g>
        ))}
        <path class="nodes" d={nodeDots(drawing)} />
      </>
    ),
    [drawing, layer],
  );
  return (
    <svg class="outlines" viewBox={`0 0 ${drawing.spanX} ${drawing.spanY}`} preserveAspectRatio="none" role="img">
      <title>The drawing's outlines</title>
      {content}
    </svg>
  );
}

/** In one colour, where one is given: a line's own is that of its stroke. */
function ShapeOf({ element: { shape, fill, stroke }, colour }: { element: Element; colour?: string }) {
  const drawn = colour && stroke ? { stroke: colour, "stroke-width": stroke.width } : {};
  const look = { fill: colour && fill.kind === "none" ? "none" : colour, ...drawn };
  switch (shape.kind) {
    case "circle":
      return <circle cx={shape.cx} cy={shape.cy} r={shape.r} {...look} />;
    case "ellipse":
      return <ellipse cx={shape.cx} cy={shape.cy} rx={shape.rx} ry={shape.ry} {...look} />;
    case "rect":
      return <rect x={shape.x} y={shape.y} width={shape.width} height={shape.height} rx={shape.rx} {...look} />;
    case "line":
      return <line x1={shape.x1} y1={shape.y1} x2={shape.x2} y2={shape.y2} {...look} />;
    case "polyline":
      return <polyline points={shape.points.join(" ")} {...look} />;
    case "polygon":
      return <polygon points={shape.points.join(" ")} {...look} />;
    default:
      return <path d={pathData(shape.outlines, 1)} fill-rule={shape.evenOdd ? "evenodd" : undefined} {...look} />;
  }
}

/** A line of no length for each point: its round ends are a dot of one size at any zoom. */
function nodeDots({ groups }: Drawing): string {
  const dots: string[] = [];
  for (const { elements } of groups) {
    for (const { shape } of asOutlined(elements)) {
      for (const [x, y] of nodesOf(shape)) dots.push(`M${x} ${y}h0`);
      if (dots.length > nodesShown) return dots.join("");
    }
  }
  return dots.join("");
}

/** The points that a shape's outline goes through; none of one that has only a middle. */
function* nodesOf(shape: Shape): Generator<readonly [number, number]> {
  if (shape.kind === "line") {
    yield [shape.x1, shape.y1];
    yield [shape.x2, shape.y2];
  } else if (shape.kind === "polyline" || shape.kind === "polygon") {
    for (let i = 0; i + 1 < shape.points.length; i += 2) yield [shape.points[i] ?? 0, shape.points[i + 1] ?? 0];
  } else if (shape.kind === "path") {
    for (const { x, y, kinds, points } of shape.outlines) {
      yield [x, y];
      let at = 0;
      for (const kind of kinds) {
        at += kind * 2;
        yield [points[at - 2] ?? 0, points[at - 1] ?? 0];
      }
    }
  }
}

const thumbElements = 60;

/** A layer, small and in one colour a shape. */
export function Thumb({ group, repaint }: { group: Group; repaint: (colour: string) => string }) {
  const elements = asOutlined(group.elements);
  return (
    <svg viewBox={boxOf(elements)} aria-hidden="true">
      {elements.slice(0, thumbElements).map((element) => (
        <ShapeOf element={element} colour={repaint(hex(coloursOf(element)[0] ?? black))} />
      ))}
    </svg>
  );
}

const black = { r: 0, g: 0, b: 0, opacity: 1 };

/** Around all of it, as a view box. */
function boxOf(elements: readonly Element[]): string {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0, 0];
  const see = (x: number, y: number) => {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x);
    bottom = Math.max(bottom, y);
  };
  for (const { shape } of elements) {
    if (shape.kind === "circle" || shape.kind === "ellipse") {
      const [rx, ry] = shape.kind === "circle" ? [shape.r, shape.r] : [shape.rx, shape.ry];
      see(shape.cx - rx, shape.cy - ry);
      see(shape.cx + rx, shape.cy + ry);
    } else if (shape.kind === "rect") {
      see(shape.x, shape.y);
      see(shape.x + shape.width, shape.y + shape.height);
    } else if (shape.kind === "path") {
      for (const { x, y, points } of shape.outlines) {
        see(x, y);
        for (let i = 0; i + 1 < points.length; i += 2) see(points[i] ?? 0, points[i + 1] ?? 0);
      }
    } else for (const [x, y] of nodesOf(shape)) see(x, y);
  }
  const room = Math.max(1, (right - left) * 0.06, (bottom - top) * 0.06);
  return [left - room, top - room, right - left + 2 * room, bottom - top + 2 * room].map(Math.round).join(" ");
}
