import {
  type Drawing,
  type Element,
  type Fade,
  type Fill,
  fadeEnd,
  hex,
  type Shape,
  type Stroke,
  stretches,
} from "../drawing.ts";
import { linearEnds } from "./linear-ends.ts";
import { PathData, pathData } from "./path-data.ts";
import { radialCircle } from "./radial-circle.ts";

/**
 * Step 8: the drawing as SVG text. Only `svg g path circle ellipse rect line polyline polygon defs linearGradient
 * radialGradient stop mask clipPath`, numbers, hex colours and references to own gradients, masks and clip paths can come out of it: it has no way to write
 * anything else.
 */
export function writeSvg(drawing: Drawing): string {
  const { width, height, spanX, spanY, groups, crisp, oneWay, grid: unit } = drawing;
  const gradients = new Map<string, string>();
  const clips = new Map<Shape, string>();
  const body = groups.map((group) => {
    const elements = stretches(group.elements)
      .map(({ within, elements }) => {
        const text = writeElements(elements, unit, oneWay, gradients);
        return within ? `<g clip-path="url(#${idOf(clips, within, "c")})">${text}</g>` : text;
      })
      .join("");
    return group.id === null ? elements : `<g id="${group.id}"${group.crisp ? crispEdges : ""}>${elements}</g>`;
  });
  const fades = new Set(groups.flatMap((group) => group.elements.flatMap(({ fade }) => fade ?? [])));
  const defs =
    [...gradients].map(([markup, id]) => markup.replace("Gradient", `Gradient id="${id}"`)).join("") +
    [...fades].sort().map(maskOf).join("") +
    [...clips].map(([shape, id]) => `<clipPath id="${id}">${outlineOf(shape, unit)}</clipPath>`).join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${spanX * unit} ${spanY * unit}"` +
    `${spanX * height === spanY * width ? "" : ' preserveAspectRatio="none"'}` +
    `${crisp ? crispEdges : ""}>${defs && `<defs>${defs}</defs>`}${body.join("")}</svg>`
  );
}

/** What fades an element in over its own box. */
function maskOf(fade: Fade): string {
  const [x, y] = fadeEnd(fade);
  return (
    `<linearGradient id="fade-${fade}" x2="${decimal(x)}" y2="${decimal(y)}">` +
    `<stop stop-color="#fff" stop-opacity="0"/><stop offset="1" stop-color="#fff"/></linearGradient>` +
    `<mask id="mask-${fade}" maskContentUnits="objectBoundingBox"><rect fill="url(#fade-${fade})" width="1" height="1"/></mask>`
  );
}

/** A shape without paint: what is inside is drawn. */
function outlineOf(shape: Shape, unit: number): string {
  if (shape.kind !== "path") return `<${shape.kind}${placeOf(shape, unit)}/>`;
  return `<path${shape.evenOdd ? ' clip-rule="evenodd"' : ""} d="${pathData(shape.outlines, unit)}"/>`;
}

/** What is named for the first time gets the next number. */
function idOf<T>(ids: Map<T, string>, of: T, letter: string): string {
  const id = ids.get(of) ?? `${letter}${ids.size.toString(36)}`;
  ids.set(of, id);
  return id;
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
  let alone = false;
  for (const { fill, shape, stroke, fade, whole = false } of elements) {
    const evenOdd = shape.kind === "path" && shape.evenOdd;
    const paint =
      paintOf(fill, shape, unit, gradients) + strokeOf(stroke, unit) + (evenOdd ? ' fill-rule="evenodd"' : "");
    if (shape.kind !== "path") {
      flush();
      text += `<${shape.kind}${paint}${fade ? ` mask="url(#mask-${fade})"` : ""}${placeOf(shape, unit)}/>`;
      continue;
    }
    // Neighbours in drawing order with one opaque paint are one element.
    if (!oneWay || paint !== open || whole || alone || stroke || fill.kind !== "flat" || fill.colour.opacity < 1)
      flush();
    open = paint;
    alone = whole || stroke !== undefined;
    for (const outline of shape.outlines) data.add(outline);
  }
  flush();
  return text;
}

/** Where a shape that is no path lies, as its attributes. */
function placeOf(shape: Exclude<Shape, { kind: "path" }>, unit: number): string {
  const n = (v: number) => String(Math.round(v * unit));
  if (shape.kind === "circle") return ` cx="${n(shape.cx)}" cy="${n(shape.cy)}" r="${n(shape.r)}"`;
  if (shape.kind === "ellipse")
    return ` cx="${n(shape.cx)}" cy="${n(shape.cy)}" rx="${n(shape.rx)}" ry="${n(shape.ry)}"`;
  if (shape.kind === "line") return ` x1="${n(shape.x1)}" y1="${n(shape.y1)}" x2="${n(shape.x2)}" y2="${n(shape.y2)}"`;
  if (shape.kind === "rect") {
    const corner = shape.rx ? ` rx="${n(shape.rx)}"` : "";
    const place = `${shape.x ? ` x="${n(shape.x)}"` : ""}${shape.y ? ` y="${n(shape.y)}"` : ""}`;
    return `${place} width="${n(shape.width)}" height="${n(shape.height)}"${corner}`;
  }
  return ` points="${shape.points.map(n).join(" ")}"`;
}

function strokeOf(stroke: Stroke | undefined, unit: number): string {
  if (!stroke) return "";
  const { colour, width, cap, dashes } = stroke;
  const opacity = colour.opacity < 1 ? ` stroke-opacity="${decimal(colour.opacity)}"` : "";
  const ends = cap === "round" ? ' stroke-linecap="round" stroke-linejoin="round"' : "";
  const dash = dashes ? ` stroke-dasharray="${dashes.map((v) => Math.round(v * unit)).join(" ")}"` : "";
  return ` stroke="${hex(colour)}"${opacity} stroke-width="${Math.max(1, Math.round(width * unit))}"${ends}${dash}`;
}

function paintOf(fill: Fill, shape: Shape, unit: number, gradients: Map<string, string>): string {
  if (fill.kind === "none") return ' fill="none"';
  if (fill.kind === "flat") {
    const { colour } = fill;
    const paint = hex(colour);
    const opacity = colour.opacity < 1 ? ` fill-opacity="${decimal(colour.opacity)}"` : "";
    return paint === "#000" ? opacity : ` fill="${paint}"${opacity}`;
  }
  const stops = fill.stops
    .map(({ offset, colour }) => {
      const opacity = colour.opacity < 1 ? ` stop-opacity="${decimal(colour.opacity)}"` : "";
      const paint = hex(colour);
      return `<stop${offset > 0 ? ` offset="${decimal(offset)}"` : ""}${paint === "#000" ? "" : ` stop-color="${paint}"`}${opacity}/>`;
    })
    .join("");
  const markup =
    fill.kind === "linear"
      ? `<linearGradient${linearEnds(fill, shape, unit)}>${stops}</linearGradient>`
      : `<radialGradient${radialCircle(fill, shape, unit)}>${stops}</radialGradient>`;
  return ` fill="url(#${idOf(gradients, markup, "g")})"`;
}

function decimal(v: number): string {
  return String(Math.round(v * 1000) / 1000).replace(/^0\./, ".");
}
