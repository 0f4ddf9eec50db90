import type { Contours } from "../curves/contours.ts";
import type { AreaMap } from "../regions/components.ts";
import type { AreaShapes } from "./shapes-of-areas.ts";

/** An area that may be a letter. */
export interface Letter {
  readonly area: number;
  /** What it lies in. */
  readonly on: number;
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly height: number;
  /** Mean width of its strokes, px. */
  readonly thick: number;
  /** Share of its box that it fills. */
  readonly full: number;
}

/** Areas that may be letters, from left to right. */
export function lettersOf(map: AreaMap, chain: Contours, { boxes, border, outline, inside }: AreaShapes): Letter[] {
  const { count, sizes, width, height } = map;
  const letters: Letter[] = [];
  const holes = new Int32Array(count);
  for (const around of inside) if (around >= 0) holes[around]++;
  for (let area = 0; area < count; area++) {
    if (inside[area] < 0 || border[area] > 0 || holes[area] > holesMax) continue;
    const [left, top, right, bottom] = boxes.subarray(area * 4, area * 4 + 4);
    const [across, high] = [right - left, bottom - top];
    if (high < heightMin || high > heightShareMax * height || across > 5 * high || across > width / 2) continue;
    const thick = (2 * sizes[area]) / outline[area];
    if (thick > thickShareMax * high && across > high / 2) continue;
    if (!standsAlone(map, chain, area, inside[area])) continue;
    const full = sizes[area] / (across * high);
    letters.push({ area, on: inside[area], left, top, right, bottom, height: high, thick, full });
  }
  return letters.sort((a, b) => a.left - b.left || a.area - b.area);
}

/** Whether an area touches little but what it lies in. */
function standsAlone({ areas, stride }: AreaMap, chain: Contours, area: number, on: number): boolean {
  const { x, y, from, to } = chain.all[chain.outer[area]];
  const beside = [-stride, 0, -1, -stride - 1];
  const ahead = [1, stride, -1, -stride];
  let at = (y + 1) * stride + x + 1;
  let alone = 0;
  for (let i = from; i < to; i++) {
    // The vertex `at` is the upper left corner of its pixel; the area is on the right hand.
    const direction = chain.steps[i];
    if (areas[at + beside[direction]] === on) alone++;
    at += ahead[direction];
  }
  return alone > aloneShareMin * (to - from);
}

const aloneShareMin = 0.85;
/** Two in a B, and a speck or two. */
const holesMax = 4;
const heightMin = 4;
const heightShareMax = 0.4;
const thickShareMax = 0.4;
