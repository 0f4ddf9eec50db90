import { type Drawing, type Element, type Fill, hex, type Outline } from "../drawing.ts";

/**
 * Step 8: the drawing as SVG text. Only `svg g path circle rect defs linearGradient radialGradient stop`, numbers, hex
 * colours and references to own gradients can come out of it: it has no way to write anything else.
 */
export function writeSvg(drawing: Drawing): string {
  const { width, height, spanX, spanY, groups, crisp, oneWay, grid: unit } = drawing;
  const gradients = new Map<string, string>();
  const body = groups.map((group) => {
    const elements = writeElements(group.elements, unit, oneWay, gradients);
    return group.id === null ? elements : `<g id="${group.id}"${group.crisp ? crispEdges : ""}>${elements}</g>`;
  });
  const defs = [...gradients].map(([markup, id]) => markup.replace(" ", ` id="${id}" `)).join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${spanX * unit} ${spanY * unit}"` +
    `${spanX * height === spanY * width ? "" : ' preserveAspectRatio="none"'}` +
    `${crisp ? crispEdges : ""}>${defs && `<defs>${defs}</defs>`}${body.join("")}</svg>`
  );
}

const crispEdges = ' shape-rendering="crispEdges"';

function writeElements(
  elements: readonly Element[],
  unit: number,
  oneWay: boolean,
  gradients: Map<string, string>,
): string {
  let text = "";
  let open = "";
  const data = new PathData(unit);
  const flush = () => {
    if (data.text) text += `<path${open} d="${data.text}"/>`;
    data.clear();
  };
  for (const { fill, shape } of elements) {
    const evenOdd = shape.kind === "path" && shape.evenOdd;
    const paint = paintOf(fill, unit, gradients) + (evenOdd ? ' fill-rule="evenodd"' : "");
    if (shape.kind !== "path") {
      flush();
      const n = (v: number) => String(Math.round(v * unit));
      text +=
        shape.kind === "circle"
          ? `<circle${paint} cx="${n(shape.cx)}" cy="${n(shape.cy)}" r="${n(shape.r)}"/>`
          : `<rect${paint}${shape.x ? ` x="${n(shape.x)}"` : ""}${shape.y ? ` y="${n(shape.y)}"` : ""} width="${n(shape.width)}" height="${n(shape.height)}"/>`;
      continue;
    }
    // Neighbours in drawing order with one opaque paint are one element.
    if (!oneWay || paint !== open || fill.kind !== "flat" || fill.colour.opacity < 1) flush();
    open = paint;
    for (const outline of shape.outlines) data.add(outline);
  }
  flush();
  return text;
}

function paintOf(fill: Fill, unit: number, gradients: Map<string, string>): string {
  if (fill.kind === "flat") {
    const { colour } = fill;
    const paint = hex(colour);
    const opacity = colour.opacity < 1 ? ` fill-opacity="${decimal(colour.opacity)}"` : "";
    return paint === "#000" ? opacity : ` fill="${paint}"${opacity}`;
  }
  const n = (v: number) => String(Math.round(v * unit));
  const stops = fill.stops
    .map(({ offset, colour }) => {
      const opacity = colour.opacity < 1 ? ` stop-opacity="${decimal(colour.opacity)}"` : "";
      const paint = hex(colour);
      return `<stop${offset > 0 ? ` offset="${decimal(offset)}"` : ""}${paint === "#000" ? "" : ` stop-color="${paint}"`}${opacity}/>`;
    })
    .join("");
  const markup =
    fill.kind === "linear"
      ? `<linearGradient gradientUnits="userSpaceOnUse" x1="${n(fill.x1)}" y1="${n(fill.y1)}" x2="${n(fill.x2)}" y2="${n(fill.y2)}">${stops}</linearGradient>`
      : `<radialGradient gradientUnits="userSpaceOnUse" cx="${n(fill.cx)}" cy="${n(fill.cy)}" r="${n(fill.r)}"${squeeze(fill, unit)}>${stops}</radialGradient>`;
  let id = gradients.get(markup);
  if (id === undefined) {
    id = `g${gradients.size.toString(36)}`;
    gradients.set(markup, id);
  }
  return ` fill="url(#${id})"`;
}

/** Brings a circle's height to that of an ellipse with the same middle. */
function squeeze({ cy, r, ry = r }: { cy: number; r: number; ry?: number }, unit: number): string {
  const by = Math.round((ry / r) * 1000) / 1000;
  return by === 1 ? "" : ` gradientTransform="matrix(1 0 0 ${decimal(by)} 0 ${Math.round(cy * unit * (1 - by))})"`;
}

function decimal(v: number): string {
  return String(Math.round(v * 1000) / 1000).replace(/^0\./, ".");
}

/** The path data of a shape's outlines, in units of the file. */
export function pathData(outlines: readonly Outline[], unit: number): string {
  const data = new PathData(unit);
  for (const outline of outlines) data.add(outline);
  return data.text;
}

/** Closed outlines as path data: relative commands, whole numbers, no separator a parser can do without. */
class PathData {
  text = "";
  private readonly unit: number;
  /** Where the last outline began, and so where the next begins from. */
  private x = 0;
  private y = 0;

  constructor(unit: number) {
    this.unit = unit;
  }

  clear(): void {
    this.text = "";
    this.x = 0;
    this.y = 0;
  }

  add(outline: Outline): void {
    const x = Math.round(outline.x * this.unit);
    const y = Math.round(outline.y * this.unit);
    const absolute = `M${x}${glue(y)}`;
    const relative = `m${x - this.x}${glue(y - this.y)}`;
    this.text +=
      (this.text && relative.length < absolute.length ? relative : absolute) + segments(outline, this.unit, x, y);
    this.x = x;
    this.y = y;
  }
}

function segments({ kinds, points }: Outline, unit: number, startX: number, startY: number): string {
  let x = startX;
  let y = startY;
  let text = "";
  let last = "M";
  let hx = 0;
  let hy = 0;
  for (let k = 0, i = 0; k < kinds.length; k++) {
    if (kinds[k] === 1) {
      const nx = Math.round(points[i] * unit);
      const ny = Math.round(points[i + 1] * unit);
      i += 2;
      const dx = nx - x;
      const dy = ny - y;
      if (k === kinds.length - 1 && nx === startX && ny === startY) break;
      if (dx === 0 && dy === 0) continue;
      if (dy === 0) text += last === "h" ? glue(dx) : `h${dx}`;
      else if (dx === 0) text += last === "v" ? glue(dy) : `v${dy}`;
      else text += last === "l" ? glue(dx) + glue(dy) : `l${dx}${glue(dy)}`;
      last = dy === 0 ? "h" : dx === 0 ? "v" : "l";
      hx = 0;
      hy = 0;
      x = nx;
      y = ny;
      continue;
    }
    const ax = Math.round(points[i] * unit) - x;
    const ay = Math.round(points[i + 1] * unit) - y;
    const bx = Math.round(points[i + 2] * unit) - x;
    const by = Math.round(points[i + 3] * unit) - y;
    const dx = Math.round(points[i + 4] * unit) - x;
    const dy = Math.round(points[i + 5] * unit) - y;
    i += 6;
    // A handle that mirrors the last one within a unit need not be written.
    if ((last === "c" || last === "s") && Math.abs(ax - hx) <= 1 && Math.abs(ay - hy) <= 1) {
      text += (last === "s" ? glue(bx) : `s${bx}`) + glue(by) + glue(dx) + glue(dy);
      last = "s";
    } else {
      text += (last === "c" ? glue(ax) : `c${ax}`) + glue(ay) + glue(bx) + glue(by) + glue(dx) + glue(dy);
      last = "c";
    }
    hx = dx - bx;
    hy = dy - by;
    x += dx;
    y += dy;
  }
  return `${text}z`;
}

function glue(v: number): string {
  return v < 0 ? String(v) : ` ${v}`;
}
