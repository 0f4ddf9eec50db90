import { components } from "./components.ts";
import { type Contour, contours } from "./contours.ts";
import { type Drawing, type Element, type Group, opaqueMin, straight } from "./drawing.ts";
import { depthLayers } from "./layers.ts";
import type { Outline } from "./outline.ts";
import { premultiply, type Raster } from "./raster.ts";

/** How many pixels make one cell of the drawing's own grid; 1 when the picture is not enlarged pixel art. */
export function cellSize({ width, height, rgba }: Raster): number {
  const words = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  let cell = gcd(width, height);
  for (let y = 0, p = 0; y < height && cell > 1; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x > 0 && x % cell !== 0 && words[p] !== words[p - 1]) cell = gcd(cell, x);
      if (y > 0 && y % cell !== 0 && words[p] !== words[p - width]) cell = gcd(cell, y);
    }
  }
  return cell;
}

/** Enlarged pixel art as what it is: polygons on its own grid, every cell exact. */
export function drawPixels(image: Raster, cell: number): Drawing {
  const width = image.width / cell;
  const height = image.height / cell;
  const native = new Uint8Array(width * height * 4);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 4) {
      const from = (y * cell * image.width + x * cell) * 4;
      native.set(image.rgba.subarray(from, from + 4), i);
    }
  }
  const pixels = premultiply({ width, height, rgba: native });
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
  const names = new Map<number, number>();
  const labels = Int32Array.from(words, (word) => {
    const label = names.get(word) ?? names.size;
    names.set(word, label);
    return label;
  });
  const map = components(labels, width, height, names.size);
  const chain = contours(map);
  const first = (a: number) => {
    const { x, y } = chain.all[chain.outer[a]!]!;
    return (y * width + x) * 4;
  };
  const paints = Int32Array.from({ length: map.count }, (_, a) => {
    const at = first(a);
    return pixels[at + 3]! >= opaqueMin ? labels[at >> 2]! : -1;
  });
  const { order, layer, names: layerNames } = depthLayers(chain, map.count, paints);
  const open = new Uint8Array(chain.all.length);
  for (let a = 0; a < map.count; a++) {
    if (pixels[first(a) + 3]! >= opaqueMin) continue;
    for (let hole = chain.container[a]!; hole >= 0 && open[hole] === 0; hole = chain.container[chain.all[hole]!.area]!)
      open[hole] = 1;
  }
  const holes = new Map<number, Contour[]>();
  for (let c = 0; c < chain.all.length; c++) {
    const contour = chain.all[c]!;
    if (open[c] === 1) holes.set(contour.area, [...(holes.get(contour.area) ?? []), contour]);
  }
  const groups: Group[] = [];
  let elements: Element[] = [];
  let current = -1;
  for (const area of order) {
    const at = first(area);
    if (pixels[at + 3] === 0) continue;
    if (layer[area] !== current) {
      current = layer[area]!;
      elements = [];
      groups.push({ id: layerNames[current]!, elements });
    }
    const outlines = [chain.all[chain.outer[area]!]!, ...(holes.get(area) ?? [])].map((c) => staircase(chain.steps, c));
    const colour = straight(pixels[at]!, pixels[at + 1]!, pixels[at + 2]!, pixels[at + 3]!);
    elements.push({ fill: { kind: "flat", colour }, shape: { kind: "path", outlines } });
  }
  return {
    width: image.width,
    height: image.height,
    spanX: width,
    spanY: height,
    grid: 1,
    oneWay: true,
    crisp: true,
    groups,
  };
}

function staircase(steps: Uint8Array, { x, y, from, to }: Contour): Outline {
  const points: number[] = [];
  const kinds: number[] = [];
  let px = x;
  let py = y;
  for (let i = from; i < to; i++) {
    const direction = steps[i]!;
    if (i > from && direction !== steps[i - 1]) {
      points.push(px, py);
      kinds.push(1);
    }
    if (direction === 0) px++;
    else if (direction === 1) py++;
    else if (direction === 2) px--;
    else py--;
  }
  return { x, y, kinds, points };
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}
