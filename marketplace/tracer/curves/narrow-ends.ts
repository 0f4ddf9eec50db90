import type { Contour } from "./contours.ts";

/** Corners at the two ends of a step. */
export const startCorner = 1;
export const endCorner = 2;

/**
 * Which ends of a step are corners since it is, with one other at most, the end of a bar: a stem of a letter a pixel or two
 * wide. Its corners are too near each other to be told from the points of the outline, which would make a point of it.
 */
export function narrowEnd(steps: Uint8Array, { from, to }: Contour, i: number): number {
  const n = to - from;
  const at = (k: number) => steps[from + ((i - from + k + 2 * n) % n)];
  const isStraight = (first: number, count: number) => {
    for (let k = 1; k < count; k++) if (at(first + k) !== at(first)) return false;
    return true;
  };
  const turns = (k: number) => ((at(k + 1) - at(k)) & 3) === 1;
  if (n < 6) return 0;
  if (turns(-1)) {
    if (turns(0)) return isStraight(-2, 2) && isStraight(1, 2) ? startCorner | endCorner : 0;
    return at(1) === at(0) && turns(1) && isStraight(-3, 3) && isStraight(2, 3) ? startCorner : 0;
  }
  return turns(0) && at(-1) === at(0) && turns(-2) && isStraight(-4, 3) && isStraight(1, 3) ? endCorner : 0;
}
