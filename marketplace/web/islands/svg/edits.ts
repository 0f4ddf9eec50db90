import {
  asOutlined,
  type Colour,
  type Drawing,
  coloursOf as elementColours,
  type Group,
  hex,
  repainted,
} from "../../../tracer/drawing.ts";

/** What a person has changed of a drawing, by the layer's place in it. */
export interface Edits {
  readonly hidden: ReadonlySet<number>;
  /** By layer, then by the colour it had. */
  readonly colours: ReadonlyMap<number, ReadonlyMap<string, string>>;
}

export const noEdits: Edits = { hidden: new Set(), colours: new Map() };

export const isEdited = ({ hidden, colours }: Edits) =>
  hidden.size > 0 || [...colours.values()].some((own) => own.size > 0);

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
  for (const element of elements) {
    for (const colour of elementColours(element)) uses.set(sixOf(hex(colour)), (uses.get(sixOf(hex(colour))) ?? 0) + 1);
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
    return [
      { ...group, elements: group.elements.map((element) => repainted(element, (colour) => inOwn(colour, own))) },
    ];
  });
  return { ...drawing, groups };
}

/** One layer alone, in its place on the whole sheet. */
export function onlyLayer(drawing: Drawing, edits: Edits, layer: number): Drawing {
  const all = edited(drawing, { ...edits, hidden: new Set() });
  return { ...all, groups: all.groups.slice(layer, layer + 1) };
}

function inOwn(colour: Colour, colours: ReadonlyMap<string, string>): Colour {
  const to = colours.get(sixOf(hex(colour)));
  if (to === undefined) return colour;
  const value = Number.parseInt(to.slice(1), 16);
  return { ...colour, r: value >> 16, g: (value >> 8) & 255, b: value & 255 };
}

/** Points that curves go through. */
export function nodesOf({ groups }: Drawing): number {
  let nodes = 0;
  for (const { elements } of groups) {
    for (const { shape } of asOutlined(elements)) {
      if (shape.kind === "line") nodes += 2;
      else if (shape.kind === "polyline" || shape.kind === "polygon") nodes += shape.points.length / 2;
      else if (shape.kind !== "path") nodes += 4;
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

/** `#aabbcc` of `#abc`; a longer one as it is. */
export function sixOf(colour: string): string {
  return colour.length === 4 ? colour.replace(/[0-9a-f]/g, "$&$&") : colour;
}
