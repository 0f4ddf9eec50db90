import { lengthOf } from "../curves/length.ts";
import type { AreaMap } from "../regions/components.ts";
import { distanceTo, onto, type Place, type StraightLine } from "./straight-line.ts";

/**
 * The middle of a disc or ring that a line points at and ends at: what connects markers and nodes goes on beneath these. `line` is
 * from its end outwards, `hides` tells at which pixels the line is drawn over. Null where there is none.
 */
export function middleAhead(
  line: StraightLine,
  at: Int32Array,
  { flat, width, height }: AreaMap,
  hides: (pixel: number) => boolean,
): Place | null {
  for (let s = 0.5; s <= lookMax; s += 0.5) {
    const [x, y] = [Math.floor(line.x + line.dx * s), Math.floor(line.y + line.dy * s)];
    if (x < 0 || y < 0 || x >= width || y >= height) return null;
    const p = y * width + x;
    if (at[p] >= 0 || !hides(p)) continue;
    const disc = discAt(p, flat, width, height);
    const ahead = disc && (disc.x - line.x) * line.dx + (disc.y - line.y) * line.dy;
    if (!disc || !ahead || ahead < 0 || distanceTo(line, disc) > asideMax) return null;
    return onto(line, disc);
  }
  return null;
}

/** A stroke's end may lie a little before what it ends at, px. */
const lookMax = 4;
/** How far a line may pass the middle, px. */
const asideMax = 1;

/** The middle of the area around a pixel, if it is a disc or a ring. */
function discAt(from: number, flat: Int32Array, width: number, height: number): Place | null {
  const area = flat[from];
  const seen = new Set([from]);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (const p of seen) {
    if (seen.size > discMax) return null;
    const [x, y] = [p % width, Math.floor(p / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
    if (x > 0 && flat[p - 1] === area) seen.add(p - 1);
    if (x < width - 1 && flat[p + 1] === area) seen.add(p + 1);
    if (y > 0 && flat[p - width] === area) seen.add(p - width);
    if (y < height - 1 && flat[p + width] === area) seen.add(p + width);
  }
  const middle = { x: (left + right + 1) / 2, y: (top + bottom + 1) / 2 };
  const [wide, high] = [right - left + 1, bottom - top + 1];
  const r = (wide + high) / 4;
  if (Math.abs(wide - high) > 2 || seen.size < ringMin * r * r) return null;
  const isRound = [...seen].every(
    (p) => lengthOf((p % width) + 0.5 - middle.x, Math.floor(p / width) + 0.5 - middle.y) <= r + roundMax,
  );
  return isRound ? middle : null;
}

/** A node of a graph covers no more, px. */
const discMax = 6000;
/** How far beyond a disc as wide and high a pixel may lie: where a line ends it may have a nick, px. */
const roundMax = 1;
/** How much a ring covers, by the square of its radius. */
const ringMin = 0.9;
