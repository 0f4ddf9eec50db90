import type { Colour, Drawing, Element, Fade, Fill, Group, Shape, Stop, Stroke } from "../drawing.ts";
import { boxesOf } from "../output/boxes.ts";
import { outOfBox } from "../output/linear-ends.ts";
import { radialInBox } from "../output/radial-circle.ts";
import { outlinesOf } from "../output/read-outlines.ts";
import { checkSvg } from "./check-svg.ts";

/**
 * An SVG that `writeSvg` wrote, as the drawing again: written once more, it is the same text. So what a page changes, hides or
 * saves as PDF is a drawing and never markup. Throws as `checkSvg` does for anything else.
 */
export function readSvg(svg: string): Drawing {
  checkSvg(svg);
  const reader = new Reader();
  for (const [, closing, name = "", attributes = "", empty] of svg.matchAll(token)) {
    if (closing) reader.close(name);
    else reader.open(name, readAttributes(attributes), empty === "/");
  }
  return reader.drawing();
}

const token = /<(\/?)([a-zA-Z]+)((?: [a-zA-Z0-9-]+="[^"]*")*)(\/?)>/g;

type Attributes = ReadonlyMap<string, string>;

function readAttributes(text: string): Attributes {
  return new Map(Array.from(text.matchAll(/ ([a-zA-Z0-9-]+)="([^"]*)"/g), ([, name, value]) => [name, value]));
}

class Reader {
  private root: Attributes = new Map();
  private readonly gradients = new Map<string, Gradient>();
  private readonly groups: Group[] = [];
  private elements: Element[] = [];
  private group: Attributes | null = null;
  /** Elements in a mask are not drawn: the writer knows it by the fade. */
  private inMask = false;
  private readonly clips = new Map<string, Shape>();
  /** The clip path that is read, and the one that elements are within. */
  private clip: string | null = null;
  private within: Shape | undefined;
  private gradient: { readonly name: string; readonly attributes: Attributes; readonly stops: Stop[] } | null = null;

  open(name: string, attributes: Attributes, empty: boolean): void {
    if (name === "svg") this.root = attributes;
    else if (name === "mask") this.inMask = true;
    else if (name === "clipPath") this.clip = attributes.get("id") ?? "";
    else if (name === "g" && attributes.has("clip-path")) {
      this.clipBy(attributes, empty);
    } else if (name === "g") {
      this.endGroup();
      this.group = attributes;
      if (empty) this.close(name);
    } else if (name.endsWith("Gradient")) {
      this.gradient = { name, attributes, stops: [] };
      if (empty) this.close(name);
    } else if (name === "stop") this.gradient?.stops.push(stopOf(attributes));
    else if (this.clip !== null) this.clips.set(this.clip, shapeOf(name, attributes));
    else if (name !== "defs" && !this.inMask) {
      const element = elementOf(name, attributes, this.gradients);
      this.elements.push(this.within ? { ...element, within: this.within } : element);
    }
  }

  /** What the writer makes of elements within a shape. */
  private clipBy(attributes: Attributes, empty: boolean): void {
    const clip = this.clips.get(attributes.get("clip-path")!.slice(5, -1));
    if (!clip || empty || this.within || attributes.size > 1) throw new Error("not our SVG: a clipped group");
    this.within = clip;
  }

  close(name: string): void {
    if (name === "mask") this.inMask = false;
    else if (name === "clipPath") this.clip = null;
    else if (name === "g" && this.within) this.within = undefined;
    else if (name === "g") {
      this.groups.push({ id: this.group?.get("id") ?? null, elements: this.elements, ...crispOf(this.group) });
      this.elements = [];
      this.group = null;
    } else if (this.gradient && name === this.gradient.name) {
      const { attributes, stops } = this.gradient;
      this.gradients.set(attributes.get("id") ?? "", gradientOf(name, attributes, stops));
      this.gradient = null;
    }
  }

  /** Elements without a group are one of their own. */
  private endGroup(): void {
    if (this.elements.length > 0) this.groups.push({ id: null, elements: this.elements });
    this.elements = [];
  }

  drawing(): Drawing {
    this.endGroup();
    const [, , spanX, spanY] = (this.root.get("viewBox") ?? "").split(" ").map(Number);
    const { groups } = this;
    const crisp = this.root.has("shape-rendering");
    const [width, height] = [number(this.root, "width"), number(this.root, "height")];
    return { width, height, spanX, spanY, groups, grid: 1, oneWay: false, crisp };
  }
}

const crispOf = (group: Attributes | null) => (group?.has("shape-rendering") ? { crisp: true } : {});

function number(attributes: Attributes, name: string, otherwise = 0): number {
  const text = attributes.get(name);
  return text === undefined ? otherwise : Number(text);
}

function elementOf(name: string, attributes: Attributes, gradients: ReadonlyMap<string, Gradient>): Element {
  const paint = attributes.get("fill");
  const gradient = paint?.startsWith("url(#") ? gradients.get(paint.slice(5, -1)) : undefined;
  const flat = () => ({ kind: "flat" as const, colour: colourOf(paint, number(attributes, "fill-opacity", 1)) });
  const shape = shapeOf(name, attributes);
  const fill = paint === "none" ? { kind: "none" as const } : gradient ? gradient(shape) : flat();
  const stroke = strokeOf(attributes);
  const fade = attributes.get("mask")?.slice("url(#mask-".length, -1) as Fade | undefined;
  return { fill, shape, ...(stroke && { stroke }), ...(fade && { fade }) };
}

function strokeOf(attributes: Attributes): Stroke | undefined {
  const paint = attributes.get("stroke");
  if (paint === undefined) return undefined;
  const dashes = attributes.get("stroke-dasharray")?.split(" ").map(Number);
  return {
    colour: colourOf(paint, number(attributes, "stroke-opacity", 1)),
    width: number(attributes, "stroke-width", 1),
    cap: attributes.has("stroke-linecap") ? "round" : "butt",
    ...(dashes && { dashes }),
  };
}

function shapeOf(name: string, attributes: Attributes): Shape {
  const value = (key: string) => number(attributes, key);
  if (name === "circle") return { kind: "circle", cx: value("cx"), cy: value("cy"), r: value("r") };
  if (name === "ellipse") return { kind: name, cx: value("cx"), cy: value("cy"), rx: value("rx"), ry: value("ry") };
  if (name === "line") return { kind: name, x1: value("x1"), y1: value("y1"), x2: value("x2"), y2: value("y2") };
  if (name === "polyline" || name === "polygon") {
    return { kind: name, points: (attributes.get("points") ?? "").split(" ").map(Number) };
  }
  if (name === "rect") {
    const corner = attributes.has("rx") && { rx: value("rx") };
    return { kind: "rect", x: value("x"), y: value("y"), width: value("width"), height: value("height"), ...corner };
  }
  const outlines = outlinesOf(attributes.get("d") ?? "");
  return {
    kind: "path",
    outlines,
    ...((attributes.has("fill-rule") || attributes.has("clip-rule")) && { evenOdd: true }),
  };
}

/** `#rgb` or `#rrggbb`; black where it is left out. */
function colourOf(text = "#000", opacity: number): Colour {
  const six = text.length === 4 ? text.replace(/[0-9a-f]/g, "$&$&") : text;
  const value = Number.parseInt(six.slice(1), 16);
  return { r: value >> 16, g: (value >> 8) & 255, b: value & 255, opacity };
}

function stopOf(attributes: Attributes): Stop {
  const colour = colourOf(attributes.get("stop-color"), number(attributes, "stop-opacity", 1));
  return { offset: number(attributes, "offset"), colour };
}

/** A gradient on a shape: one in shares of its box is then in the file's units. */
type Gradient = (shape: Shape) => Fill;

function gradientOf(name: string, attributes: Attributes, stops: readonly Stop[]): Gradient {
  return name === "linearGradient" ? linearOf(attributes, stops) : radialOf(attributes, stops);
}

const boxOf = (shape: Shape) => boxesOf(shape, 1)?.[0];

function linearOf(attributes: Attributes, stops: readonly Stop[]): Gradient {
  const value = (key: string) => number(attributes, key);
  const inBox = !attributes.has("gradientUnits");
  const asRead = [...attributes].map(([key, text]) => (key === "id" ? "" : ` ${key}="${text}"`)).join("");
  const ends = { x1: value("x1"), y1: value("y1"), x2: number(attributes, "x2", inBox ? 1 : 0), y2: value("y2") };
  const fill = { kind: "linear" as const, ...ends, stops, asRead };
  return (shape) => {
    const box = inBox && boxOf(shape);
    return box ? { ...fill, ...outOfBox(fill, box) } : fill;
  };
}

function radialOf(attributes: Attributes, stops: readonly Stop[]): Gradient {
  const inBox = !attributes.has("gradientUnits");
  const [cx, cy, r] = ["cx", "cy", "r"].map((key) => number(attributes, key, inBox ? 0.5 : 0)) as [
    number,
    number,
    number,
  ];
  if (inBox) return (shape) => ({ kind: "radial", ...radialInBox(cx, cy, r, boxOf(shape) ?? [0, 0, 1, 1]), stops });
  // matrix(1 0 0 by 0 shift): the circle's height is `by` of its width, and its middle stays.
  const [, , , by, , shift] = (attributes.get("gradientTransform")?.slice(7, -1) ?? "").split(" ").map(Number);
  if (by === undefined) return () => ({ kind: "radial", cx, cy, r, stops });
  // The shift still shows the digits of `cy` that were rounded away.
  const exact = Math.min(cy + 0.499, Math.max(cy - 0.499, shift / (1 - by)));
  return () => ({ kind: "radial", cx, cy: exact, r, ry: r * by, stops });
}
