/** What a trace is before it is written, drawn first to last. SVG, PDF and layers are made from it. */
export interface Drawing {
  /** Px of the picture. */
  readonly width: number;
  readonly height: number;
  /** The drawing's own units that the picture's width and height span. */
  readonly spanX: number;
  readonly spanY: number;
  readonly groups: readonly Group[];
  /** Units of the file per unit of the drawing: numbers in the file are whole. */
  readonly grid: number;
  /** All outlines turn the same way, so that neighbours of one paint may be one element. */
  readonly oneWay: boolean;
  /** Edges on whole pixels: drawn without anti-aliasing. */
  readonly crisp: boolean;
}

export interface Group {
  readonly id: string | null;
  readonly elements: readonly Element[];
  /** Drawn without anti-aliasing, so that see-through neighbours meet without a seam. */
  readonly crisp?: boolean;
}

export interface Element {
  readonly fill: Fill;
  readonly shape: Shape;
  /** Drawn after the fill, along the outline, half its width to each side. */
  readonly stroke?: Stroke;
  /** The element fades in over the box around it: from nothing at its top or left to its full opacity at the other end. */
  readonly fade?: Fade;
  /** The element is drawn only inside of this shape; neighbours that name the same one are one thing. */
  readonly within?: Shape;
  /** The element is never joined with neighbours of the same paint. */
  readonly whole?: boolean;
}

/** Neighbours that are drawn within one shape, or within none, together. */
export function stretches(elements: readonly Element[]): { within: Shape | undefined; elements: Element[] }[] {
  const found: { within: Shape | undefined; elements: Element[] }[] = [];
  for (const element of elements) {
    const last = found.at(-1);
    if (last && last.within === element.within) last.elements.push(element);
    else found.push({ within: element.within, elements: [element] });
  }
  return found;
}

/** Elements by their outlines: what is drawn within one shape has that one's, and the first colour of it. */
export function asOutlined(elements: readonly Element[]): Element[] {
  return stretches(elements).flatMap(({ within, elements: together }) =>
    within ? [{ fill: together[0].fill, shape: within }] : together,
  );
}

/** Early: to its full opacity at `fadedAt` already. */
export type Fade = "down" | "across" | "down-early" | "across-early";

/** Where what fades in early has its full opacity, as a share of its box. */
export const fadedAt = 0.667;

/** Where a fade ends, as shares of its box across and down. */
export function fadeEnd(fade: Fade): readonly [x: number, y: number] {
  const end = fade.endsWith("early") ? fadedAt : 1;
  return fade.startsWith("across") ? [end, 0] : [0, end];
}

export interface Stroke {
  readonly colour: Colour;
  readonly width: number;
  /** Ends; joins are round where ends are, otherwise mitred. */
  readonly cap: "butt" | "round";
  /** Lengths drawn and left out, in turn. */
  readonly dashes?: readonly number[];
}

export type Shape =
  | {
      readonly kind: "path";
      readonly outlines: readonly Outline[];
      /** Inside is where a ray crosses the outlines an odd number of times; otherwise nonzero winding. */
      readonly evenOdd?: boolean;
    }
  | { readonly kind: "circle"; readonly cx: number; readonly cy: number; readonly r: number }
  | { readonly kind: "ellipse"; readonly cx: number; readonly cy: number; readonly rx: number; readonly ry: number }
  | {
      readonly kind: "rect";
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
      /** Radius of its corners. */
      readonly rx?: number;
    }
  | { readonly kind: "line"; readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number }
  /** x, y in turn. */
  | { readonly kind: "polyline" | "polygon"; readonly points: readonly number[] };

/**
 * A curve in px: a start and segments, each a line (2 numbers), an arc of a circle (4: a point half way and the end) or a
 * cubic (6).
 */
export interface Outline {
  readonly x: number;
  readonly y: number;
  /** 1 line, 2 arc, 3 cubic. */
  readonly kinds: number[];
  readonly points: number[];
  /** The curve does not go back to its start. */
  readonly open?: boolean;
}

/** Straight colour, 0..255, and opacity 0..1. */
export interface Colour {
  readonly r: number;
  readonly g: number;
  readonly b: number;
  readonly opacity: number;
}

export interface Stop {
  readonly offset: number;
  readonly colour: Colour;
}

export type Fill =
  | { readonly kind: "none" }
  | { readonly kind: "flat"; readonly colour: Colour }
  | {
      readonly kind: "linear";
      readonly x1: number;
      readonly y1: number;
      readonly x2: number;
      readonly y2: number;
      readonly stops: readonly Stop[];
      /** Its ends as attributes, where it was read from a file: it is written as it was. */
      readonly asRead?: string;
    }
  | {
      readonly kind: "radial";
      readonly cx: number;
      readonly cy: number;
      readonly r: number;
      /** The radius up and down, where that is another. */
      readonly ry?: number;
      readonly stops: readonly Stop[];
    };

/** The colours of a fill, in order. */
export function fillColours(fill: Fill): readonly Colour[] {
  if (fill.kind === "none") return [];
  return fill.kind === "flat" ? [fill.colour] : fill.stops.map((stop) => stop.colour);
}

/** The colours of an element: its fill's, then its stroke's. */
export function coloursOf({ fill, stroke }: Element): readonly Colour[] {
  return stroke ? [...fillColours(fill), stroke.colour] : fillColours(fill);
}

/** An element with every colour put through `paint`. */
export function repainted(element: Element, paint: (colour: Colour) => Colour): Element {
  const { fill, stroke } = element;
  return {
    ...element,
    fill: refilled(fill, paint),
    ...(stroke && { stroke: { ...stroke, colour: paint(stroke.colour) } }),
  };
}

function refilled(fill: Fill, paint: (colour: Colour) => Colour): Fill {
  if (fill.kind === "none") return fill;
  if (fill.kind === "flat") return { ...fill, colour: paint(fill.colour) };
  return { ...fill, stops: fill.stops.map(({ offset, colour }) => ({ offset, colour: paint(colour) })) };
}

/** A fill in another colour, as see-through as it is. */
export function inOneColour(fill: Fill, { r, g, b }: Omit<Colour, "opacity">): Fill {
  return refilled(fill, ({ opacity }) => ({ r, g, b, opacity }));
}

/** `#rgb` or `#rrggbb`. */
export function hex({ r, g, b }: Colour): string {
  const pairs = [r, g, b].map((v) => byte(v).toString(16).padStart(2, "0"));
  return pairs.every((pair) => pair[0] === pair[1])
    ? `#${pairs.map((pair) => pair[0]).join("")}`
    : `#${pairs.join("")}`;
}

/** A premultiplied colour as a straight one, whole levels. */
export function straight(r: number, g: number, b: number, alpha: number): Colour {
  if (alpha >= opaqueMin) return { r: byte(r), g: byte(g), b: byte(b), opacity: 1 };
  if (alpha <= 0.5) return { r: 0, g: 0, b: 0, opacity: 0 };
  const scale = 255 / alpha;
  return {
    r: byte(r * scale),
    g: byte(g * scale),
    b: byte(b * scale),
    opacity: Math.round((alpha / 255) * 100) / 100,
  };
}

/** Alpha (0..255) from which an area counts as opaque. */
export const opaqueMin = 252;

function byte(v: number): number {
  return v <= 0 ? 0 : v >= 255 ? 255 : Math.round(v);
}
