import { type Colour, coloursOf, type Drawing, type Fill, hex } from "../drawing.ts";
import type { Raster } from "../image/raster.ts";
import { finish, type Trace } from "../output/finish.ts";
import type { Likeness } from "../output/score.ts";
import { nearestColour, parseColour } from "../regions/palette.ts";
import { checkSvg } from "../sanitize/check-svg.ts";
import { BadMarkupError, type Markup, readMarkup, writeMarkup } from "../sanitize/markup.ts";
import { readDrawing, viewBoxOf } from "../sanitize/read-drawing.ts";
import { renderAndScore, renderRaster } from "./render.ts";

/** What the drawing shall be, whatever the model made of it. */
export interface Wish {
  /** Px. */
  readonly width: number;
  readonly height: number;
  /** `#rrggbb`; undefined leaves the ground as the model drew it. */
  readonly background?: string;
  /** Only these colours, `#rrggbb`. */
  readonly palette?: readonly string[];
  /** Most colours; gradients are then flat. */
  readonly colors?: number;
  /** Most bytes of SVG. */
  readonly bytesMax: number;
  /** Groups are objects, not layers. */
  readonly objects: boolean;
}

export interface Drawn {
  readonly result: Trace;
  readonly png: () => Uint8Array;
  readonly likeness: Likeness;
}

/**
 * A chat model's answer as an SVG of ours: read by a strict list, written anew, rendered and compared with what the model
 * wrote, so the score says how truly its drawing was kept. Throws BadMarkupError, also when it shows nothing or was not kept.
 */
export function redraw(answer: string, wish: Wish): Drawn {
  const { width, height, background, bytesMax, objects } = wish;
  const markup = onGround(readMarkup(answer), background);
  const drawing = readDrawing(markup, wish, objects ? "object" : "layer");
  const palette = wish.palette?.map(parseColour) ?? commonColours(drawing, wish.colors);
  const result = written(drawing, palette ? Number.POSITIVE_INFINITY : bytesMax);
  const meant = renderRaster(writeMarkup(markup, width, height, viewBoxOf(markup).join(" ")), width, height);
  if (isBlank(meant)) throw new BadMarkupError("it shows nothing");
  const drawn = renderAndScore(meant, result);
  if (drawn.likeness.score < likenessMin) throw new BadMarkupError("it uses SVG in a way that is not supported");
  if (!palette) return { result, ...drawn };
  const repainted = written(inPalette(drawing, palette), bytesMax);
  return { result: repainted, ...renderAndScore(meant, repainted) };
}

function written(drawing: Drawing, bytesMax: number): Trace {
  const result = finish(drawing, null);
  if (result.bytes > bytesMax) throw new BadMarkupError(`the drawing is over ${bytesMax} bytes`);
  try {
    checkSvg(result.svg);
  } catch (cause) {
    throw new BadMarkupError("it has sizes that cannot be drawn", { cause });
  }
  return result;
}

const likenessMin = 0.8;

function onGround(root: Markup, background: string | undefined): Markup {
  if (background === undefined) return root;
  const [x, y, width, height] = viewBoxOf(root);
  // The canvas may be wider or higher than the model's own.
  const around = { x: x - width * 4, y: y - height * 4, width: width * 9, height: height * 9, fill: background };
  const attributes = new Map(Object.entries(around).map(([name, value]) => [name, String(value)]));
  return { ...root, children: [{ name: "rect", attributes, children: [] }, ...root.children] };
}

/** The colours that most elements have, at most `most` of them. */
function commonColours({ groups }: Drawing, most: number | undefined): readonly Colour[] | undefined {
  if (most === undefined) return undefined;
  const uses = new Map<string, number>();
  for (const { elements } of groups) {
    for (const element of elements)
      for (const colour of coloursOf(element)) uses.set(hex(colour), (uses.get(hex(colour)) ?? 0) + 1);
  }
  const ranked = [...uses].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, most);
  return ranked.map(([colour]) => parseColour(colour.length === 4 ? colour.replace(/[0-9a-f]/g, "$&$&") : colour));
}

function inPalette(drawing: Drawing, colours: readonly Colour[]): Drawing {
  const only = (fill: Fill): Fill => {
    if (fill.kind === "none") return fill;
    const { opacity, ...shown } = fill.kind === "flat" ? fill.colour : fill.stops[fill.stops.length >> 1].colour;
    return { kind: "flat", colour: { ...colours[nearestColour(colours, shown.r, shown.g, shown.b)], opacity } };
  };
  const groups = drawing.groups.map(({ id, elements }) => ({
    id,
    elements: elements.map(({ fill, shape }) => ({ fill: only(fill), shape })),
  }));
  return { ...drawing, groups };
}

function isBlank({ rgba }: Raster): boolean {
  const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, rgba.length / 4);
  return pixels.every((pixel) => pixel === pixels[0]);
}
