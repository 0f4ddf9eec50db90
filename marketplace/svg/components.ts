import { find } from "./segment.ts";

/**
 * Splits labels into connected areas, so that each has one outer outline. Areas are 8-connected; where two diagonals
 * cross, the label with fewer pixels passes (a hairline over a ground), so no outline ever crosses another.
 *
 * In: a label per pixel. Out: an area per pixel in a map with a border of one pixel of -1 around it (`padded` width
 * `width + 2`), areas numbered in reading order.
 */
export function components(labels: Int32Array, width: number, height: number, labelCount: number): AreaMap {
  const sizes = new Int32Array(labelCount);
  for (let p = 0; p < labels.length; p++) sizes[labels[p]!]!++;
  const n = width * height;
  const parent = new Int32Array(n);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const label = labels[p]!;
      parent[p] = p;
      if (x > 0 && labels[p - 1] === label) parent[p] = parent[p - 1]!;
      if (y === 0) continue;
      if (labels[p - width] === label) unite(parent, p, p - width);
      else {
        if (x > 0 && labels[p - width - 1] === label && passes(label, labels[p - width]!, labels[p - 1]!, sizes))
          unite(parent, p, p - width - 1);
        if (
          x + 1 < width &&
          labels[p - width + 1] === label &&
          passes(label, labels[p - width]!, labels[p + 1]!, sizes)
        )
          unite(parent, p, p - width + 1);
      }
    }
  }
  const stridePx = width + 2;
  const areas = new Int32Array(stridePx * (height + 2)).fill(-1);
  const flat = new Int32Array(n);
  let count = 0;
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0, q = (y + 1) * stridePx + 1; x < width; x++, p++, q++) {
      const root = find(parent, p);
      flat[p] = root === p ? count++ : flat[root]!;
      areas[q] = flat[p]!;
    }
  }
  const areaSizes = new Int32Array(count);
  for (let p = 0; p < n; p++) areaSizes[flat[p]!]!++;
  return { areas, flat, count, sizes: areaSizes, width, height, stride: stridePx };
}

/** Whether a diagonal of `label` passes between the two other pixels of its 2 × 2 block. */
export function passes(label: number, one: number, other: number, sizes: Int32Array): boolean {
  if (one !== other) return true;
  return sizes[label]! < sizes[one]! || (sizes[label] === sizes[one] && label < one);
}

function unite(parent: Int32Array, p: number, q: number): void {
  const a = find(parent, p);
  const b = find(parent, q);
  if (a < b) parent[b] = a;
  else parent[a] = b;
}

export interface AreaMap {
  /** Area per pixel with a border of -1; index (y + 1) · stride + x + 1. */
  readonly areas: Int32Array;
  /** Area per pixel, no border. */
  readonly flat: Int32Array;
  readonly count: number;
  readonly sizes: Int32Array;
  readonly width: number;
  readonly height: number;
  readonly stride: number;
}
