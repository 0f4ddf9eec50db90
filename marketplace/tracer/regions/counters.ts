import type { Colour } from "../drawing.ts";
import { stride } from "./colour-model.ts";
import type { AreaMap } from "./components.ts";
import { find, unite } from "./union-find.ts";

/** What of a picture is ground, and its colour. */
interface Ground {
  readonly areas: Uint8Array;
  readonly colour: Colour;
}

/**
 * The ground with the counters of letters and like shapes opened: areas of its colour that one ink closes in. The inside
 * of a shape of many colours, such as a figure, stays: there it is the white of an eye or of a shirt. The filling of a
 * thin outline and writing on a button stay, too. Work is bounded by the picture's size.
 */
export function withCounters(map: AreaMap, sums: Float64Array, opaque: Uint8Array, ground: Ground): Uint8Array {
  const { count, sizes } = map;
  const inside = new Uint8Array(count);
  for (let a = 0; a < count; a++) {
    if (ground.areas[a] === 0 && opaque[a] === 1 && isAlike(sums, a, ground.colour, groundAlike)) inside[a] = 1;
  }
  if (!inside.includes(1)) return ground.areas;
  const isGround = (a: number) => inside[a] === 1 || ground.areas[a] === 1;
  const shapes = Int32Array.from({ length: count }, (_, a) => a);
  const rings = new Int32Array(count).fill(-1);
  eachBorder(map, (a, b) => {
    if (!isGround(a) && !isGround(b)) unite(shapes, a, b);
  });
  eachBorder(map, (a, b) => {
    for (const [hole, ink] of [
      [a, b],
      [b, a],
    ]) {
      if (inside[hole] === 0 || isGround(ink)) continue;
      if (rings[hole] === -1) rings[hole] = ink;
      else if (rings[hole] >= 0 && !isAlike(sums, ink, meanOf(sums, rings[hole]), inkAlike)) rings[hole] = twoInks;
    }
  });
  const inner = Array.from(inside, (_, a) => a).filter((a) => inside[a] === 1 && rings[a] >= 0);
  const ink = new Float64Array(count);
  for (let a = 0; a < count; a++) if (!isGround(a)) ink[find(shapes, a)] += sizes[a];
  const letters = new Set(lettersAmong(map, inner, (a) => find(shapes, rings[a]), ink));
  const inks = inksOf(map, sums, shapes, ink);
  const opened = ground.areas.slice();
  for (const a of inner) {
    const shape = find(shapes, rings[a]);
    if (letters.has(shape) && (inks.get(shape)?.length ?? 0) <= inksMax) opened[a] = 1;
  }
  return opened;
}

/** Shapes that are letters: most areas that they close in are round or three-cornered, unlike the letters that a button closes in. */
function lettersAmong(map: AreaMap, inner: readonly number[], shapeOf: (a: number) => number, ink: Float64Array) {
  const shares = convexShares(map, inner);
  const found = new Map<number, { holes: number; convex: number; size: number }>();
  inner.forEach((a, i) => {
    const shape = shapeOf(a);
    const so = found.get(shape) ?? { holes: 0, convex: 0, size: 0 };
    found.set(shape, so);
    so.holes++;
    so.size += map.sizes[a];
    if (map.sizes[a] < speckMax || shares[i] >= convexMin) so.convex++;
  });
  return [...found]
    .filter(([shape, { holes, convex, size }]) => convex >= lettersMin * holes && size <= countersMax * ink[shape])
    .map(([shape]) => shape);
}

const groundAlike = 8;
const inkAlike = 40;
const twoInks = -2;
/** Most colours a shape may have, those of a small part of it left aside, and most counters to its ink. */
const inksMax = 4;
const inkShareMin = 0.01;
const countersMax = 4;
/** What share of its convex hull a counter fills, and how many of a letter's must. Smaller ones, px, say nothing. */
const convexMin = 0.8;
const lettersMin = 0.6;
const speckMax = 6;

/** Names every two areas that touch, at each side where they do. */
function eachBorder({ flat, width, height }: AreaMap, touch: (a: number, b: number) => void): void {
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      if (x + 1 < width && flat[p] !== flat[p + 1]) touch(flat[p], flat[p + 1]);
      if (y + 1 < height && flat[p] !== flat[p + width]) touch(flat[p], flat[p + width]);
    }
  }
}

/** The colours of each shape, by its number, larger areas first. */
function inksOf({ count, sizes }: AreaMap, sums: Float64Array, shapes: Int32Array, ink: Float64Array) {
  const inks = new Map<number, Colour[]>();
  const order = Array.from({ length: count }, (_, a) => a).sort((a, b) => sizes[b] - sizes[a] || a - b);
  for (const a of order) {
    const shape = find(shapes, a);
    if (sizes[a] < inkShareMin * ink[shape]) continue;
    const found = inks.get(shape) ?? [];
    inks.set(shape, found);
    if (found.length <= inksMax && !found.some((colour) => isAlike(sums, a, colour, inkAlike))) {
      found.push(meanOf(sums, a));
    }
  }
  return inks;
}

function meanOf(sums: Float64Array, a: number): Colour {
  const mean = (c: number) => sums[a * stride + 6 + c * 3] / sums[a * stride];
  return { r: mean(0), g: mean(1), b: mean(2), opacity: 1 };
}

function isAlike(sums: Float64Array, a: number, colour: Colour, levels: number): boolean {
  const { r, g, b } = meanOf(sums, a);
  return Math.max(Math.abs(r - colour.r), Math.abs(g - colour.g), Math.abs(b - colour.b)) <= levels;
}

/** What share of its convex hull each of some areas fills. Source: the monotone chain of Andrew (1979). */
function convexShares({ flat, width, sizes, count }: AreaMap, some: readonly number[]): readonly number[] {
  const turn = new Int32Array(count).fill(-1);
  some.forEach((a, i) => {
    turn[a] = i;
  });
  // The corners of the first and the last pixel of each row, from the top: x, y in turn.
  const sides = some.map(() => ({ left: [] as number[], right: [] as number[], row: -1 }));
  for (let p = 0; p < flat.length; p++) {
    const side = sides[turn[flat[p]]];
    if (!side) continue;
    const x = p % width;
    const y = (p - x) / width;
    if (side.row !== y) {
      side.left.push(x, y, x, y + 1);
      side.right.push(x + 1, y, x + 1, y + 1);
      side.row = y;
    } else {
      side.right[side.right.length - 4] = x + 1;
      side.right[side.right.length - 2] = x + 1;
    }
  }
  return some.map((a, i) => sizes[a] / (reachOf(sides[i].right, 1) + reachOf(sides[i].left, -1)));
}

/** The area between the y axis and the convex chain round points that go down, times `sign`, which is 1 for the right side. */
function reachOf(points: readonly number[], sign: 1 | -1): number {
  const chain: number[] = [];
  for (let i = 0; i < points.length; i += 2) {
    while (chain.length >= 4) {
      const [ax, ay, bx, by] = chain.slice(-4);
      if (sign * ((bx - ax) * (points[i + 1] - ay) - (by - ay) * (points[i] - ax)) > 0) break;
      chain.length -= 2;
    }
    chain.push(points[i], points[i + 1]);
  }
  let area = 0;
  for (let i = 2; i < chain.length; i += 2) area += ((chain[i] + chain[i - 2]) / 2) * (chain[i + 1] - chain[i - 1]);
  return sign * area;
}
