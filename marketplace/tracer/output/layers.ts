import type { Contours } from "../curves/contours.ts";
import { coloursOf, type Drawing, hex } from "../drawing.ts";
import type { Areas } from "../regions/areas.ts";

/** In which order areas are drawn and which group each belongs to. Groups are whole stretches of the order. */
export interface Layering {
  readonly order: readonly number[];
  readonly rank: Int32Array;
  readonly layer: Int32Array;
  readonly names: readonly string[];
}

/**
 * Groups by nesting: `layer-d` holds the areas that lie d deep in others; within one, areas of one paint together,
 * otherwise larger before smaller. `paints` names areas of one opaque flat colour by one number, others by -1.
 */
export function depthLayers(chain: Contours, count: number, paints: Int32Array): Layering {
  let deepest = 0;
  for (let a = 0; a < count; a++) deepest = Math.max(deepest, chain.depth[a]);
  const names = Array.from({ length: deepest + 1 }, (_, d) => `layer-${d}`);
  return inOrder(chain, chain.depth, names, paints);
}

/**
 * Groups by object (objects.ts): the background and what is transparent first, then objects, those that reach round
 * others before them, so that what lies under an object is whole; objects under 0.05 % of the picture share one group.
 */
export function objectLayers({ map }: Pick<Areas, "map">, chain: Contours, objectOf: Int32Array): Layering {
  const { count, width, height } = map;
  const pixels = new Int32Array(count);
  const reach = new Float64Array(count);
  for (let a = 0; a < count; a++) {
    const object = objectOf[a];
    if (object < 0) continue;
    pixels[object] += map.sizes[a];
    reach[object] = Math.max(reach[object], chain.all[chain.outer[a]].enclosed);
  }
  const objects = Array.from({ length: count }, (_, object) => object)
    .filter((object) => pixels[object] >= detailShare * width * height)
    .sort((a, b) => reach[b] - reach[a] || a - b)
    .slice(0, objectsMax);
  const turn = new Int32Array(count).fill(objects.length + 1);
  for (let i = 0; i < objects.length; i++) turn[objects[i]] = i + 1;
  const layer = Int32Array.from(objectOf, (object) => (object < 0 ? 0 : turn[object]));
  const names = ["background", ...objects.map((_, i) => `object-${i + 1}`), "details"];
  return inOrder(chain, layer, names, new Int32Array(count).fill(-1));
}

const detailShare = 0.0005;
const objectsMax = 200;

function inOrder(chain: Contours, layer: Int32Array, names: readonly string[], paints: Int32Array): Layering {
  const filled = (a: number) => chain.all[chain.outer[a]].enclosed;
  const order = Array.from(layer, (_, a) => a).sort((a, b) => layer[a] - layer[b] || filled(b) - filled(a) || a - b);
  // Areas of one layer do not lie in each other, so within it those of one paint may be drawn in one go, in reading
  // order, when the largest of them would be.
  const firsts = new Map<string, number>();
  const turn = new Int32Array(layer.length);
  order.forEach((a, i) => {
    const key = `${layer[a]} ${paints[a]}`;
    if (paints[a] >= 0 && !firsts.has(key)) firsts.set(key, i);
    turn[a] = paints[a] >= 0 ? firsts.get(key)! : i;
  });
  order.sort((a, b) => turn[a] - turn[b] || a - b);
  const rank = new Int32Array(layer.length);
  for (let i = 0; i < order.length; i++) rank[order[i]] = i;
  return { order, rank, layer, names };
}

/** What the result lists per group: its id and its distinct colours, gradients as their stops. */
export function describeLayers(drawing: Drawing): { id: string; fill: string[] }[] {
  return drawing.groups.map(({ id, elements }) => ({
    id: id ?? "all",
    fill: [...new Set(elements.flatMap((element) => coloursOf(element).map(hex)))],
  }));
}
