import type { Areas } from "../regions/areas.ts";

/** The area that each pixel beneath a stroke is given to: the nearest. */
export function beneath(flat: Int32Array, at: Int32Array, width: number, height: number): Int32Array | null {
  const labels = flat.slice();
  let edge: number[] = [];
  for (let p = 0; p < at.length; p++) if (at[p] >= 0) labels[p] = -1;
  const isFree = (q: number, inside: boolean) => inside && labels[q] >= 0;
  for (let p = 0; p < at.length; p++) {
    if (labels[p] >= 0) continue;
    const x = p % width;
    if (isFree(p - 1, x > 0)) edge.push(p - 1);
    if (isFree(p + 1, x < width - 1)) edge.push(p + 1);
    if (isFree(p - width, p >= width)) edge.push(p - width);
    if (isFree(p + width, p < width * (height - 1))) edge.push(p + width);
  }
  if (edge.length === 0) return null;
  edge = [...new Set(edge)].sort((a, b) => a - b);
  while (edge.length > 0) {
    const next: number[] = [];
    const give = (q: number, label: number) => {
      if (labels[q] >= 0) return;
      labels[q] = label;
      next.push(q);
    };
    for (const p of edge) {
      const x = p % width;
      if (x > 0) give(p - 1, labels[p]);
      if (x < width - 1) give(p + 1, labels[p]);
      if (p >= width) give(p - width, labels[p]);
      if (p < width * (height - 1)) give(p + width, labels[p]);
    }
    edge = next;
  }
  return labels;
}

/** The picture as it would be without the strokes: pixels beneath and beside them in the colours of their areas. */
export function withoutLines({ map, planes }: Areas, pixels: Uint8Array, near: Uint8Array): Uint8Array {
  const { width, height, flat } = map;
  const out = pixels.slice();
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (near[p] === 0) continue;
      const plane = flat[p] * 12;
      for (let c = 0; c < 4; c++) {
        const i = plane + c * 3;
        const level = planes[i] + planes[i + 1] * (x + 0.5 - width / 2) + planes[i + 2] * (y + 0.5 - height / 2);
        out[p * 4 + c] = Math.max(0, Math.min(255, Math.round(level)));
      }
    }
  }
  return out;
}

export function markNear(at: Int32Array, near: Uint8Array, width: number, height: number): void {
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (at[p] < 0) continue;
      for (let dy = y > 0 ? -1 : 0; dy <= (y < height - 1 ? 1 : 0); dy++)
        for (let dx = x > 0 ? -1 : 0; dx <= (x < width - 1 ? 1 : 0); dx++) near[p + dy * width + dx] = 1;
    }
  }
}
