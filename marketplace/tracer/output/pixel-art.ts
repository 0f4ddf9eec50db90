import { type Contour, type Contours, contours } from "../curves/contours.ts";
import { keepTo } from "../deadline.ts";
import type { Drawing, Element, Group, Outline, Shape } from "../drawing.ts";
import { gcd, type PixelGrid } from "../image/pixel-grid.ts";
import { premultiply, type Raster } from "../image/raster.ts";
import { findObjects } from "../objects/find-objects.ts";
import type { Areas } from "../regions/areas.ts";
import type { Background } from "../regions/background.ts";
import { type AreaMap, components } from "../regions/components.ts";
import { nearestColour, paletteOf } from "../regions/palette.ts";
import type { Settings } from "../settings.ts";
import type { CellShape } from "./cell-shape.ts";
import { holesToCut } from "./draw-areas.ts";
import { depthLayers, objectLayers } from "./layers.ts";
import { namedGroups } from "./name-groups.ts";
import { stackedShapes } from "./stacked-cells.ts";

/**
 * The picture as polygons on its own grid: every cell exact, unless fewer colours than it has were asked for. Null where
 * its polygons are sure to exceed the byte budget.
 */
export function drawPixels(
  image: Raster,
  grid: PixelGrid,
  settings: Settings,
  deadlineMs: number,
): PixelDrawing | null {
  const cells = cellsOf(image, grid);
  // In the picture's own colours: in a palette's, what lies on the background may have the same.
  const removed = settings.removeBackground ? clearBackground(cells, grid) : null;
  inPalette(cells, settings);
  const areas = areasOf(cells, grid);
  const { map, empty, opaque } = areas;
  if (map.count * areaBytesMin > settings.bytesMax) return null;
  keepTo(deadlineMs);
  const chain = contours(map);
  const layering = settings.objects
    ? objectLayers(map, chain, findObjects(areas, chain, premultiply(cells), null, deadlineMs))
    : depthLayers(chain, areas, null);
  const shapes =
    settings.mode === "stacked" && !settings.objects
      ? stackedShapes(areas, layering, deadlineMs)
      : ownShapes(chain, holesToCut(areas, chain, layering.rank, settings.mode));
  const unit = unitOf(image, grid);
  const groups: Group[] = [];
  let elements: Element[] = [];
  let current = -1;
  for (const area of layering.order) {
    const shape = shapes.get(area);
    if (!shape || empty[area] === 1) continue;
    if (layering.layer[area] !== current) {
      current = layering.layer[area];
      elements = [];
      groups.push({ id: layering.names[current], elements });
    }
    const outer = chain.all[chain.outer[area]];
    const [r, g, b, alpha] = cells.rgba.subarray((outer.y * cells.width + outer.x) * 4) as unknown as Rgba;
    elements.push({
      fill: { kind: "flat", colour: { r, g, b, opacity: opaque[area] === 1 ? 1 : alpha / 255 } },
      shape: placed(shape, grid, unit),
    });
  }
  const { width, height } = image;
  const spans = { spanX: width / unit, spanY: height / unit };
  const named = settings.objects ? namedGroups(groups) : groups;
  return {
    drawing: { width, height, ...spans, grid: 1, oneWay: true, crisp: true, groups: named },
    background: removed,
  };
}

/** The least that an area takes to write: its place, and three sides. */
const areaBytesMin = 8;

interface PixelDrawing {
  readonly drawing: Drawing;
  /** What was taken away, where that was asked for. */
  readonly background: Background | null;
}

type Rgba = readonly [number, number, number, number];

/** One pixel per cell; of what is transparent no colour is kept. */
function cellsOf({ width, rgba }: Raster, { columns, rows }: PixelGrid): Raster {
  const across = columns.length - 1;
  const down = rows.length - 1;
  const cells = new Uint8Array(across * down * 4);
  for (let y = 0, i = 0; y < down; y++) {
    for (let x = 0; x < across; x++, i += 4) {
      const from = (rows[y] * width + columns[x]) * 4;
      if (rgba[from + 3] !== 0) cells.set(rgba.subarray(from, from + 4), i);
    }
  }
  return { width: across, height: down, rgba: cells };
}

/** Gives every cell the colour it has in the palette that was asked for, if one was; how opaque it is stays. */
function inPalette({ rgba }: Raster, settings: Settings): void {
  const { palette, colors } = settings;
  if (!palette && colors === null) return;
  const uses = new Map<number, number>();
  for (let i = 0; i < rgba.length; i += 4) {
    const n = (rgba[i + 3] / 255) ** 2;
    if (n > 0) uses.set(colourAt(rgba, i), (uses.get(colourAt(rgba, i)) ?? 0) + n);
  }
  if (!palette && uses.size <= colors!) return;
  const samples = Array.from(uses, ([colour, n]) => ({ n, r: colour >> 16, g: (colour >> 8) & 255, b: colour & 255 }));
  const colours = paletteOf(samples, settings);
  for (let i = 0; i < rgba.length; i += 4) {
    if (rgba[i + 3] === 0) continue;
    const { r, g, b } = colours[nearestColour(colours, rgba[i], rgba[i + 1], rgba[i + 2])];
    rgba.set([r, g, b], i);
  }
}

const colourAt = (rgba: Uint8Array, i: number) => (rgba[i] << 16) | (rgba[i + 1] << 8) | rgba[i + 2];

type PixelAreas = Pick<Areas, "map" | "empty" | "opaque" | "background" | "paints">;

/** An area per connected cells of one colour and opacity. */
function areasOf({ width, height, rgba }: Raster, grid: PixelGrid): PixelAreas {
  const words = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  const names = new Map<number, number>();
  const labels = Int32Array.from(words, (word) => {
    const label = names.get(word) ?? names.size;
    names.set(word, label);
    return label;
  });
  const map = components(labels, width, height, names.size);
  const colours = Uint32Array.from(names.keys());
  const alpha = new Uint8Array(colours.buffer);
  const alphas = Uint8Array.from(map.labelOf, (label) => alpha[label * 4 + 3]);
  const opaque = alphas.map((value) => (value === 255 ? 1 : 0));
  const empty = alphas.map((value) => (value === 0 ? 1 : 0));
  const background = backgroundOf(map, grid, colours, opaque);
  const paints = map.labelOf.map((label, a) => (opaque[a] === 1 ? label : -1));
  return { map, empty, opaque, background, paints };
}

function clearBackground(cells: Raster, grid: PixelGrid): Background | null {
  const { map, background } = areasOf(cells, grid);
  for (let cell = 0; background && cell < map.flat.length; cell++) {
    if (background.areas[map.flat[cell]] === 1) cells.rgba.fill(0, cell * 4, cell * 4 + 4);
  }
  return background;
}

/** The colour of most of the border, where that is opaque and a good part of it; and its areas at the border. */
function backgroundOf(map: AreaMap, { columns, rows }: PixelGrid, colours: Uint32Array, opaque: Uint8Array) {
  const { flat, width, height, labelOf, count } = map;
  const onBorder = new Float64Array(colours.length);
  const atBorder = new Uint8Array(count);
  let border = 0;
  const touch = (cell: number, length: number) => {
    const area = flat[cell];
    atBorder[area] = 1;
    border += length;
    if (opaque[area] === 1) onBorder[labelOf[area]] += length;
  };
  for (let x = 0; x < width; x++) {
    for (const cell of [x, (height - 1) * width + x]) touch(cell, columns[x + 1] - columns[x]);
  }
  for (let y = 0; y < height; y++) {
    for (const cell of [y * width, (y + 1) * width - 1]) touch(cell, rows[y + 1] - rows[y]);
  }
  const main = onBorder.reduce((best, length, label) => (length > onBorder[best] ? label : best), 0);
  if (onBorder[main] < borderShareMin * border) return null;
  const [r, g, b] = new Uint8Array(colours.buffer, main * 4, 3) as unknown as Rgba;
  const areas = atBorder.map((at, a) => (at === 1 && labelOf[a] === main ? 1 : 0));
  return { areas, colour: { r, g, b, opacity: 1 } };
}

const borderShareMin = 0.35;

/** The largest length, px, that all places of the grid are multiples of: a cell, where all are alike. */
function unitOf({ width, height }: Raster, { columns, rows }: PixelGrid): number {
  return [...columns, ...rows].reduce(gcd, gcd(width, height));
}

/** Each area along its own edges, around the holes that are to be cut. */
function ownShapes(chain: Contours, holes: ReadonlyMap<number, readonly Contour[]>): Map<number, CellShape> {
  const shapeOf = (outer: number, area: number): CellShape => ({
    outlines: [chain.all[outer], ...(holes.get(area) ?? [])].map((contour) => staircase(chain.steps, contour)),
    evenOdd: false,
  });
  return new Map(Array.from(chain.outer, (outer, area) => [area, shapeOf(outer, area)]));
}

function staircase(steps: Uint8Array, { x, y, from, to }: Contour): Outline {
  const points: number[] = [];
  const kinds: number[] = [];
  let column = x;
  let row = y;
  for (let i = from; i < to; i++) {
    const direction = steps[i];
    if (i > from && direction !== steps[i - 1]) {
      points.push(column, row);
      kinds.push(1);
    }
    if (direction === 0) column++;
    else if (direction === 1) row++;
    else if (direction === 2) column--;
    else row--;
  }
  return { x, y, kinds, points };
}

/** A shape where its cells lie, in units of the drawing. */
function placed({ outlines, evenOdd }: CellShape, { columns, rows }: PixelGrid, unit: number): Shape {
  const on = ({ x, y, kinds, points }: Outline): Outline => ({
    x: columns[x] / unit,
    y: rows[y] / unit,
    kinds,
    points: points.map((v, i) => (i % 2 === 0 ? columns : rows)[v] / unit),
  });
  return { kind: "path", outlines: outlines.map(on), ...(evenOdd && { evenOdd }) };
}
