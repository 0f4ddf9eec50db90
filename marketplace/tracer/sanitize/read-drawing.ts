import type { Drawing, Element, Group, Outline } from "../drawing.ts";
import { BadMarkupError, type Markup } from "./markup.ts";
import { apply, determinant, type Matrix, readTransform, times } from "./matrix.ts";
import { lengthOf, numbersOf, type Viewport, wholeOf } from "./numbers.ts";
import { type Box, fillOf, gradientsOf, share } from "./paints.ts";
import type { Curve } from "./path-data.ts";
import { curvesOf } from "./shapes.ts";
import { type Cap, flatten, strokeOutlines } from "./stroke.ts";

export interface Canvas {
  /** Px. */
  readonly width: number;
  readonly height: number;
}

/** What is drawn, as the tracer's own drawing: our writer writes it, nothing of the model's text is passed on. */
export function readDrawing(root: Markup, { width, height }: Canvas, names: "layer" | "object"): Drawing {
  const [x, y, w, h] = viewBoxOf(root);
  const scale = Math.min(width / w, height / h);
  const matrix: Matrix = [
    scale,
    0,
    0,
    scale,
    (width - w * scale) / 2 - x * scale,
    (height - h * scale) / 2 - y * scale,
  ];
  const reader = new Reader(root, { width: w, height: h });
  const look = reader.lookOf(root, { matrix, ...plain });
  const groups: Group[] = [];
  let loose: Element[] = [];
  for (const child of root.children) {
    const elements = reader.read(child, look);
    if (elements.length === 0) continue;
    if (child.name !== "g") {
      if (loose.length === 0) groups.push({ id: `${names}-${groups.length + 1}`, elements: loose });
      loose.push(...elements);
      continue;
    }
    groups.push({ id: `${names}-${groups.length + 1}`, elements });
    loose = [];
  }
  if (groups.length === 0) throw new BadMarkupError("it draws nothing");
  return { width, height, spanX: width, spanY: height, grid: 8, oneWay: false, crisp: false, groups };
}

/** The part of the drawing's own plane that is shown, as x, y, width, height. */
export function viewBoxOf({ attributes }: Markup): readonly [number, number, number, number] {
  const box = attributes.get("viewBox");
  const values = box
    ? numbersOf(box)
    : [0, 0, lengthOf(attributes.get("width"), 0), lengthOf(attributes.get("height"), 0)];
  if (values.length !== 4 || !(values[2] > 0 && values[3] > 0)) throw new BadMarkupError("it has no usable viewBox");
  return values as unknown as readonly [number, number, number, number];
}

/** What a shape takes over from the groups it is in. */
interface Look {
  readonly matrix: Matrix;
  readonly fill: string;
  readonly fillOpacity: number;
  readonly evenOdd: boolean;
  readonly stroke: string;
  readonly strokeOpacity: number;
  readonly strokeWidth: number;
  readonly cap: Cap;
  readonly opacity: number;
}

const plain: Omit<Look, "matrix"> = {
  fill: "#000000",
  fillOpacity: 1,
  evenOdd: false,
  stroke: "none",
  strokeOpacity: 1,
  strokeWidth: 1,
  cap: "butt",
  opacity: 1,
};

const pointsMax = 100_000;

class Reader {
  readonly gradients: ReadonlyMap<string, Markup>;
  readonly viewport: Viewport;
  private points = 0;

  constructor(root: Markup, viewport: Viewport) {
    this.gradients = gradientsOf(root);
    this.viewport = viewport;
  }

  read(node: Markup, above: Look): Element[] {
    if (node.name === "defs" || node.name.endsWith("Gradient")) return [];
    if (node.name === "stop") throw new BadMarkupError("<stop> is misplaced");
    const look = this.lookOf(node, above);
    if (node.name === "g") return node.children.flatMap((child) => this.read(child, look));
    if (node.children.length > 0) throw new BadMarkupError(`<${node.name}> has elements in it`);
    const curves = curvesOf(node, this.viewport);
    return [...this.filled(curves, look), ...this.stroked(curves, look)];
  }

  lookOf({ attributes }: Markup, above: Look): Look {
    const text = (name: string, otherwise: string) => attributes.get(name) ?? otherwise;
    return {
      matrix: times(above.matrix, readTransform(attributes.get("transform"))),
      fill: text("fill", above.fill),
      fillOpacity: share(attributes.get("fill-opacity"), above.fillOpacity),
      evenOdd: text("fill-rule", above.evenOdd ? "evenodd" : "nonzero") === "evenodd",
      stroke: text("stroke", above.stroke),
      strokeOpacity: share(attributes.get("stroke-opacity"), above.strokeOpacity),
      strokeWidth: lengthOf(attributes.get("stroke-width"), above.strokeWidth, wholeOf("stroke-width", this.viewport)),
      cap: capOf(text("stroke-linecap", above.cap)),
      opacity: above.opacity * share(attributes.get("opacity"), 1),
    };
  }

  private filled(curves: readonly Curve[], look: Look): Element[] {
    const fill = fillOf(look.fill, look.fillOpacity * look.opacity, boxOf(curves), look.matrix, this);
    const outlines = fill ? curves.map((curve) => this.placed(curve, look.matrix)) : [];
    if (!fill || outlines.length === 0) return [];
    return [{ fill, shape: { kind: "path", outlines, ...(look.evenOdd ? { evenOdd: true } : {}) } }];
  }

  private stroked(curves: readonly Curve[], look: Look): Element[] {
    if (look.strokeWidth <= 0) return [];
    const { matrix, strokeWidth, cap } = look;
    const fill = fillOf(look.stroke, look.strokeOpacity * look.opacity, boxOf(curves), matrix, this);
    if (!fill) return [];
    const scale = Math.sqrt(Math.abs(determinant(matrix)));
    const outlines = curves
      .flatMap((curve) => strokeOutlines(curve, strokeWidth, cap, scale))
      .map((outline) => this.placed(outline, matrix));
    return outlines.length > 0 ? [{ fill, shape: { kind: "path", outlines } }] : [];
  }

  private placed({ x, y, kinds, points }: Outline, matrix: Matrix): Outline {
    this.points += points.length / 2;
    if (this.points > pointsMax) throw new BadMarkupError(`it has over ${pointsMax} points`);
    const [px, py] = apply(matrix, x, y);
    const out: number[] = [];
    for (let i = 0; i < points.length; i += 2) out.push(...apply(matrix, points[i], points[i + 1]));
    return { x: px, y: py, kinds, points: out };
  }
}

function capOf(text: string): Cap {
  if (text === "butt" || text === "round" || text === "square") return text;
  throw new BadMarkupError(`stroke-linecap "${text.slice(0, 20)}" is unknown`);
}

function boxOf(curves: readonly Curve[]): Box {
  const points = curves.flatMap((curve) => flatten(curve, 1));
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const [x, y] = [least(xs), least(ys)];
  return { x, y, width: most(xs) - x, height: most(ys) - y };
}
