/** @jsxRuntime automatic @jsxImportSource preact */
import { useMemo } from "preact/hooks";
import { type Drawing, type Element, fillColours, type Group, hex } from "../../../tracer/drawing.ts";
import { pathData } from "../../../tracer/output/write-svg.ts";

const nodesShown = 20_000;

/** The drawing's lines alone, with the points that they go through. Elements are made one by one, never from text. */
export function Outlines({ drawing, layer }: { drawing: Drawing; layer: number | undefined }) {
  const content = useMemo(
    () => (
      <>
        {drawing.groups.map(({ elements }, index) => (
          <g class={index === layer ? "is-on" : undefined}>
            {elements.map((element) => (
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

function ShapeOf({ element: { shape }, fill }: { element: Element; fill?: string }) {
  if (shape.kind === "circle") return <circle cx={shape.cx} cy={shape.cy} r={shape.r} fill={fill} />;
  if (shape.kind === "rect") {
    return <rect x={shape.x} y={shape.y} width={shape.width} height={shape.height} fill={fill} />;
  }
  return <path d={pathData(shape.outlines, 1)} fill={fill} fill-rule={shape.evenOdd ? "evenodd" : undefined} />;
}

/** A line of no length for each point: its round ends are a dot of one size at any zoom. */
function nodeDots({ groups }: Drawing): string {
  const dots: string[] = [];
  for (const { elements } of groups) {
    for (const { shape } of elements) {
      if (shape.kind !== "path") continue;
      for (const { x, y, kinds, points } of shape.outlines) {
        dots.push(`M${x} ${y}h0`);
        let at = 0;
        for (const kind of kinds) {
          at += kind * 2;
          dots.push(`M${points[at - 2]} ${points[at - 1]}h0`);
        }
        if (dots.length > nodesShown) return dots.join("");
      }
    }
  }
  return dots.join("");
}

const thumbElements = 60;

/** A layer, small and in one colour a shape. */
export function Thumb({ group, repaint }: { group: Group; repaint: (colour: string) => string }) {
  const { elements } = group;
  return (
    <svg viewBox={boxOf(elements)} aria-hidden="true">
      {elements.slice(0, thumbElements).map((element) => (
        <ShapeOf element={element} fill={repaint(hex(fillColours(element.fill)[0] ?? black))} />
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
    if (shape.kind === "circle") {
      see(shape.cx - shape.r, shape.cy - shape.r);
      see(shape.cx + shape.r, shape.cy + shape.r);
    } else if (shape.kind === "rect") {
      see(shape.x, shape.y);
      see(shape.x + shape.width, shape.y + shape.height);
    } else {
      for (const { x, y, points } of shape.outlines) {
        see(x, y);
        for (let i = 0; i + 1 < points.length; i += 2) see(points[i] ?? 0, points[i + 1] ?? 0);
      }
    }
  }
  const room = Math.max(1, (right - left) * 0.06, (bottom - top) * 0.06);
  return [left - room, top - room, right - left + 2 * room, bottom - top + 2 * room].map(Math.round).join(" ");
}
