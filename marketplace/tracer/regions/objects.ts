import type { Areas } from "./areas.ts";
import { Merging } from "./merge.ts";
import { find, unite } from "./union-find.ts";

/**
 * Which object each area belongs to, as a number below the count of areas; -1 for background and what is transparent.
 *
 * An object is what hangs together once the background is taken away. Where nearly everything does, because shapes touch
 * or the picture has no ground, it is divided instead: the merge goes on, without the ground, until twelve regions are
 * left. `clean` is the unblended picture the areas were made from.
 */
export function findObjects(areas: ObjectAreas, clean: Uint8Array): Int32Array {
  const { map, empty, background } = areas;
  const { count, sizes } = map;
  const ground = Uint8Array.from(empty, (nothing, a) => (nothing === 1 || background?.areas[a] === 1 ? 1 : 0));
  const objectOf = connected(areas, ground);
  const pixels = new Int32Array(count);
  let all = 0;
  for (let a = 0; a < count; a++) {
    const object = objectOf[a];
    if (object < 0) continue;
    pixels[object] += sizes[a];
    all += sizes[a];
  }
  const largest = pixels.reduce((best, size, object) => (size > pixels[best] ? object : best), 0);
  if (pixels[largest] < wholeShare * all) return objectOf;
  const apart = objectOf.map((object) => (object === largest ? 0 : 1));
  const names = divide(areas, clean, Uint8Array.from(apart));
  const first = new Map<number, number>();
  return objectOf.map((object, a) => {
    if (object !== largest) return object;
    const name = names[a];
    const found = first.get(name) ?? a;
    first.set(name, found);
    return found;
  });
}

type ObjectAreas = Pick<Areas, "map" | "empty" | "background">;

/** From this share on, one object is no division of the picture. */
const wholeShare = 0.9;
const regionsMax = 12;

/** Areas that touch, also by a corner, and are not ground, as one; named by the first of them. */
function connected({ map }: ObjectAreas, ground: Uint8Array): Int32Array {
  const { areas: pixels, stride, width, height, count } = map;
  const parent = Int32Array.from({ length: count }, (_, a) => a);
  for (let y = 0; y < height; y++) {
    for (let x = 0, q = (y + 1) * stride + 1; x < width; x++, q++) {
      const here = pixels[q];
      if (ground[here] === 1) continue;
      for (const next of [q + 1, q + stride - 1, q + stride, q + stride + 1]) {
        const there = pixels[next];
        if (there === here || there < 0 || ground[there] === 1) continue;
        unite(parent, here, there);
      }
    }
  }
  return Int32Array.from({ length: count }, (_, a) => (ground[a] === 1 ? -1 : find(parent, a)));
}

/** A name per area, the areas that are not `apart` joined until few are left. */
function divide({ map }: ObjectAreas, clean: Uint8Array, apart: Uint8Array): Int32Array {
  const { flat: labels, width, height, count } = map;
  const kept = apart.reduce((sum, one) => sum + one, 0);
  const deadlineMs = Number.POSITIVE_INFINITY;
  const merging = new Merging({ pixels: clean, width, height, labels, count, apart, deadlineMs });
  merging.run(Number.POSITIVE_INFINITY, kept + regionsMax);
  return merging.names(merging.merges);
}
