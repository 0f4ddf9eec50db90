import type { Contour, Contours } from "../curves/contours.ts";
import type { Areas } from "../regions/areas.ts";

/**
 * 1 for the areas that need not be drawn, since what they lie on has their paint and shows there: the inside of a letter, the
 * gap between an arm and a body. `holes` are those that are cut.
 */
export function seenThrough(
  { paints }: Pick<Areas, "paints">,
  chain: Contours,
  rank: Int32Array,
  holes: ReadonlyMap<number, readonly Contour[]>,
): Uint8Array {
  const cut = new Set([...holes.values()].flat());
  return Uint8Array.from(paints, (paint, area) => {
    if (paint < 0) return 0;
    let hole = chain.container[area];
    // The area around may itself be open there, down to the area around that.
    for (let up = 0; up < 2 && hole >= 0; up++) {
      const owner = chain.all[hole].area;
      if (!cut.has(chain.all[hole])) return paints[owner] === paint && rank[owner] < rank[area] ? 1 : 0;
      hole = chain.container[owner];
    }
    return 0;
  });
}
