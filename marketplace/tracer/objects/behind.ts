import type { PixelAreas } from "../regions/components.ts";
import { find, unite } from "../regions/union-find.ts";
import { pairOf } from "./junctions.ts";

/** 1 for parts that are never joined, and for those that others stand on. */
export interface Marks {
  readonly apart: Uint8Array;
  readonly standsFor: Uint8Array;
}

/**
 * Joins parts of one colour that something in front divides, such as a shield behind its banner: they face each other
 * across it over more than what lies between them, and neither lies in it, as a key does in its keyboard. Changes `partOf`.
 * `colourOff` says how unlike two are, levels. Source: the support ratio of Shipley & Kellman, "Strength of visual interpolation depends on the ratio of
 * physically specified to total edge length" (1992).
 */
export function joinBehind(
  map: PixelAreas,
  partOf: Int32Array,
  parts: number,
  { apart, standsFor }: Marks,
  colourOff: (one: number, other: number) => number,
): void {
  const kinds = kindsOf(parts, apart, colourOff);
  if (!kinds) return;
  const across = new Facing(parts, kinds, standsFor);
  const down = new Facing(parts, kinds, standsFor);
  const { flat, width, height } = map;
  for (let y = 0; y < height; y++) {
    across.begin();
    for (let x = 0; x < width; x++) across.pass(partOf[flat[y * width + x]], x);
  }
  for (let x = 0; x < width; x++) {
    down.begin();
    for (let y = 0; y < height; y++) down.pass(partOf[flat[y * width + x]], y);
  }
  const parent = Int32Array.from({ length: parts }, (_, part) => part);
  const sides = sidesOf(map, partOf, parts);
  for (const facing of [across, down]) {
    for (const { one, other, between } of facing.dividedByLess()) {
      const isAmid = (part: number) => {
        let length = 0;
        for (const third of between) length += sides.between.get(pairOf(part, third, parts)) ?? 0;
        return length > amidMax * sides.all[part];
      };
      if (!isAmid(one) && !isAmid(other)) unite(parent, one, other);
    }
  }
  for (let a = 0; a < partOf.length; a++) partOf[a] = find(parent, partOf[a]);
}

/** Most levels that parts of one colour differ. */
const sameMax = 8;
/** Most that lies between two, to how far they face each other, px. */
const gapShareMax = 0.6;
/** Most of its outline that a part may have on what lies between. */
const amidMax = 0.42;

/** A number that parts of one colour share; null where no two do. */
function kindsOf(
  parts: number,
  apart: Uint8Array,
  colourOff: (one: number, other: number) => number,
): Int32Array | null {
  const firsts: number[] = [];
  let shared = false;
  const kinds = new Int32Array(parts).fill(-1);
  for (let part = 0; part < parts; part++) {
    if (apart[part] === 1) continue;
    const alike = firsts.findIndex((first) => colourOff(first, part) <= sameMax);
    kinds[part] = alike < 0 ? firsts.push(part) - 1 : alike;
    if (alike >= 0) shared = true;
  }
  return shared ? kinds : null;
}

interface Faced {
  readonly gaps: number[];
  readonly between: Set<number>;
}

/** Which parts of one kind follow each other in rows, or columns, with nothing but other things between them. */
class Facing {
  private readonly parts: number;
  private readonly kinds: Int32Array;
  private readonly standsFor: Uint8Array;
  /** By kind: the last part met in this line, where it ended and what came after it. */
  private readonly last: Int32Array;
  private readonly end: Int32Array;
  private readonly after: Int32Array;
  private open = 0;
  private here = -1;
  private readonly pairs = new Map<number, Faced>();

  constructor(parts: number, kinds: Int32Array, standsFor: Uint8Array) {
    this.parts = parts;
    this.kinds = kinds;
    this.standsFor = standsFor;
    this.last = new Int32Array(parts).fill(-1);
    this.end = new Int32Array(parts);
    this.after = new Int32Array(parts);
  }

  begin(): void {
    this.last.fill(-1);
    this.open = 0;
    this.here = -1;
  }

  pass(part: number, at: number): void {
    const { here, kinds, last, end, after } = this;
    if (part !== here) {
      if (here >= 0 && kinds[here] >= 0) {
        last[kinds[here]] = here;
        end[kinds[here]] = at;
        after[kinds[here]] = part;
      }
      const kind = kinds[part];
      const before = kind < 0 ? -1 : last[kind];
      if (before >= 0 && before !== part && end[kind] > this.open) this.meet(before, part, at - end[kind], after[kind]);
      this.here = part;
    }
    if (this.standsFor[part] === 1) this.open = at + 1;
  }

  private meet(one: number, other: number, gap: number, after: number): void {
    const pair = pairOf(one, other, this.parts);
    const so = this.pairs.get(pair) ?? { gaps: [], between: new Set() };
    this.pairs.set(pair, so);
    so.gaps.push(gap);
    so.between.add(after).add(this.here);
  }

  *dividedByLess() {
    for (const [pair, { gaps, between }] of this.pairs) {
      const narrowest = gaps.sort((a, b) => a - b);
      if (!narrowest.some((gap, i) => gap <= gapShareMax * (i + 1))) continue;
      yield { one: Math.floor(pair / this.parts), other: pair % this.parts, between };
    }
  }
}

/** Px of the outline of each part, and of the borders of each two. */
function sidesOf({ flat, width, height }: PixelAreas, partOf: Int32Array, parts: number) {
  const all = new Float64Array(parts);
  const between = new Map<number, number>();
  const meet = (one: number, other: number) => {
    if (one === other) return;
    all[one]++;
    all[other]++;
    const pair = pairOf(one, other, parts);
    between.set(pair, (between.get(pair) ?? 0) + 1);
  };
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x + 1 < width) meet(partOf[flat[p]], partOf[flat[p + 1]]);
      if (y + 1 < height) meet(partOf[flat[p]], partOf[flat[p + width]]);
    }
  }
  return { all, between };
}
