import { type Drawing, type Fill, fillColours, type Group, hex } from "../../../tracer/drawing.ts";

/** What a person has changed of a drawing, by the layer's place in it. */
export interface Edits {
  readonly hidden: ReadonlySet<number>;
  /** By layer, then by the colour it had. */
  readonly colours: ReadonlyMap<number, ReadonlyMap<string, string>>;
}

export const noEdits: Edits = { hidden: new Set(), colours: new Map() };

export interface Layer {
  readonly index: number;
  readonly name: string;
  readonly elements: number;
  /** Distinct, `#rrggbb` as they were traced; the most used first. */
  readonly colours: readonly string[];
}

/** From the one drawn last, which lies on top. */
export function layersOf({ groups }: Drawing): Layer[] {
  const layers = groups.map((group, index) => ({
    index,
    name: group.id ?? "all",
    elements: group.elements.length,
    colours: coloursOf(group),
  }));
  return layers.reverse();
}

function coloursOf({ elements }: Group): string[] {
  const uses = new Map<string, number>();
  for (const { fill } of elements) {
    for (const colour of fillColours(fill)) uses.set(sixOf(hex(colour)), (uses.get(sixOf(hex(colour))) ?? 0) + 1);
  }
  return [...uses].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
}

export function withHidden(edits: Edits, layer: number, isHidden: boolean): Edits {
  const hidden = new Set(edits.hidden);
  if (isHidden) hidden.add(layer);
  else hidden.delete(layer);
  return { ...edits, hidden };
}

export function withColour(edits: Edits, layer: number, from: string, to: string): Edits {
  const own = new Map(edits.colours.get(layer));
  if (from === to) own.delete(from);
  else own.set(from, to);
  return { ...edits, colours: new Map(edits.colours).set(layer, own) };
}

/** The drawing as it is shown and saved. */
export function edited(drawing: Drawing, { hidden, colours }: Edits): Drawing {
  const groups = drawing.groups.flatMap((group, index) => {
    if (hidden.has(index)) return [];
    const own = colours.get(index);
    if (!own || own.size === 0) return [group];
    return [{ ...group, elements: group.elements.map(({ fill, shape }) => ({ fill: recoloured(fill, own), shape })) }];
  });
  return { ...drawing, groups };
}

/** One layer alone, in its place on the whole sheet. */
export function onlyLayer(drawing: Drawing, edits: Edits, layer: number): Drawing {
  const all = edited(drawing, { ...edits, hidden: new Set() });
  return { ...all, groups: all.groups.slice(layer, layer + 1) };
}

function recoloured(fill: Fill, colours: ReadonlyMap<string, string>): Fill {
  const repaint = <C extends { r: number; g: number; b: number; opacity: number }>(colour: C): C => {
    const to = colours.get(sixOf(hex(colour)));
    if (to === undefined) return colour;
    const value = Number.parseInt(to.slice(1), 16);
    return { ...colour, r: value >> 16, g: (value >> 8) & 255, b: value & 255 };
  };
  if (fill.kind === "flat") return { ...fill, colour: repaint(fill.colour) };
  return { ...fill, stops: fill.stops.map((stop) => ({ ...stop, colour: repaint(stop.colour) })) };
}

/** Points that curves go through. */
export function nodesOf({ groups }: Drawing): number {
  let nodes = 0;
  for (const { elements } of groups) {
    for (const { shape } of elements) {
      if (shape.kind !== "path") nodes += 4;
      else for (const { kinds } of shape.outlines) nodes += kinds.length + 1;
    }
  }
  return nodes;
}

export function colourCount({ groups }: Drawing): number {
  return new Set(groups.flatMap(coloursOf)).size;
}

export function elementCount({ groups }: Drawing): number {
  return groups.reduce((sum, { elements }) => sum + elements.length, 0);
}

function sixOf(colour: string): string {
  return colour.length === 4 ? colour.replace(/[0-9a-f]/g, "$&$&") : colour;
}
