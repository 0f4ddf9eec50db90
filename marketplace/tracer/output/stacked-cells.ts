import type { AreaMap } from "../regions/components.ts";
import { type CellShape, free, movedBy, needed, shortestShape } from "./cell-shape.ts";
import type { Layering } from "./layers.ts";

interface CellAreas {
  readonly map: AreaMap;
  readonly empty: Uint8Array;
  readonly opaque: Uint8Array;
  /** Areas of one opaque paint have one number, others -1. */
  readonly paints: Int32Array;
}

/**
 * The shapes of areas that are drawn over each other: each may reach under the opaque ones that are drawn after it, so that
 * it has fewer corners. Areas of one layer and paint are one shape, under the first of them.
 */
export function stackedShapes(areas: CellAreas, layering: Layering, deadlineMs: number): Map<number, CellShape> {
  const { order, layer } = layering;
  const { empty, paints } = areas;
  const boxes = boxesOf(areas.map);
  const shapes = new Map<number, CellShape>();
  for (let from = 0, to = 1; from < order.length; from = to++) {
    const first = order[from];
    const joins = (area: number) =>
      paints[first] >= 0 && paints[area] === paints[first] && layer[area] === layer[first];
    while (to < order.length && joins(order[to])) to++;
    if (empty[first] === 1) continue;
    const box = order.slice(from, to).reduce((sum, area) => around(sum, boxes[area]), boxes[first]);
    const at = cellsIn(box, areas, layering.rank, { from, to });
    const shape = shortestShape({ width: box.right - box.left + 2, height: box.bottom - box.top + 2, at }, deadlineMs);
    shapes.set(first, movedBy(shape, box.left - 1, box.top - 1));
  }
  return shapes;
}

/** In cells; right and bottom are beyond. */
interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The box around each area. */
function boxesOf({ flat, width, height, count }: AreaMap): Box[] {
  const boxes = new Array<Box>(count);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      const cell = { left: x, top: y, right: x + 1, bottom: y + 1 };
      const box = boxes[flat[i]];
      if (!box || x < box.left || x >= box.right || y >= box.bottom) boxes[flat[i]] = box ? around(box, cell) : cell;
    }
  }
  return boxes;
}

function around(a: Box, b: Box): Box {
  return {
    left: Math.min(a.left, b.left),
    top: Math.min(a.top, b.top),
    right: Math.max(a.right, b.right),
    bottom: Math.max(a.bottom, b.bottom),
  };
}

/** What the areas drawn `from` … `to` do with the cells of their box, in a frame of free ones. */
function cellsIn(
  { left, top, right, bottom }: Box,
  { map, opaque }: CellAreas,
  rank: Int32Array,
  { from, to }: { from: number; to: number },
): Uint8Array {
  const across = right - left + 2;
  const at = new Uint8Array(across * (bottom - top + 2));
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      const area = map.flat[y * map.width + x];
      const below = rank[area] < to;
      at[(y - top + 1) * across + x - left + 1] = below ? (rank[area] < from ? free : needed) : opaque[area];
    }
  }
  return at;
}
