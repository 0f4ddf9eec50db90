/** One element of a model's SVG, with attributes and children that are on the list below. */
export interface Markup {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly Markup[];
}

/** What a model wrote cannot be used; the message says why, in words that help it to do better. */
export class BadMarkupError extends Error {}

const bytesMax = 200_000;
const elementsMax = 2_000;
const depthMax = 16;
const valueLengthMax = 20_000;

const geometry = ["transform", "id"];
const paint = [
  "fill",
  "fill-opacity",
  "fill-rule",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
];
const gradient = ["id", "gradientUnits", "gradientTransform"];

/** All that is read. What is not here is refused, not skipped: skipping would draw something else than was meant. */
const allowed: Readonly<Record<string, readonly string[] | undefined>> = {
  svg: ["xmlns", "version", "width", "height", "viewBox", "preserveAspectRatio", ...paint],
  g: [...geometry, ...paint],
  defs: [],
  path: ["d", ...geometry, ...paint],
  rect: ["x", "y", "width", "height", "rx", "ry", ...geometry, ...paint],
  circle: ["cx", "cy", "r", ...geometry, ...paint],
  ellipse: ["cx", "cy", "rx", "ry", ...geometry, ...paint],
  line: ["x1", "y1", "x2", "y2", ...geometry, ...paint],
  polyline: ["points", ...geometry, ...paint],
  polygon: ["points", ...geometry, ...paint],
  linearGradient: ["x1", "y1", "x2", "y2", ...gradient],
  radialGradient: ["cx", "cy", "r", ...gradient],
  stop: ["offset", "stop-color", "stop-opacity"],
};

/**
 * The SVG in a model's answer, whatever stands around it, as a tree. No script, style, link, image, text, entity or
 * foreign element can be in it, because none is on the list. Throws BadMarkupError.
 */
export function readMarkup(answer: string): Markup {
  const begin = answer.search(/<svg[\s>]/);
  const end = answer.lastIndexOf("</svg>");
  if (begin < 0 || end < begin) throw new BadMarkupError("there is no whole <svg> element in it");
  const text = answer.slice(begin, end + "</svg>".length).replace(noXml, "");
  if (new TextEncoder().encode(text).length > bytesMax) throw new BadMarkupError(`it is over ${bytesMax} bytes`);
  const open: Array<{ name: string; attributes: Map<string, string>; children: Markup[] }> = [];
  let elements = 0;
  for (let at = 0; at < text.length; ) {
    gap.lastIndex = at;
    gap.exec(text);
    at = gap.lastIndex;
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) throw new BadMarkupError(`it cannot be read from "${text.slice(at, at + 40)}" on`);
    at = token.lastIndex;
    const [, closing, name = "", attributes = "", empty] = match;
    if (closing) {
      const closed = open.pop();
      if (closed?.name !== name || attributes) throw new BadMarkupError(`</${name}> closes nothing`);
      if (open.length === 0) {
        if (at < text.length) throw new BadMarkupError("something follows </svg>");
        return closed;
      }
      continue;
    }
    if (++elements > elementsMax) throw new BadMarkupError(`it has over ${elementsMax} elements`);
    const node = { name, attributes: readAttributes(name, attributes), children: [] };
    if ((name === "svg") !== (open.length === 0)) throw new BadMarkupError(`<${name}> is misplaced`);
    open.at(-1)?.children.push(node);
    if (!empty) open.push(node);
    if (open.length > depthMax) throw new BadMarkupError(`elements are nested over ${depthMax} deep`);
  }
  throw new BadMarkupError("an element is not closed");
}

/** Control characters and what is none: models write them into ids, and nothing is drawn by them. */
const noXml = /(?![\t\r\n])\p{Cc}|[\p{Cs}\ufffe\uffff]/gu;
const gap = /(?:\s+|<!--(?:[^-]|-(?!-))*-->)*/y;
const token = /<(\/?)([a-zA-Z]+)((?:\s+[a-zA-Z][a-zA-Z0-9:-]*\s*=\s*(?:"[^"<&]*"|'[^'<&]*'))*)\s*(\/?)>/y;
const attributeToken = /([a-zA-Z][a-zA-Z0-9:-]*)\s*=\s*(?:"([^"<&]*)"|'([^'<&]*)')/g;

function readAttributes(element: string, text: string): Map<string, string> {
  const names = Object.hasOwn(allowed, element) ? allowed[element] : undefined;
  if (!names) throw new BadMarkupError(`<${element}> is not allowed`);
  const attributes = new Map<string, string>();
  for (const [, name = "", double, single] of text.matchAll(attributeToken)) {
    const value = (double ?? single ?? "").trim();
    if (!names.includes(name)) throw new BadMarkupError(`${name} on <${element}> is not allowed`);
    if (value.length > valueLengthMax) throw new BadMarkupError(`${name} on <${element}> is too long`);
    attributes.set(name, value);
  }
  return attributes;
}

/** The tree as text again, on a canvas of the given size. */
export function writeMarkup(root: Markup, width: number, height: number, viewBox: string): string {
  const children = root.children.map(asText).join("");
  const inherited = [...root.attributes].filter(([name]) => paint.includes(name)).map(pair);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${viewBox}"${inherited.join("")}>${children}</svg>`;
}

function asText({ name, attributes, children }: Markup): string {
  return `<${name}${[...attributes].map(pair).join("")}>${children.map(asText).join("")}</${name}>`;
}

const pair = ([name, value]: readonly [string, string]) => ` ${name}="${value.replaceAll('"', "'")}"`;
