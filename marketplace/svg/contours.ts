import { type AreaMap, areaPasses } from "./components.ts";

/** One closed outline of an area, as unit steps along pixel edges with the area on the right hand. */
export interface Contour {
  readonly area: number;
  /** First vertex, px. */
  readonly x: number;
  readonly y: number;
  /** Steps `from` ≤ i < `to` of `steps`. */
  readonly from: number;
  readonly to: number;
  /** Enclosed px²: positive round an area, negative round a hole in it. */
  readonly enclosed: number;
}

export interface Contours {
  /** 0 east, 1 south, 2 west, 3 north. */
  readonly steps: Uint8Array;
  /** All outlines; `outer[area]` is the one round the area. */
  readonly all: readonly Contour[];
  readonly outer: Int32Array;
  /** Per area: the outline of the hole it lies in, or -1. */
  readonly container: Int32Array;
  /** Per area: how many areas it is nested in. */
  readonly depth: Int32Array;
}

/**
 * Step 4a: follows every outline of every area once. Source: crack following, as in Pavlidis, "Algorithms for Graphics
 * and Image Processing" (1982) §7.5; nesting as in Suzuki & Abe (1985).
 */
export function contours(map: AreaMap): Contours {
  const { areas, stride, width, height, count } = map;
  let steps = new Uint8Array(1 << 16);
  let used = 0;
  const all: Contour[] = [];
  const outer = new Int32Array(count).fill(-1);
  const seen = new Uint8Array(areas.length);
  // Which outline passes below a pixel: tells what a later area lies in.
  const below = new Int32Array(areas.length).fill(-1);
  const ahead = [1, stride, -1, -stride];
  for (let y = 0; y < height; y++) {
    for (let x = 0, q = (y + 1) * stride + 1; x < width; x++, q++) {
      const area = areas[q]!;
      if (areas[q - stride] === area || seen[q] === 1) continue;
      const from = used;
      const id = all.length;
      let direction = 0;
      let inside = q;
      let outside = q - stride;
      let vx = x;
      let enclosed = 0;
      do {
        if (used === steps.length) {
          const grown = new Uint8Array(used * 2);
          grown.set(steps);
          steps = grown;
        }
        steps[used++] = direction;
        if (direction === 0) {
          seen[inside] = 1;
          vx++;
        } else if (direction === 1) enclosed += vx;
        else if (direction === 2) {
          below[inside] = id;
          vx--;
        } else enclosed -= vx;
        const step = ahead[direction]!;
        const nextInside = inside + step;
        const nextOutside = outside + step;
        const insideSame = areas[nextInside] === area;
        const outsideSame = areas[nextOutside] === area;
        const left = insideSame
          ? outsideSame
          : outsideSame && areaPasses(map, area, areas[outside]!, areas[nextInside]!);
        if (left) {
          // The area is also ahead on the left: turn towards it.
          inside = nextOutside;
          direction = (direction + 3) & 3;
        } else if (insideSame) {
          inside = nextInside;
          outside = nextOutside;
        } else {
          outside = nextInside;
          direction = (direction + 1) & 3;
        }
      } while (inside !== q || direction !== 0);
      all.push({ area, x, y, from, to: used, enclosed });
      if (outer[area] === -1) outer[area] = id;
    }
  }
  const container = new Int32Array(count).fill(-1);
  const depth = new Int32Array(count);
  for (let area = 0; area < count; area++) {
    const first = all[outer[area]!]!;
    const above = (first.y + 1) * stride + first.x + 1 - stride;
    const neighbour = areas[above]!;
    if (neighbour < 0) continue;
    const passing = below[above]!;
    container[area] = outer[neighbour] === passing ? container[neighbour]! : passing;
    const around = container[area]!;
    depth[area] = around < 0 ? 0 : depth[all[around]!.area]! + 1;
  }
  return { steps, all, outer, container, depth };
}
