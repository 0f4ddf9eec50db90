import type { Contours } from "../curves/contours.ts";
import { coloursOf, type Drawing, hex } from "../drawing.ts";
import type { Objects } from "../objects/find-objects.ts";
import type { Areas } from "../regions/areas.ts";
import type { AreaMap } from "../regions/components.ts";

/** In which order areas are drawn and which group each belongs to. Groups are whole stretches of the order. */
export interface Layering {
  readonly order: readonly number[];
  readonly rank: Int32Array;
  readonly layer: Int32Array;
  readonly names: readonly string[];
  /** 1 for layers that other things stand on: strokes on them are no part of them. */
  readonly grounds: Uint8Array;
}

/**
 * Groups by nesting: `layer-d` holds the areas that lie d deep in others, and after it each run of text that lies as deep is
 * one; within one, see-through areas first, areas of one paint together, otherwise larger before smaller. `paints` names areas of one opaque flat
 * colour by one number, others by -1; `runOf` the run each area is of, or -1.
 */
export function depthLayers(
  chain: Contours,
  { paints, opaque }: Pick<Areas, "paints" | "opaque">,
  runOf: Int32Array | null,
): Layering {
  const count = paints.length;
  let deepest = 0;
  for (let a = 0; a < count; a++) deepest = Math.max(deepest, chain.depth[a]);
  const runDepth: number[] = [];
  runOf?.forEach((run, a) => {
    if (run >= 0) runDepth[run] ??= chain.depth[a];
  });
  const names: string[] = [];
  const layerAt: number[] = [];
  const layerOfRun: number[] = [];
  for (let depth = 0; depth <= deepest; depth++) {
    layerAt.push(names.push(`layer-${depth}`) - 1);
    runDepth.forEach((at, run) => {
      if (at === depth) layerOfRun[run] = names.push(`text-${run + 1}`) - 1;
    });
  }
  const inside = (a: number) => (chain.container[a] < 0 ? -1 : chain.all[chain.container[a]].area);
  const layer = Int32Array.from(chain.depth, (depth, a) => {
    if (!runOf) return layerAt[depth];
    if (runOf[a] >= 0) return layerOfRun[runOf[a]];
    // An area that shows through a letter is drawn with the ground that the letter lies on.
    const letter = inside(a);
    const ground = letter >= 0 && runOf[letter] >= 0 ? inside(letter) : -1;
    return ground >= 0 && paints[a] >= 0 && paints[a] === paints[ground] ? layerAt[depth - 2] : layerAt[depth];
  });
  return inOrder(chain, layer, names, { paints, opaque }, new Uint8Array(names.length));
}

/**
 * Groups by object (find-objects.ts): the background and transparent areas first, then objects; objects that reach round
 * others come before them, so that an object's ground is whole; objects under 0.05 % of the picture share one group.
 */
export function objectLayers({ count, width, height, sizes }: AreaMap, chain: Contours, objects: Objects): Layering {
  const { objectOf, isText, isGround } = objects;
  const pixels = new Int32Array(count);
  const reach = new Float64Array(count);
  for (let a = 0; a < count; a++) {
    const object = objectOf[a];
    if (object < 0) continue;
    pixels[object] += sizes[a];
    reach[object] = Math.max(reach[object], chain.all[chain.outer[a]].enclosed);
  }
  const shown = Array.from({ length: count }, (_, object) => object)
    .filter((object) => pixels[object] >= (isText[object] === 1 ? 1 : detailShare * width * height))
    .sort((a, b) => reach[b] - reach[a] || a - b)
    .slice(0, objectsMax);
  const turn = new Int32Array(count).fill(shown.length + 1);
  for (let i = 0; i < shown.length; i++) turn[shown[i]] = i + 1;
  const layer = Int32Array.from(objectOf, (object) => (object < 0 ? 0 : turn[object]));
  const names = ["background", ...shown.map((object) => (isText[object] === 1 ? "text" : "object")), "details"];
  const grounds = Uint8Array.from(names, (_, i) => (i === 0 || (i <= shown.length && isGround[shown[i - 1]]) ? 1 : 0));
  // Areas of one object may lie in each other.
  const alike = { paints: new Int32Array(count).fill(-1), opaque: new Uint8Array(count).fill(1) };
  return inOrder(chain, layer, names, alike, grounds);
}

const detailShare = 0.0005;
const objectsMax = 200;

function inOrder(
  chain: Contours,
  layer: Int32Array,
  names: readonly string[],
  { paints, opaque }: Pick<Areas, "paints" | "opaque">,
  grounds: Uint8Array,
): Layering {
  const filled = (a: number) => chain.all[chain.outer[a]].enclosed;
  // See-through areas first: their edges then lie under their opaque neighbours.
  const order = Array.from(layer, (_, a) => a).sort(
    (a, b) => layer[a] - layer[b] || opaque[a] - opaque[b] || filled(b) - filled(a) || a - b,
  );
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
  return { order, rank, layer, names, grounds };
}

/** The result's list of groups: the id of each, its name, and its distinct colours, gradients as their stops. */
export function describeLayers(drawing: Drawing): { id: string; name: string; fill: string[] }[] {
  return drawing.groups.map(({ id, elements }) => ({
    id: id ?? "all",
    name: (id ?? "all").replace(/-\d+$/, ""),
    fill: [...new Set(elements.flatMap((element) => coloursOf(element).map(hex)))],
  }));
}
