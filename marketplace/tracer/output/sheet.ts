import type { Element, Group } from "../drawing.ts";
import type { LiftedStroke, Lines } from "../lines/lines.ts";
import { find, unite } from "../regions/union-find.ts";
import type { Layering } from "./layers.ts";

/** Elements as they are drawn, in their groups. Strokes on what other things stand on are groups of their own. */
export class Sheet {
  private readonly layering: Layering;
  private readonly lineOf: ReadonlyMap<LiftedStroke, number>;
  private readonly done: Group[] = [];
  private readonly lying = new Map<number, Element[]>();
  private elements: Element[] = [];
  private layer = -1;

  constructor(layering: Layering, lines: Lines | null, width: number) {
    this.layering = layering;
    this.lineOf = lines && layering.grounds.includes(1) ? touchingStrokes(lines, width) : new Map();
  }

  /** Where the elements of a layer go. */
  on(layer: number): Element[] {
    if (layer !== this.layer) {
      this.endLayer();
      this.layer = layer;
    }
    return this.elements;
  }

  stroke(stroke: LiftedStroke, layer: number): void {
    const elements = this.on(layer);
    const element = { fill: { kind: "none" as const }, shape: stroke.shape, stroke: stroke.stroke };
    if (this.layering.grounds[layer] === 0) elements.push(element);
    else {
      const line = this.lineOf.get(stroke) ?? -1;
      this.lying.set(line, [...(this.lying.get(line) ?? []), element]);
    }
  }

  groups(): Group[] {
    this.endLayer();
    return this.done;
  }

  private endLayer(): void {
    if (this.elements.length > 0) this.done.push({ id: this.layering.names[this.layer], elements: this.elements });
    for (const elements of this.lying.values()) this.done.push({ id: "object", elements });
    this.lying.clear();
    this.elements = [];
  }
}

/** A common number for strokes of one colour that touch. */
function touchingStrokes({ strokes, at }: Lines, width: number): Map<LiftedStroke, number> {
  const parent = Int32Array.from(strokes, (_, i) => i);
  const colours = strokes.map(({ stroke: { colour } }) => [colour.r, colour.g, colour.b]);
  const areAlike = (one: number, other: number) =>
    colours[one].every((level, c) => Math.abs(level - colours[other][c]) <= levelsAlike);
  for (let p = 0; p < at.length; p++) {
    if (at[p] < 0) continue;
    for (const q of [p + 1, p + 2, p + width - 1, p + width, p + width + 1, p + 2 * width]) {
      if (q < at.length && at[q] >= 0 && at[q] !== at[p] && areAlike(at[p], at[q])) unite(parent, at[p], at[q]);
    }
  }
  return new Map(strokes.map((stroke, i) => [stroke, find(parent, i)]));
}

const levelsAlike = 24;
