import type { AreaMap } from "../regions/components.ts";

/** What one walk over the picture tells of each area's shape. */
export interface Measures {
  /** Sides of pixels that lie at its edge. */
  readonly sides: Int32Array;
  /** Least and most column and row of each, two numbers an area. */
  readonly least: Int32Array;
  readonly most: Int32Array;
}

export function measureAreas({ flat, width, height, count }: AreaMap): Measures {
  const sides = new Int32Array(count);
  const least = new Int32Array(count * 2).fill(Math.max(width, height));
  const most = new Int32Array(count * 2).fill(-1);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; ) {
      const area = flat[p];
      const begin = x;
      let other = 0;
      do {
        if (y > 0 && flat[p - width] !== area) {
          other++;
          sides[flat[p - width]]++;
        }
        x++;
        p++;
      } while (x < width && flat[p] === area);
      sides[area] += other + 2 + (y === 0 ? x - begin : 0) + (y === height - 1 ? x - begin : 0);
      if (begin < least[area * 2]) least[area * 2] = begin;
      if (x > most[area * 2] + 1) most[area * 2] = x - 1;
      if (y < least[area * 2 + 1]) least[area * 2 + 1] = y;
      most[area * 2 + 1] = y;
    }
  }
  return { sides, least, most };
}
