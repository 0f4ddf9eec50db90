import type { Contour } from "./contours.ts";

/** Corners at the two ends of a step. */
export const startCorner = 1;
export const endCorner = 2;

/**
 * Which ends of a step are corners since it is, with one other at most, the end of a bar: a stem of a letter a pixel or two
 * wide. Its corners are too near each other to be told from the points of the outline, which would make a point of it.
 */
export function narrowEnd(steps: Uint8Array, outline: Contour, i: number): number {
  if (outline.to - outline.from < 6) return 0;
  if (turns(steps, outline, i - 1)) {
    if (turns(steps, outline, i)) {
      return isStraight(steps, outline, i - 2, 2) && isStraight(steps, outline, i + 1, 2) ? startCorner | endCorner : 0;
    }
    const isEnd = isStraight(steps, outline, i, 2) && turns(steps, outline, i + 1);
    return isEnd && isStraight(steps, outline, i - 3, 3) && isStraight(steps, outline, i + 2, 3) ? startCorner : 0;
  }
  const isEnd = turns(steps, outline, i) && isStraight(steps, outline, i - 1, 2) && turns(steps, outline, i - 2);
  return isEnd && isStraight(steps, outline, i - 4, 3) && isStraight(steps, outline, i + 1, 3) ? endCorner : 0;
}

/** A step of a closed outline, by its place along it, also before the first or past the last. */
function stepAt(steps: Uint8Array, { from, to }: Contour, i: number): number {
  const n = to - from;
  return steps[from + ((i - from + 2 * n) % n)];
}

function turns(steps: Uint8Array, outline: Contour, i: number): boolean {
  return ((stepAt(steps, outline, i + 1) - stepAt(steps, outline, i)) & 3) === 1;
}

function isStraight(steps: Uint8Array, outline: Contour, first: number, count: number): boolean {
  const direction = stepAt(steps, outline, first);
  for (let k = 1; k < count; k++) if (stepAt(steps, outline, first + k) !== direction) return false;
  return true;
}
