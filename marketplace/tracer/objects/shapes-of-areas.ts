import type { Contours } from "../curves/contours.ts";
import { asWords } from "../image/runs.ts";
import type { AreaMap } from "../regions/components.ts";

/** What each area looks like from outside, four numbers to a colour and a box: mean colour, left, top, right, bottom. */
export interface AreaShapes {
  /** Premultiplied, 0..255. */
  readonly colours: Float64Array;
  /** Right and bottom are the first pixel that is out. */
  readonly boxes: Int32Array;
  /** What the outer outline encloses, px², and its length. */
  readonly filled: Float64Array;
  readonly outline: Int32Array;
  /** Pixels of the picture's edge. */
  readonly border: Int32Array;
  /** The area whose hole each lies in, or -1. */
  readonly inside: Int32Array;
}

export function shapesOf(
  { runs: { begins, rows }, areaOf, width, height, count, sizes }: AreaMap,
  chain: Contours,
  clean: Uint8Array,
): AreaShapes {
  const colours = new Float64Array(count * 4);
  const boxes = new Int32Array(count * 4);
  const border = new Int32Array(count);
  for (let a = 0; a < count; a++) boxes.set([width, height, 0, 0], a * 4);
  const words = asWords(clean);
  for (let y = 0; y < height; y++) {
    for (let run = rows[y]; run < rows[y + 1]; run++) {
      const area = areaOf[run];
      const at = area * 4;
      const end = begins[run + 1];
      for (let p = begins[run]; p < end; ) {
        const first = p;
        const word = words[p];
        do p++;
        while (p < end && words[p] === word);
        for (let c = 0; c < 4; c++) colours[at + c] += clean[first * 4 + c] * (p - first);
      }
      const left = begins[run] - y * width;
      const right = end - y * width;
      if (left < boxes[at]) boxes[at] = left;
      if (y < boxes[at + 1]) boxes[at + 1] = y;
      if (right > boxes[at + 2]) boxes[at + 2] = right;
      boxes[at + 3] = y + 1;
      if (y === 0 || y === height - 1) border[area] += right - left;
      else border[area] += (left === 0 ? 1 : 0) + (right === width && (left > 0 || width > 1) ? 1 : 0);
    }
  }
  for (let a = 0; a < count; a++) for (let c = 0; c < 4; c++) colours[a * 4 + c] /= sizes[a];
  const outers = Array.from(chain.outer, (contour) => chain.all[contour]);
  return {
    colours,
    boxes,
    border,
    filled: Float64Array.from(outers, ({ enclosed }) => enclosed),
    outline: Int32Array.from(outers, ({ from, to }) => to - from),
    inside: Int32Array.from(chain.container, (contour) => (contour < 0 ? -1 : chain.all[contour].area)),
  };
}

/** How far apart the colours of two areas are, levels. */
export function colourOff({ colours }: AreaShapes, one: number, other: number): number {
  let most = 0;
  for (let c = 0; c < 4; c++) most = Math.max(most, Math.abs(colours[one * 4 + c] - colours[other * 4 + c]));
  return most;
}
