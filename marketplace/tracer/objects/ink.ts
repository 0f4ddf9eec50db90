import { type Areas, regrouped } from "../regions/areas.ts";
import type { AreaMap } from "../regions/components.ts";
import type { Objects } from "./find-objects.ts";

/** Contours drawn round things: dark areas that are thin everywhere and touch at least two others but the ground. */
export function inkOf({ map, opaque, sloped, planes }: InkAreas, ground: Uint8Array, runOf: Int32Array): Uint8Array {
  const { flat, width, height, count, sizes } = map;
  const sides = new Int32Array(count);
  const beside = new Map<number, Set<number>>();
  const meet = (one: number, other: number) => {
    if (one === other) return;
    sides[one]++;
    sides[other]++;
    for (const [a, b] of [
      [one, other],
      [other, one],
    ]) {
      if (!isDark(a) || ground[b] === 1) continue;
      const set = beside.get(a);
      if (set) set.add(b);
      else beside.set(a, new Set([b]));
    }
  };
  const isDark = (a: number) =>
    opaque[a] === 1 && sloped[a] === 0 && ground[a] === 0 && runOf[a] < 0 && lightness(planes, a) < darkMax;
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x + 1 < width) meet(flat[p], flat[p + 1]);
      if (y + 1 < height) meet(flat[p], flat[p + width]);
    }
  }
  const thickMax = Math.max(3, thickShareMax * Math.sqrt(width * height));
  return Uint8Array.from(sizes, (size, a) => {
    if ((beside.get(a)?.size ?? 0) < 2) return 0;
    return 2 * size < thickMax * sides[a] && sides[a] ** 2 > longMin * size ? 1 : 0;
  });
}

export type InkAreas = Pick<Areas, "map" | "opaque" | "sloped" | "planes">;

const darkMax = 80;
const thickShareMax = 0.025;
/** Its sides, squared, by its pixels: 36 for a bar of one to seven. */
const longMin = 200;

function lightness(planes: Float64Array, area: number): number {
  return 0.3 * planes[area * 12] + 0.6 * planes[area * 12 + 3] + 0.1 * planes[area * 12 + 6];
}

/** The picture with each pixel of ink given to the nearest area that is neither ink nor ground. */
export function withoutInk(map: AreaMap, ink: Uint8Array, ground: Uint8Array): Int32Array {
  const { flat, width, height } = map;
  const labels = flat.map((area) => (ink[area] === 1 ? -1 : area));
  let edge: number[] = [];
  const beside = (p: number, to: (q: number) => void) => {
    const x = p % width;
    if (x > 0) to(p - 1);
    if (x < width - 1) to(p + 1);
    if (p >= width) to(p - width);
    if (p < width * (height - 1)) to(p + width);
  };
  for (let p = 0; p < labels.length; p++) {
    if (labels[p] < 0 || ground[labels[p]] === 1) continue;
    let touches = false;
    beside(p, (q) => {
      touches ||= labels[q] < 0;
    });
    if (touches) edge.push(p);
  }
  while (edge.length > 0) {
    const next: number[] = [];
    for (const p of edge)
      beside(p, (q) => {
        if (labels[q] >= 0) return;
        labels[q] = labels[p];
        next.push(q);
      });
    edge = next;
  }
  for (let p = 0; p < labels.length; p++) if (labels[p] < 0) labels[p] = flat[p];
  return labels;
}

/** The areas with their ink divided among the objects that it is drawn round, and the objects of these. */
export function divideInk(
  areas: Areas,
  ink: Uint8Array,
  labels: Int32Array,
  objects: Objects,
): { areas: Areas; objects: Objects } {
  const { flat, count } = areas.map;
  const { objectOf } = objects;
  const pieces = new Map<string, number>();
  const source = Array.from({ length: count }, (_, a) => a);
  const owner = Array.from(objectOf);
  const named = flat.map((area, p) => {
    if (ink[area] === 0) return area;
    const object = objectOf[labels[p]];
    const key = `${area} ${object}`;
    const piece = pieces.get(key) ?? source.push(area) - 1;
    pieces.set(key, piece);
    owner[piece] = object;
    return piece;
  });
  const divided = regrouped(areas, named, source);
  const own = Int32Array.from(divided.map.labelOf, (label) => owner[label]);
  const grown = (flags: Uint8Array) => Uint8Array.from(own, (_, a) => flags[a] ?? 0);
  const { isText, isGround } = objects;
  return {
    areas: divided,
    objects: { ...objects, objectOf: own, isText: grown(isText), isGround: grown(isGround) },
  };
}
