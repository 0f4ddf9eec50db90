import { eachOverlap } from "../image/runs.ts";
import type { AreaMap } from "../regions/components.ts";

/** What one walk over the picture tells of each area's shape. */
export interface Measures {
  /** Sides of pixels that lie at its edge. */
  readonly sides: Int32Array;
  /** Least and most column and row of each, two numbers an area. */
  readonly least: Int32Array;
  readonly most: Int32Array;
}

export function measureAreas({ runs, areaOf, width, height, count }: AreaMap): Measures {
  const { begins, rows } = runs;
  const sides = new Int32Array(count);
  const least = new Int32Array(count * 2).fill(Math.max(width, height));
  const most = new Int32Array(count * 2).fill(-1);
  for (let y = 0; y < height; y++) {
    const borders = (y === 0 ? 1 : 0) + (y === height - 1 ? 1 : 0);
    for (let run = rows[y]; run < rows[y + 1]; run++) {
      const area = areaOf[run];
      const begin = begins[run] - y * width;
      const end = begins[run + 1] - y * width;
      sides[area] += 2 + borders * (end - begin);
      if (begin < least[area * 2]) least[area * 2] = begin;
      if (end > most[area * 2] + 1) most[area * 2] = end - 1;
      if (y < least[area * 2 + 1]) least[area * 2 + 1] = y;
      most[area * 2 + 1] = y;
    }
  }
  eachOverlap(runs, width, (upper, lower, from, to) => {
    if (areaOf[upper] === areaOf[lower]) return;
    sides[areaOf[upper]] += to - from;
    sides[areaOf[lower]] += to - from;
  });
  return { sides, least, most };
}
