import { lengthOf } from "../curves/length.ts";
import type { AreaMap } from "../regions/components.ts";

/**
 * Whether an area may be strokes of even width no wider than `widest`. Measures its width along rows and columns at some
 * hundred of its pixels: an area without one or two widths at most of them, or much wider somewhere, is none.
 */
export function mayBeEven(places: Int32Array, { areas, stride }: AreaMap, widest: number): boolean {
  const area = areas[places[0]];
  const every = Math.max(1, Math.floor(places.length / samplesMax));
  const far = 3 * widest + 8;
  const run = (q: number, step: number, most: number) => {
    let n = 1;
    while (n <= most && areas[q + n * step] === area) n++;
    return n - 1;
  };
  const thick = Math.ceil(widest / 2) + 4;
  const slants = [stride + 1, stride - 1, -stride - 1, 1 - stride];
  const widths: number[] = [];
  let wide = 0;
  for (let i = every >> 1; i < places.length; i += every) {
    const q = places[i];
    const [left, right, up, down] = [run(q, -1, far), run(q, 1, far), run(q, -stride, far), run(q, stride, far)];
    const [across, along] = [left + right + 1, up + down + 1];
    widths.push((across * along) / lengthOf(across, along));
    if (Math.min(left, right, up, down) < thick) continue;
    if (slants.every((step) => run(q, step, thick) >= thick) && ++wide > wideMax) return false;
  }
  return (
    inTwoWindows(Float64Array.from(widths).sort()) >= (widest > narrowMax ? wideShareMin : evenShareMin) * widths.length
  );
}

const samplesMax = 200;
/** Where several strokes meet it may look wide. */
const wideMax = 2;
const evenShareMin = 0.7;
/** Where strokes may be wide, much else is of about one or two widths. */
const wideShareMin = 0.85;
const narrowMax = 24;

/** How many of sorted widths lie in the two ranges, each of about one width, that hold most. */
function inTwoWindows(widths: Float64Array): number {
  const window = (used: readonly [number, number]) => {
    let best: readonly [number, number] = [0, 0];
    for (let i = 0, j = 0; i < widths.length; i++) {
      if (i >= used[0] && i < used[1]) continue;
      j = Math.max(i, j);
      const end = widths[i] * 1.3 + 0.6;
      while (j < widths.length && widths[j] <= end && !(j >= used[0] && j < used[1])) j++;
      if (j - i > best[1] - best[0]) best = [i, j];
    }
    return best;
  };
  const one = window([0, 0]);
  const other = window(one);
  return one[1] - one[0] + other[1] - other[0];
}
