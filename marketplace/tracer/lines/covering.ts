import { lengthOf } from "../curves/length.ts";
import { coverArea } from "./cover.ts";
import type { Measured } from "./profile.ts";
import type { FoundStroke } from "./strokes-of.ts";

/** Strokes that cover an area, and which is where; where no end says how they are cut, their joins may be round instead. */
export function covering(
  found: FoundStroke[] | null,
  places: Int32Array,
  picture: Measured,
): { strokes: readonly FoundStroke[]; owners: Int32Array | null } {
  if (!found || !isOnGround(found, picture)) return { strokes: [], owners: null };
  const asFound = coverArea(places, found, picture);
  if (found.some(({ closed, abuts }) => !closed && abuts.includes(false)))
    return { strokes: found, owners: asFound?.owners ?? null };
  const strokes = found.map((stroke) => ({ ...stroke, cap: "round" as const }));
  const asRound = coverArea(places, strokes, picture);
  if (asRound && asRound.miss < 0.9 * (asFound?.miss ?? 1)) return { strokes, owners: asRound.owners };
  return { strokes: found, owners: asFound?.owners ?? null };
}

/** Whether strokes lie on something, or go round it: what runs between two other things all along is a part of one. */
function isOnGround(strokes: readonly FoundStroke[], { pixels, areas, stride, width }: Measured): boolean {
  const height = areas.length / stride - 2;
  let [same, other] = [0, 0];
  for (const { points, closed, width: wide } of strokes) {
    if (closed) return true;
    for (let i = 1; i < points.length; i++) {
      const { x, y } = points[i];
      const [dx, dy] = [x - points[i - 1].x, y - points[i - 1].y];
      const off = (wide / 2 + 2) / (lengthOf(dx, dy) || 1);
      const [one, two] = [1, -1].map((side) => {
        const [px, py] = [Math.floor(x - dy * off * side), Math.floor(y + dx * off * side)];
        return px < 0 || py < 0 || px >= width || py >= height ? -1 : (py * width + px) * 4;
      });
      if (one < 0 || two < 0) continue;
      if ([0, 1, 2, 3].every((c) => Math.abs(pixels[one + c] - pixels[two + c]) <= alikeMax)) same++;
      else other++;
    }
  }
  return same >= other;
}

/** How far apart two levels of one ground may be. */
const alikeMax = 12;
