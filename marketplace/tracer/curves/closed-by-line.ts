import type { Outline } from "../drawing.ts";

/** A closed outline begun where its last segment is the line that is longest to write: closing draws that, so it need not be written. */
export function closedByLine(outline: Outline): Outline {
  const { kinds, points } = outline;
  let [fromX, fromY] = [outline.x, outline.y];
  let most = 0;
  let segments = 0;
  let numbers = 0;
  for (let k = 0, i = 0; k < kinds.length; k++) {
    i += 2 * kinds[k];
    const [x, y] = [points[i - 2], points[i - 1]];
    const worth = kinds[k] === 1 ? digits(x - fromX) + digits(y - fromY) : 0;
    if (worth >= most && worth > 0) [most, segments, numbers] = [worth, k + 1, i];
    [fromX, fromY] = [x, y];
  }
  if (segments === 0 || segments === kinds.length) return outline;
  const turned = <T>(list: readonly T[], first: number) => [...list.slice(first), ...list.slice(0, first)];
  return {
    x: points[numbers - 2],
    y: points[numbers - 1],
    kinds: turned(kinds, segments),
    points: turned(points, numbers),
  };
}

/** About how many digits a length takes in the file, 0 for none. */
function digits(length: number): number {
  return Math.log10(1 + unitsPerPx * Math.abs(length));
}

const unitsPerPx = 4;
