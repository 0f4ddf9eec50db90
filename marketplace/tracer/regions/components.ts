import { find, unite } from "./union-find.ts";

/**
 * Splits labels into connected areas, so that each has one outer outline. Areas are 8-connected; where two diagonals
 * cross, the label with fewer pixels passes (a hairline over a ground), so no outline ever crosses another.
 *
 * In: a label per pixel. Out: an area per pixel in a map with a border of one pixel of -1 around it (`padded` width
 * `width + 2`), areas numbered in reading order.
 */
export function components(labels: Int32Array, width: number, height: number, labelCount: number): AreaMap {
  const { begins, rows } = runsOf(labels, width, height);
  const total = rows[height];
  const sizes = new Int32Array(labelCount);
  const parent = new Int32Array(total);
  for (let r = 0; r < total; r++) {
    const label = labels[begins[r]];
    sizes[label] += begins[r + 1] - begins[r];
    parent[r] = r;
  }
  for (let y = 1; y < height; y++) {
    let above = rows[y - 1];
    for (let r = rows[y]; r < rows[y + 1]; r++) {
      // Where the run would lie in the row above, one pixel more on each side for the diagonals.
      const from = begins[r] - width;
      const to = begins[r + 1] - width;
      const label = labels[begins[r]];
      while (begins[above + 1] < from) above++;
      for (let other = above; other < rows[y] && begins[other] <= to; other++) {
        const begin = begins[other];
        const end = begins[other + 1];
        if (labels[begin] !== label) continue;
        // Met at a corner only: the diagonal must pass.
        if (end === from && !passes(label, labels[from], labels[from + width - 1], sizes)) continue;
        if (end !== from && begin === to && !passes(label, labels[to - 1], labels[to + width], sizes)) continue;
        unite(parent, r, other);
      }
    }
  }
  return mapOf({ begins, parent, total, labels, labelSizes: sizes, width, height });
}

/** Stretches of one label within a row: where each begins, with one more entry for the end; the first run of each row. */
function runsOf(labels: Int32Array, width: number, height: number) {
  let total = 0;
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) if (x === 0 || labels[p] !== labels[p - 1]) total++;
  }
  const begins = new Int32Array(total + 1);
  const rows = new Int32Array(height + 1);
  let r = 0;
  for (let y = 0, p = 0; y < height; y++) {
    rows[y] = r;
    for (let x = 0; x < width; x++, p++) if (x === 0 || labels[p] !== labels[p - 1]) begins[r++] = p;
  }
  begins[total] = labels.length;
  rows[height] = total;
  return { begins, rows };
}

interface Runs extends Pick<AreaMap, "labelSizes" | "width" | "height"> {
  readonly begins: Int32Array;
  readonly parent: Int32Array;
  readonly total: number;
  readonly labels: Int32Array;
}

function mapOf({ begins, parent, total, labels, labelSizes, width, height }: Runs): AreaMap {
  const stridePx = width + 2;
  const areas = new Int32Array(stridePx * (height + 2)).fill(-1);
  const flat = new Int32Array(width * height);
  const names = new Int32Array(total);
  const sizes: number[] = [];
  const labelOf: number[] = [];
  for (let r = 0; r < total; r++) {
    const root = find(parent, r);
    // A root is the first run of its area, so it is named before any other run of it is met.
    const begin = begins[r];
    if (root === r) names[r] = sizes.push(0) - 1;
    const name = names[root];
    names[r] = name;
    labelOf[name] = labels[begin];
    const end = begins[r + 1];
    sizes[name] += end - begin;
    const shift = stridePx + 1 + 2 * Math.floor(begin / width);
    for (let p = begin; p < end; p++) {
      flat[p] = name;
      areas[p + shift] = name;
    }
  }
  return {
    areas,
    flat,
    count: sizes.length,
    sizes: Int32Array.from(sizes),
    labelOf: Int32Array.from(labelOf),
    labelSizes,
    width,
    height,
    stride: stridePx,
  };
}

/** Whether a diagonal of `label` passes between the two other pixels of its 2 × 2 block. */
function passes(label: number, one: number, other: number, sizes: Int32Array): boolean {
  if (one !== other) return true;
  return sizes[label] < sizes[one] || (sizes[label] === sizes[one] && label < one);
}

/**
 * The same of an area's diagonal in the map. It is the labels that are asked, as when the areas were joined: an area's
 * own size would decide otherwise, and its outline would leave out what it was joined to.
 */
export function areaPasses({ labelOf, labelSizes }: AreaMap, area: number, one: number, other: number): boolean {
  return one !== other || passes(labelOf[area], labelOf[one], labelOf[other], labelSizes);
}

export interface AreaMap {
  /** Area per pixel with a border of -1; index (y + 1) · stride + x + 1. */
  readonly areas: Int32Array;
  /** Area per pixel, no border. */
  readonly flat: Int32Array;
  readonly count: number;
  readonly sizes: Int32Array;
  /** The label each area was made of, and how many pixels have it. */
  readonly labelOf: Int32Array;
  readonly labelSizes: Int32Array;
  readonly width: number;
  readonly height: number;
  readonly stride: number;
}
