import { type Contours, contours } from "../curves/contours.ts";
import type { Areas } from "../regions/areas.ts";

/** Strokes that become one: how many of their pixels lie on each area, and the areas in the gaps between them. */
interface Row {
  readonly under: ReadonlyMap<number, number>;
  readonly gaps: ReadonlySet<number>;
}

/**
 * Whether the things in the gaps of strokes hide them: they are drawn, opaque, and drawn like a stroke after all that the
 * strokes lie on. `at` has the stroke on each pixel.
 */
export class HiddenGaps {
  private readonly areas: Pick<Areas, "map" | "paints" | "opaque">;
  private readonly chain: Contours;
  private readonly rows: Row[];

  constructor(areas: Pick<Areas, "map" | "paints" | "opaque">, at: Int32Array, count: number) {
    this.areas = areas;
    this.chain = contours(areas.map);
    const { flat } = areas.map;
    const under = Array.from({ length: count }, () => new Map<number, number>());
    for (let p = 0; p < at.length; p++) {
      if (at[p] >= 0 && at[p] < count) under[at[p]].set(flat[p], (under[at[p]].get(flat[p]) ?? 0) + 1);
    }
    this.rows = under.map((sizes) => ({ under: sizes, gaps: new Set() }));
  }

  /** Makes two strokes one, if what lies in all gaps of both, and in that between them, hides these. */
  join(one: number, other: number, gap: ReadonlySet<number>): boolean {
    const [first, second] = [this.rows[one], this.rows[other]];
    const under = new Map(first.under);
    if (second !== first) for (const [area, n] of second.under) under.set(area, (under.get(area) ?? 0) + n);
    const gaps = new Set([...first.gaps, ...second.gaps, ...gap]);
    const grounds = groundsOf(under);
    if (![...gaps].every((area) => grounds.every((ground) => this.hides(area, ground)))) return false;
    const both = { under, gaps };
    this.rows.forEach((row, i) => {
      if (row === first || row === second) this.rows[i] = both;
    });
    return true;
  }

  /** Whether an area at which a stroke ends hides the stroke's way on there; pixels of its end may count as on that area. */
  hidesEnd(stroke: number, area: number): boolean {
    const under = new Map(this.rows[stroke].under);
    under.delete(area);
    const grounds = groundsOf(under);
    return grounds.length > 0 && grounds.every((ground) => this.hides(area, ground));
  }

  private hides(area: number, ground: number): boolean {
    const { all, outer, depth } = this.chain;
    if (area === ground || this.areas.opaque[area] === 0 || this.isSeenThrough(area)) return false;
    if (depth[area] !== depth[ground]) return depth[area] > depth[ground];
    return all[outer[area]].enclosed < all[outer[ground]].enclosed;
  }

  /** Whether the area around it, or the one around that, has its paint: then it is not drawn. */
  private isSeenThrough(area: number): boolean {
    const { paints, opaque } = this.areas;
    const { all, container } = this.chain;
    for (let hole = container[area], up = 0; up < 2 && hole >= 0 && paints[area] >= 0; up++) {
      const owner = all[hole].area;
      if (paints[owner] === paints[area]) return true;
      // An opaque area has no hole there: this area is drawn over it.
      if (opaque[owner] === 1 && opaque[area] === 1) return false;
      hole = container[owner];
    }
    return false;
  }
}

/** What strokes lie on, and do not only touch. */
function groundsOf(under: ReadonlyMap<number, number>): number[] {
  const whole = [...under.values()].reduce((sum, n) => sum + n, 0);
  return [...under].filter(([, n]) => n > Math.max(3, groundShareMin * whole)).map(([area]) => area);
}

const groundShareMin = 0.05;
