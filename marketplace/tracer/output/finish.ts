import { type Colour, coloursOf, type Drawing, hex } from "../drawing.ts";
import type { Background } from "../regions/background.ts";
import { describeLayers } from "./layers.ts";
import { writeSvg } from "./write-svg.ts";

export interface Trace {
  readonly svg: string;
  /** Px of the source. */
  readonly width: number;
  readonly height: number;
  /** Drawn elements. */
  readonly paths: number;
  /** Distinct flat colours and gradient stops. */
  readonly colors: number;
  /** UTF-8 length of `svg`. */
  readonly bytes: number;
  readonly layers: readonly { readonly id: string; readonly name: string; readonly fill: readonly string[] }[];
  /** The colour taken away by `removeBackground`, if any. */
  readonly removed: Colour | null;
  readonly drawing: Drawing;
}

/** A drawing written out, with its counts. */
export function finish(drawing: Drawing, background: Background | null): Trace {
  const svg = writeSvg(drawing);
  const colours = new Set<string>();
  for (const { elements } of drawing.groups) {
    for (const element of elements) for (const colour of coloursOf(element)) colours.add(hex(colour));
  }
  return {
    svg,
    width: drawing.width,
    height: drawing.height,
    // What is defined is drawn by what uses it.
    paths: svg.slice(Math.max(0, svg.indexOf("</defs>"))).match(shapeTag)?.length ?? 0,
    colors: colours.size,
    // The writer writes nothing but ASCII.
    bytes: svg.length,
    layers: describeLayers(drawing),
    removed: background?.colour ?? null,
    drawing,
  };
}

const shapeTag = /<(?:path|circle|ellipse|rect|line|polyline|polygon)\b/g;
