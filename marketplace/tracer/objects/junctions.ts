import type { PixelAreas } from "../regions/components.ts";

export function pairOf(one: number, other: number, count: number): number {
  return Math.min(one, other) * count + Math.max(one, other);
}

/**
 * Reads all junctions of parts: how much of a small disc round the place each of the three takes is its angle there. Where
 * the outline of two goes on smoothly, or turns outwards, what divides them is a mark on one surface; where it turns
 * inwards, or one passes in front of the other, they are two things.
 *
 * `partOf` names each area's part; `ground` is 1 for parts that others stand on. Source: Hoffman & Richards, "Parts of
 * Recognition" (1984), the minima rule; T-junctions as in Guzmán, "Decomposition of a Visual Scene" (1968).
 */
export function readJunctions(
  map: PixelAreas,
  partOf: Int32Array,
  parts: number,
  ground: Uint8Array,
): Map<number, { sum: number; count: number }> {
  const { flat, width, height } = map;
  const says = new Map<number, { sum: number; count: number }>();
  const radius = Math.max(3, Math.min(12, Math.round(Math.sqrt(width * height) * radiusShare)));
  const seen = new Map<number, { x: number; y: number }[]>();
  const counts = new Map<number, number>();
  for (let y = 1; y < height; y++) {
    for (let x = 1, p = y * width + 1; x < width; x++, p++) {
      const corner = [flat[p - width - 1], flat[p - width], flat[p - 1], flat[p]];
      if (corner[0] === corner[1] && corner[2] === corner[3]) continue;
      if (corner[0] === corner[2] && corner[1] === corner[3]) continue;
      const three = [...new Set(corner.map((area) => partOf[area]))];
      if (three.length < 3) continue;
      const places = seen.get(tripleOf(three, parts)) ?? [];
      if (places.length > placesMax || places.some((at) => Math.hypot(at.x - x, at.y - y) < 2 * radius)) continue;
      seen.set(tripleOf(three, parts), [...places, { x, y }]);
      if (x < radius || y < radius || x + radius > width || y + radius > height) continue;
      angles(map, partOf, { x, y, radius }, counts);
      judge(three, counts, parts, ground, says);
    }
  }
  return says;
}

const radiusShare = 0.016;
/** Three parts of a drawing meet at few places; a picture in which they meet at many is noise. */
const placesMax = 8;

function tripleOf(three: readonly number[], parts: number): number {
  const [a, b, c] = [...three].sort((p, q) => p - q);
  return (a * parts + b) * 4096 + (c % 4096);
}

/** Shares of a disc, by part. */
function angles(
  { flat, width }: PixelAreas,
  partOf: Int32Array,
  { x, y, radius }: { readonly x: number; readonly y: number; readonly radius: number },
  counts: Map<number, number>,
): void {
  counts.clear();
  let all = 0;
  for (let dy = -radius; dy < radius; dy++) {
    for (let dx = -radius; dx < radius; dx++) {
      if ((dx + 0.5) ** 2 + (dy + 0.5) ** 2 > radius * radius) continue;
      const part = partOf[flat[(y + dy) * width + x + dx]];
      counts.set(part, (counts.get(part) ?? 0) + 1);
      all++;
    }
  }
  for (const [part, n] of counts) counts.set(part, n / all);
}

function judge(
  three: readonly number[],
  shares: ReadonlyMap<number, number>,
  parts: number,
  ground: Uint8Array,
  says: Map<number, { sum: number; count: number }>,
): void {
  for (const third of three) {
    const [one, other] = three.filter((part) => part !== third);
    if (ground[one] === 1 || ground[other] === 1) continue;
    const outside = shares.get(third) ?? 0;
    const larger = Math.max(shares.get(one) ?? 0, shares.get(other) ?? 0);
    const word = ground[third] === 1 ? onGround(outside, larger) : amidOthers(outside, larger);
    const pair = pairOf(one, other, parts);
    const said = says.get(pair) ?? { sum: 0, count: 0 };
    says.set(pair, { sum: said.sum + word, count: said.count + 1 });
  }
}

/** Half the disc is a straight outline. */
function onGround(outside: number, larger: number): number {
  return outside > straightMin && outside > larger ? 1 : -1;
}

function amidOthers(outside: number, larger: number): number {
  return outside < straightMin && larger > straightMin ? -1 : 0;
}

const straightMin = 0.42;
