import { type Measured, shareOf } from "./profile.ts";

/** A pixel at an area's edge, by its middle, and how much of it the area's ink covers, 0..1. */
export interface EdgePixel {
  readonly x: number;
  readonly y: number;
  readonly share: number;
  /** The more it touches of the area, the more it counts. */
  readonly weight: number;
}

/** The pixels at both sides of an area's edge. */
export function edgesOf(pixels: Int32Array, picture: Measured): EdgePixel[] {
  const { areas, area, stride } = picture;
  const weights = new Map<number, number>();
  for (const q of pixels) {
    for (const p of [q, q + 1, q - 1, q + stride, q - stride]) {
      if ((p === q || areas[p] !== area) && areas[p] >= 0) weights.set(p, (weights.get(p) ?? 0) + 1);
    }
  }
  const edges: EdgePixel[] = [];
  for (const [p, weight] of weights) {
    const share = shareOf(p, picture);
    if (share !== null) edges.push({ x: (p % stride) - 0.5, y: Math.floor(p / stride) - 0.5, share, weight });
  }
  return edges;
}
