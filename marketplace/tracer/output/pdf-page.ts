import {
  type Drawing,
  type Element,
  type Fade,
  type Fill,
  fadeEnd,
  type Shape,
  type Stop,
  type Stroke,
  stretches,
} from "../drawing.ts";
import { n, pathOperators } from "./pdf-path.ts";

export interface PdfPage {
  /** What is painted, to be compressed by zlib's deflate. */
  readonly content: Uint8Array;
  /** The whole file around the compressed content. */
  readonly assemble: (compressed: Uint8Array) => Uint8Array;
}

/**
 * The drawing as a one-page PDF 1.4, one point per pixel: filled paths, axial and radial shadings, soft masks. Compressing is
 * left to the caller: Node and the browser do it each in a way of their own.
 */
export function layOutPdf(drawing: Drawing): PdfPage {
  const { width, height, spanX, spanY, groups } = drawing;
  const objects: string[] = [];
  const add = (body: string) => objects.push(body);
  const resources = new Resources(add);
  // PDF counts upwards from the bottom left.
  let content = `${n(width / spanX)} 0 0 ${n(-height / spanY)} 0 ${height} cm\n`;
  for (const { elements } of groups) {
    for (const { within, elements: together } of stretches(elements)) {
      const painted = together.map((element) => paint(element, resources, spanX, spanY)).join("");
      content += within ? `q ${pathOperators(within)}W${ruleOf(within)} n\n${painted}Q\n` : painted;
    }
  }
  const assemble = (compressed: Uint8Array) => {
    const contents = add(
      `<</Length ${compressed.length}/Filter/FlateDecode>>\nstream\n${latin1Text(compressed)}\nendstream`,
    );
    const page = objects.length + 1;
    const pages = page + 1;
    add(
      `<</Type/Page/Parent ${pages} 0 R/MediaBox[0 0 ${width} ${height}]/Contents ${contents} 0 R/Resources${resources.list()}>>`,
    );
    add(`<</Type/Pages/Kids[${page} 0 R]/Count 1>>`);
    const catalog = add(`<</Type/Catalog/Pages ${pages} 0 R>>`);
    return assembled(objects, catalog);
  };
  return { content: latin1Bytes(content), assemble };
}

/** Inside is where a ray crosses the outlines an odd number of times; otherwise nonzero winding. */
const ruleOf = (shape: Shape) => (shape.kind === "path" && shape.evenOdd ? "*" : "");

function paint({ fill, shape, stroke, fade }: Element, resources: Resources, spanX: number, spanY: number): string {
  const path = pathOperators(shape);
  const rule = ruleOf(shape);
  const line = stroke ? `q ${stroked(stroke, resources)}${path}S\nQ\n` : "";
  if (fill.kind === "none") return line;
  if (fill.kind === "flat") {
    const { r, g, b, opacity } = fill.colour;
    const state = opacity < 1 ? `/${resources.opacity(opacity)} gs ` : "";
    return `q ${state}${n(r / 255)} ${n(g / 255)} ${n(b / 255)} rg ${path}f${rule}\nQ\n${line}`;
  }
  const soft = fade ? fadeOf(fade, shape) : fill.stops.some(({ colour }) => colour.opacity < 1) ? fill : null;
  const mask = soft ? `/${resources.mask(soft, spanX, spanY)} gs ` : "";
  return `q ${mask}${path}W${rule} n ${squeeze(fill)}/${resources.shading(fill, "colour")} sh\nQ\n${line}`;
}

/** The opacity of what fades in over its box. */
function fadeOf(fade: Fade, shape: Shape): Gradient | null {
  if (shape.kind !== "rect") return null;
  const { x, y, width, height } = shape;
  const white = { r: 255, g: 255, b: 255 };
  const stops = [0, 1].map((opacity) => ({ offset: opacity, colour: { ...white, opacity } }));
  const [across, down] = fadeEnd(fade);
  return { kind: "linear", x1: x, y1: y, x2: x + across * width, y2: y + down * height, stops };
}

function stroked({ colour: { r, g, b, opacity }, width, cap, dashes }: Stroke, resources: Resources): string {
  const state = opacity < 1 ? `/${resources.opacity(opacity)} gs ` : "";
  const ends = cap === "round" ? "1 J 1 j " : "";
  const dash = dashes ? `[${dashes.map(n).join(" ")}] 0 d ` : "";
  return `${state}${n(r / 255)} ${n(g / 255)} ${n(b / 255)} RG ${n(width)} w ${ends}${dash}`;
}

/** Brings a circle's height to that of an ellipse with the same middle. */
function squeeze(fill: Gradient): string {
  if (fill.kind === "linear" || fill.ry === undefined) return "";
  const by = fill.ry / fill.r;
  return `1 0 0 ${n(by)} 0 ${n(fill.cy * (1 - by))} cm `;
}

type Gradient = Exclude<Fill, { kind: "flat" | "none" }>;

/** Shadings and graphics states, each defined once and named. */
class Resources {
  private readonly shadings = new Map<string, { name: string; id: number }>();
  private readonly states = new Map<string, { name: string; id: number }>();
  private readonly add: (body: string) => number;

  constructor(add: (body: string) => number) {
    this.add = add;
  }

  opacity(value: number): string {
    return this.named(this.states, "G", `<</ca ${n(value)}/CA ${n(value)}>>`);
  }

  shading(fill: Gradient, of: "colour" | "opacity"): string {
    return this.named(this.shadings, "S", shadingOf(fill, of));
  }

  mask(fill: Gradient, spanX: number, spanY: number): string {
    const body = `${squeeze(fill)}/S sh`;
    const form = this.add(
      `<</Type/XObject/Subtype/Form/BBox[0 0 ${n(spanX)} ${n(spanY)}]/Group<</S/Transparency/CS/DeviceGray>>` +
        `/Resources<</Shading<</S ${shadingOf(fill, "opacity")}>>>>/Length ${body.length}>>\nstream\n${body}\nendstream`,
    );
    return this.named(this.states, "G", `<</SMask<</S/Luminosity/G ${form} 0 R>>>>`);
  }

  list(): string {
    const entries = (map: Map<string, { name: string; id: number }>) =>
      [...map.values()].map(({ name, id }) => `/${name} ${id} 0 R`).join("");
    return `<</Shading<<${entries(this.shadings)}>>/ExtGState<<${entries(this.states)}>>>>`;
  }

  private named(map: Map<string, { name: string; id: number }>, letter: string, body: string): string {
    let entry = map.get(body);
    if (!entry) {
      entry = { name: `${letter}${map.size}`, id: this.add(body) };
      map.set(body, entry);
    }
    return entry.name;
  }
}

function shadingOf(fill: Gradient, of: "colour" | "opacity"): string {
  const coordinates =
    fill.kind === "linear" ? [fill.x1, fill.y1, fill.x2, fill.y2] : [fill.cx, fill.cy, 0, fill.cx, fill.cy, fill.r];
  const value = ({ colour: { r, g, b, opacity } }: Stop) =>
    of === "opacity" ? `[${n(opacity)}]` : `[${n(r / 255)} ${n(g / 255)} ${n(b / 255)}]`;
  const pieces = fill.stops
    .slice(1)
    .map((stop, i) => `<</FunctionType 2/Domain[0 1]/C0${value(fill.stops[i])}/C1${value(stop)}/N 1>>`);
  const bounds = fill.stops.slice(1, -1).map(({ offset }) => n(offset));
  const stitched = `<</FunctionType 3/Domain[0 1]/Functions[${pieces.join("")}]/Bounds[${bounds.join(" ")}]/Encode[${pieces.map(() => "0 1").join(" ")}]>>`;
  return (
    `<</ShadingType ${fill.kind === "linear" ? 2 : 3}/ColorSpace/${of === "opacity" ? "DeviceGray" : "DeviceRGB"}` +
    `/Coords[${coordinates.map(n).join(" ")}]/Extend[true true]/Function${pieces.length === 1 ? pieces[0] : stitched}>>`
  );
}

function assembled(objects: readonly string[], catalog: number): Uint8Array {
  let text = "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n";
  const offsets = objects.map((body, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${body}\nendobj\n`;
    return at;
  });
  const table = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<</Size ${size}/Root ${catalog} 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
  return latin1Bytes(text);
}

function latin1Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** In pieces: a function takes a limited number of arguments. */
function latin1Text(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return text;
}
