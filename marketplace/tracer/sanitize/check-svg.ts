/**
 * Throws unless `svg` is what `writeSvg` can write: the last look before bytes are stored or sent. Every element,
 * attribute and value is on a list; there is no script, style, link, image, entity, comment or text in it, because
 * nothing of that kind is on the list.
 */
export function checkSvg(svg: string): void {
  if (!svg.startsWith("<svg ")) throw new Error("not our SVG at character 0");
  const open: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < svg.length) {
    const at = token.lastIndex;
    const match = token.exec(svg);
    if (!match) throw new Error(`not our SVG at character ${at}`);
    const [, closing, name = "", attributes = "", empty] = match;
    if (closing) {
      if (open.pop() !== name || attributes) throw new Error(`unexpected </${name}> at character ${at}`);
      continue;
    }
    if ((name === "svg") !== (at === 0)) throw new Error(`misplaced <${name}> at character ${at}`);
    const allowed = elements[name];
    if (!allowed) throw new Error(`element <${name}> at character ${at}`);
    for (const [, attribute = "", value = ""] of attributes.matchAll(attributeToken)) {
      if (!allowed.has(attribute)) throw new Error(`attribute ${attribute} on <${name}> at character ${at}`);
      if (!values[attribute]?.test(value)) throw new Error(`value of ${attribute} on <${name}> at character ${at}`);
    }
    if (!empty) open.push(name);
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)}> is not closed`);
}

const token = /<(\/?)([a-zA-Z]+)((?: [a-zA-Z0-9-]+="[^"<>&]*")*)(\/?)>/y;
const attributeToken = / ([a-zA-Z0-9-]+)="([^"<>&]*)"/g;

const paint = [
  ...["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width"],
  ...["stroke-linecap", "stroke-linejoin", "stroke-dasharray"],
];
const elements: Readonly<Record<string, ReadonlySet<string> | undefined>> = {
  svg: new Set(["xmlns", "width", "height", "viewBox", "shape-rendering", "preserveAspectRatio"]),
  defs: new Set(),
  g: new Set(["id", "shape-rendering", "clip-path"]),
  path: new Set([...paint, "fill-rule", "clip-rule", "d"]),
  circle: new Set([...paint, "cx", "cy", "r"]),
  ellipse: new Set([...paint, "cx", "cy", "rx", "ry"]),
  rect: new Set([...paint, "mask", "x", "y", "width", "height", "rx"]),
  line: new Set([...paint, "x1", "y1", "x2", "y2"]),
  polyline: new Set([...paint, "points"]),
  polygon: new Set([...paint, "points"]),
  linearGradient: new Set(["id", "gradientUnits", "x1", "y1", "x2", "y2"]),
  radialGradient: new Set(["id", "gradientUnits", "cx", "cy", "r", "gradientTransform"]),
  mask: new Set(["id", "maskContentUnits"]),
  clipPath: new Set(["id"]),
  stop: new Set(["offset", "stop-color", "stop-opacity"]),
};

const number = /^-?\d+$/;
/** In the file's units or, of a gradient, in shares of a box. */
const place = /^-?(?:\d+|\d*\.\d{1,3})$/;
const share = /^(?:0|1|\.\d{1,3})$/;
const values: Readonly<Record<string, RegExp | undefined>> = {
  xmlns: /^http:\/\/www\.w3\.org\/2000\/svg$/,
  viewBox: /^0 0 \d+ \d+$/,
  "shape-rendering": /^crispEdges$/,
  preserveAspectRatio: /^none$/,
  gradientUnits: /^userSpaceOnUse$/,
  gradientTransform: /^matrix\(1 0 0 \d*(?:\.\d{1,3})? 0 -?\d+\)$/,
  id: /^[a-z][a-z0-9-]*$/,
  fill: /^(?:none|#[0-9a-f]{3}|#[0-9a-f]{6}|url\(#(?:g[0-9a-z]+|fade-(?:down|across)(?:-early)?)\))$/,
  mask: /^url\(#mask-(?:down|across)(?:-early)?\)$/,
  maskContentUnits: /^objectBoundingBox$/,
  "clip-path": /^url\(#c[0-9a-z]+\)$/,
  "fill-rule": /^evenodd$/,
  "clip-rule": /^evenodd$/,
  "stop-color": /^(?:#[0-9a-f]{3}|#[0-9a-f]{6})$/,
  stroke: /^(?:#[0-9a-f]{3}|#[0-9a-f]{6})$/,
  "stroke-width": /^\d+$/,
  "stroke-linecap": /^round$/,
  "stroke-linejoin": /^round$/,
  "stroke-dasharray": /^\d+(?: \d+)*$/,
  points: /^-?\d+(?: -?\d+)*$/,
  "stroke-opacity": share,
  "fill-opacity": share,
  "stop-opacity": share,
  offset: share,
  d: /^[MmLlHhVvCcSsQqTtAaZz0-9 -]+$/,
  ...Object.fromEntries(["width", "height", "x", "y", "cx", "cy", "r", "rx", "ry"].map((n) => [n, number])),
  ...Object.fromEntries(["x1", "y1", "x2", "y2"].map((n) => [n, place])),
};
