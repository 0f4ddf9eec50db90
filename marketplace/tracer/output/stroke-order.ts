import type { Contour, Contours } from "../curves/contours.ts";
import type { LiftedStroke, Lines } from "../lines/lines.ts";
import { pointsAlong, step } from "../lines/points-along.ts";
import type { AreaMap } from "../regions/components.ts";

/** Areas beneath no more pixels of a stroke are touched only, by its width. */
const touchMax = 2;

const frameShareMin = 0.85;
const bareShareMax = 0.06;

/** When strokes are drawn: each after all that it lies on, or with the area whose outline it is. */
export class StrokeOrder {
  private readonly lines: Lines | null;
  private readonly width: number;
  private readonly byArea = new Map<number, number[]>();
  private readonly drawn = new Set<number>();

  constructor(lines: Lines | null, { flat, width }: AreaMap, rank: Int32Array) {
    this.lines = lines;
    this.width = width;
    if (!lines) return;
    const { strokes, at } = lines;
    const under = strokes.map(() => new Map<number, number>());
    for (let p = 0; p < at.length; p++) {
      if (at[p] >= 0) under[at[p]].set(flat[p], (under[at[p]].get(flat[p]) ?? 0) + 1);
    }
    const last = under.map((areas, stroke) => {
      const over = this.areasOver(stroke, flat);
      const all = [...areas].sort(([, a], [, b]) => b - a);
      const touched = Math.max(3, touchMax * strokes[stroke].stroke.width);
      const before = Math.min(...[...over].map((area) => rank[area]));
      const isGround = (area: number, n: number) => n > touched && !over.has(area) && rank[area] < before;
      const grounds = all.filter(([area, n], i) => i === 0 || isGround(area, n));
      return grounds.reduce((best, [area]) => (best < 0 || rank[area] > rank[best] ? area : best), -1);
    });
    last.forEach((area, stroke) => {
      const list = this.byArea.get(area);
      if (list) list.push(stroke);
      else this.byArea.set(area, [stroke]);
    });
  }

  /** The areas that hide a stroke along its middle. */
  private areasOver(stroke: number, flat: Int32Array): ReadonlySet<number> {
    const over = new Map<number, number>();
    if (!this.lines) return new Set();
    const { at, strokes } = this.lines;
    const { width } = this;
    for (const { x, y } of pointsAlong(strokes[stroke].shape)) {
      const p = Math.floor(y) * width + Math.floor(x);
      if (x < 0 || x >= width || p < 0 || p >= at.length) continue;
      // Along the border of two rows the middle may lie in either.
      const isSeen = [0, 1, -1, width, -width].some((to) => at[p + to] >= 0);
      if (!isSeen) over.set(flat[p], (over.get(flat[p]) ?? 0) + 1);
    }
    const least = (strokes[stroke].stroke.width + 2) / step;
    return new Set([...over].filter(([, n]) => n > least).map(([area]) => area));
  }

  /** The closed stroke that an outline runs beneath all the way, if there is one. */
  frameOf({ x, y, from, to }: Contour, { steps }: Contours): LiftedStroke | null {
    if (!this.lines) return null;
    const { at, strokes } = this.lines;
    const counts = new Map<number, number>();
    let [px, py] = [x, y];
    for (let i = from; i < to; i++) {
      const direction = steps[i];
      // A thin stroke's pixels may all have gone to one side.
      const inside = (direction < 2 ? py : py - 1) * this.width + (direction % 3 === 0 ? px : px - 1);
      const stroke = Math.max(at[inside], at[inside + [-this.width, 1, this.width, -1][direction]] ?? -1);
      counts.set(stroke, (counts.get(stroke) ?? 0) + 1);
      if (direction === 0) px++;
      else if (direction === 1) py++;
      else if (direction === 2) px--;
      else py--;
    }
    const [[most, length]] = [...counts].sort(([, a], [, b]) => b - a);
    // Where another meets it, some of the pixels are that one's; in its corners some may be no stroke's.
    if (most < 0 || (counts.get(-1) ?? 0) > bareShareMax * (to - from) || length < frameShareMin * (to - from))
      return null;
    if (!strokes[most].closed || this.drawn.has(most)) return null;
    this.drawn.add(most);
    return strokes[most];
  }

  /** The strokes to be drawn once an area has been. */
  after(area: number): LiftedStroke[] {
    const { lines, drawn } = this;
    const found = this.byArea.get(area) ?? [];
    return lines ? found.filter((stroke) => !drawn.has(stroke)).map((stroke) => lines.strokes[stroke]) : [];
  }
}
