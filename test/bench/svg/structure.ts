import { type Colour, coloursOf, type Element, type Shape } from "../../../marketplace/tracer/drawing.ts";
import type { Raster } from "../../../marketplace/tracer/image/raster.ts";
import { pointsAlong } from "../../../marketplace/tracer/lines/points-along.ts";
import { pathData } from "../../../marketplace/tracer/output/path-data.ts";
import { renderRaster } from "../../../marketplace/tracer/pool/render.ts";
import { readSvg } from "../../../marketplace/tracer/sanitize/read-svg.ts";
import type { KnownDrawing } from "./known-drawings.ts";

/** A known drawing as pixels, on white. */
export function rendered({ width, height, elements }: KnownDrawing): Raster {
  const unit = 100;
  const body = elements.map((element) => written(element, unit)).join("");
  const open = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width * unit} ${height * unit}">`;
  return renderRaster(`${open}<rect width="100%" height="100%" fill="#fff"/>${body}</svg>`, width, height);
}

function written({ fill, shape, stroke }: Element, unit: number): string {
  const look = [
    `fill="${fill.kind === "flat" ? css(fill.colour) : "none"}"`,
    stroke && `stroke="${css(stroke.colour)}" stroke-width="${stroke.width * unit}"`,
    stroke?.cap === "round" && `stroke-linecap="round" stroke-linejoin="round"`,
    stroke?.dashes && `stroke-dasharray="${stroke.dashes.map((v) => v * unit).join(" ")}"`,
  ];
  const { kind, ...places } = shape;
  const place =
    shape.kind === "path"
      ? `d="${pathData(shape.outlines, unit)}"`
      : Object.entries(places)
          .map(([name, v]) => `${name}="${Array.isArray(v) ? v.map((n) => n * unit).join(" ") : (v as number) * unit}"`)
          .join(" ");
  return `<${kind} ${look.filter(Boolean).join(" ")} ${place}/>`;
}

const css = ({ r, g, b }: Colour) => `rgb(${r},${g},${b})`;

/** What an SVG of ours draws but for the white ground, in px. */
export function elementsOf(svg: string): Element[] {
  const drawing = readSvg(svg);
  const scale = drawing.width / drawing.spanX;
  return drawing.groups
    .flatMap(({ elements }) => elements)
    .map((element) => scaled(element, scale))
    .filter(
      ({ shape }) => !(shape.kind === "rect" && shape.width * shape.height > 0.99 * drawing.width * drawing.height),
    );
}

function scaled({ fill, shape, stroke }: Element, by: number): Element {
  const outlines = shape.kind === "path" && {
    outlines: shape.outlines.map((o) => ({ ...o, x: o.x * by, y: o.y * by, points: o.points.map((v) => v * by) })),
  };
  const numbers = Object.entries(shape).map(([name, v]) => [
    name,
    typeof v === "number" ? v * by : name === "points" ? (v as number[]).map((n) => n * by) : v,
  ]);
  const lengths = stroke && {
    stroke: { ...stroke, width: stroke.width * by, ...(stroke.dashes && { dashes: stroke.dashes.map((v) => v * by) }) },
  };
  return { fill, shape: { ...(Object.fromEntries(numbers) as Shape), ...outlines } as Shape, ...lengths };
}

/** What a shape is, however it is written: a path of lines is a polygon. */
function kindOf(shape: Shape): string {
  if (shape.kind !== "path") return shape.kind;
  const [{ kinds, open } = { kinds: [], open: false }, ...more] = shape.outlines;
  if (more.length > 0 || kinds.some((kind) => kind !== 1)) return "path";
  if (!open) return "polygon";
  return kinds.length === 1 ? "line" : "polyline";
}

function boxOf({ shape }: Element): readonly number[] {
  const places = pointsAlong(shape);
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

export interface Comparison {
  readonly known: number;
  readonly found: number;
  /** Known elements that came back as what they were: kind, place, colours and width. */
  readonly kept: number;
  readonly missed: readonly string[];
}

/** Element by element: each known one with the found one that lies nearest. */
export function compare(known: readonly Element[], found: readonly Element[]): Comparison {
  const left = new Set(found);
  const missed: string[] = [];
  for (const element of known) {
    const box = boxOf(element);
    const off = (other: Element) => Math.max(...boxOf(other).map((v, i) => Math.abs(v - box[i]!)));
    const near = [...left].filter((other) => off(other) <= placeMax).sort((a, b) => off(a) - off(b));
    const same = near.find((other) => differences(element, other).length === 0);
    if (same) left.delete(same);
    else {
      const why = near[0] ? differences(element, near[0]).join(", ") : "nothing there";
      missed.push(`${kindOf(element.shape)} at ${box.map((v) => v.toFixed(1)).join(" ")}: ${why}`);
    }
  }
  return { known: known.length, found: found.length, kept: known.length - missed.length, missed };
}

/** Px a box's sides may be off, levels a colour, px a stroke's width. */
const placeMax = 1;
const levelMax = 16;
const widthMax = 0.35;

function differences(one: Element, other: Element): string[] {
  const [kind, otherKind] = [kindOf(one.shape), kindOf(other.shape)];
  const [colours, otherColours] = [coloursOf(one), coloursOf(other)];
  const levels = colours.map((c, i) => {
    const o = otherColours[i];
    return o ? Math.max(Math.abs(c.r - o.r), Math.abs(c.g - o.g), Math.abs(c.b - o.b)) : 255;
  });
  return [
    ...(kind === otherKind ? [] : [`${otherKind}, no ${kind}`]),
    ...(colours.length === otherColours.length ? [] : [`${otherColours.length} paints, not ${colours.length}`]),
    ...(levels.every((off) => off <= levelMax) ? [] : ["another colour"]),
    ...(Math.abs((one.stroke?.width ?? 0) - (other.stroke?.width ?? 0)) <= widthMax
      ? []
      : [`width ${other.stroke?.width}`]),
    ...(!one.stroke?.dashes === !other.stroke?.dashes ? [] : ["dashes"]),
  ];
}
