import { fillRun, joinedRuns, type Runs, runsOf, valuesOf } from "../image/runs.ts";
import { find, unite } from "./union-find.ts";

/**
 * Splits labels into connected areas, so that each has one outer outline. Areas are 8-connected; where two diagonals
 * cross, the label with fewer pixels passes (a hairline over a ground), so no outline ever crosses another.
 *
 * In: a label per pixel. Out: an area per pixel in a map with a border of one pixel of -1 around it (`padded` width
 * `width + 2`), areas numbered in reading order.
 */
export function components(labels: Int32Array, width: number, height: number, labelCount: number): AreaMap {
  const runs = runsOf(labels, width, height);
  return connected(runs, valuesOf(runs, labels), width, labelCount);
}

/** Splits labels whose stretches are known; a stretch need not be the longest. */
export function componentsOf(runs: Runs, labels: Int32Array, width: number, labelCount: number): AreaMap {
  return joined(runs, valuesOf(runs, labels), width, labelCount);
}

/** The map in which areas of one group that touch are one; `groups` has a number below `count` for each area. */
export function grouped({ runs, areaOf, width, count }: AreaMap, groups: Int32Array): AreaMap {
  const groupOf = areaOf.map((area) => groups[area]);
  return joined(runs, groupOf, width, count);
}

/** The map of labels per run; neighbouring runs in a row may have one label. */
function joined(runs: Runs, labels: Int32Array, width: number, labelCount: number): AreaMap {
  const longest = joinedRuns(runs, labels);
  return connected(longest.runs, longest.values, width, labelCount);
}

function connected(runs: Runs, labelOf: Int32Array, width: number, labelCount: number): AreaMap {
  const { begins, rows } = runs;
  const sizes = new Int32Array(labelCount);
  const parent = new Int32Array(labelOf.length);
  for (let r = 0; r < parent.length; r++) {
    sizes[labelOf[r]] += begins[r + 1] - begins[r];
    parent[r] = r;
  }
  for (let y = 1; y + 1 < rows.length; y++) {
    let above = rows[y - 1];
    for (let r = rows[y]; r < rows[y + 1]; r++) {
      // Where the run would lie in the row above, one pixel more on each side for the diagonals.
      const from = begins[r] - width;
      const to = begins[r + 1] - width;
      const label = labelOf[r];
      while (begins[above + 1] < from) above++;
      for (let other = above; other < rows[y] && begins[other] <= to; other++) {
        if (labelOf[other] !== label) continue;
        const end = begins[other + 1];
        // Met at a corner only: the diagonal must pass.
        if (end === from && !passes(label, labelOf[other + 1], labelOf[r - 1], sizes)) continue;
        if (end !== from && begins[other] === to && !passes(label, labelOf[other - 1], labelOf[r + 1], sizes)) continue;
        unite(parent, r, other);
      }
    }
  }
  return mapOf(runs, parent, labelOf, sizes, width);
}

function mapOf(runs: Runs, parent: Int32Array, labels: Int32Array, labelSizes: Int32Array, width: number): AreaMap {
  const { begins, rows } = runs;
  const areaOf = new Int32Array(labels.length);
  const sizes: number[] = [];
  const labelOf: number[] = [];
  for (let r = 0; r < areaOf.length; r++) {
    const root = find(parent, r);
    // A root is the first run of its area, so it is named before any other run of it is met.
    if (root === r) {
      areaOf[r] = sizes.push(0) - 1;
      labelOf.push(labels[r]);
    }
    areaOf[r] = areaOf[root];
    sizes[areaOf[r]] += begins[r + 1] - begins[r];
  }
  const count = sizes.length;
  const known = { runs, areaOf, count, sizes: Int32Array.from(sizes), labelOf: Int32Array.from(labelOf), labelSizes };
  return new PixelMap({ ...known, width, height: rows.length - 1 });
}

/** A map whose arrays of pixels are made when they are asked for: most maps are read by their runs alone. */
class PixelMap implements AreaMap {
  readonly runs: Runs;
  readonly areaOf: Int32Array;
  readonly count: number;
  readonly sizes: Int32Array;
  readonly labelOf: Int32Array;
  readonly labelSizes: Int32Array;
  readonly width: number;
  readonly height: number;
  readonly stride: number;
  private ownFlat: Int32Array | null = null;
  private ownAreas: Int32Array | null = null;

  constructor(known: Omit<AreaMap, "flat" | "areas" | "stride">) {
    this.runs = known.runs;
    this.areaOf = known.areaOf;
    this.count = known.count;
    this.sizes = known.sizes;
    this.labelOf = known.labelOf;
    this.labelSizes = known.labelSizes;
    this.width = known.width;
    this.height = known.height;
    this.stride = known.width + 2;
  }

  get flat(): Int32Array {
    this.ownFlat ??= this.filled(0, 0);
    return this.ownFlat;
  }

  get areas(): Int32Array {
    this.ownAreas ??= this.filled(1, -1);
    return this.ownAreas;
  }

  /** The area of each pixel, with a border of `border` pixels of `outside`. */
  private filled(border: number, outside: number): Int32Array {
    const { areaOf, width, height } = this;
    const { begins, rows } = this.runs;
    const row = width + 2 * border;
    const out = new Int32Array(row * (height + 2 * border));
    for (let side = 0; side < border; side++) {
      out.fill(outside, side * row, (side + 1) * row);
      out.fill(outside, (height + border + side) * row, (height + border + side + 1) * row);
    }
    for (let y = 0, r = 0; y < height; y++) {
      const shift = (row + 1) * border + 2 * border * y;
      for (let side = 1; side <= border; side++) {
        out[shift + y * width - side] = outside;
        out[shift + (y + 1) * width - 1 + side] = outside;
      }
      for (; r < rows[y + 1]; r++) {
        fillRun(out, areaOf[r], begins[r] + shift, begins[r + 1] + shift);
      }
    }
    return out;
  }
}

/** Whether a diagonal of `label` passes between the two other pixels of its 2 × 2 block. */
function passes(label: number, one: number, other: number, sizes: Int32Array): boolean {
  if (one !== other) return true;
  return sizes[label] < sizes[one] || (sizes[label] === sizes[one] && label < one);
}

/**
 * Whether an area's diagonal passes, by the labels, as when the areas were joined: by its own size an area could pass
 * differently, and its outline would leave out pixels that it was joined to.
 */
export function areaPasses({ labelOf, labelSizes }: AreaMap, area: number, one: number, other: number): boolean {
  return one !== other || passes(labelOf[area], labelOf[one], labelOf[other], labelSizes);
}

/** An area per pixel, with their sizes. */
export type PixelAreas = Pick<AreaMap, "flat" | "count" | "sizes" | "width" | "height">;

export interface AreaMap {
  /** Area per pixel with a border of -1; index (y + 1) · stride + x + 1. */
  readonly areas: Int32Array;
  /** Area per pixel, no border. */
  readonly flat: Int32Array;
  /** The stretches of one area in each row, and the area of each. */
  readonly runs: Runs;
  readonly areaOf: Int32Array;
  readonly count: number;
  readonly sizes: Int32Array;
  /** The label each area was made of, and how many pixels have it. */
  readonly labelOf: Int32Array;
  readonly labelSizes: Int32Array;
  readonly width: number;
  readonly height: number;
  readonly stride: number;
}
