import type { Areas } from "../regions/areas.ts";
import type { Dash } from "./dashes.ts";

/**
 * Whether something lies over the place between two dashes at which another would lie: all along it, nothing that the two lie
 * on is seen. `lifted` has what was taken off each pixel before, or -1.
 */
export function isHiddenBetween(
  one: Dash,
  other: Dash,
  { map, paints }: Pick<Areas, "map" | "paints">,
  lifted: Int32Array | null,
): boolean {
  const { flat, width, height } = map;
  const placeAt = (x: number, y: number) => {
    const [px, py] = [Math.floor(x), Math.floor(y)];
    return px < 0 || py < 0 || px >= width || py >= height ? -1 : py * width + px;
  };
  const grounds = new Set<number>();
  const groundPaints = new Set<number>();
  for (const { x, y, dx, dy, width: wide } of [one, other]) {
    for (const off of [wide / 2 + 2, -wide / 2 - 2]) {
      const p = placeAt(x - dy * off, y + dx * off);
      if (p < 0) continue;
      grounds.add(flat[p]);
      if (paints[flat[p]] >= 0) groundPaints.add(paints[flat[p]]);
    }
  }
  const [x, y] = [(one.x + other.x) / 2, (one.y + other.y) / 2];
  const half = Math.max(0, one.length / 2 - 1.5);
  for (let s = -half; s <= half; s++) {
    const p = placeAt(x + one.dx * s, y + one.dy * s);
    if (p < 0) return false;
    if ((lifted?.[p] ?? -1) >= 0) continue;
    if (grounds.has(flat[p]) || groundPaints.has(paints[flat[p]])) return false;
  }
  return true;
}
