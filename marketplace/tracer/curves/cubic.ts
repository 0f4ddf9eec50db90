import type { Chain, Direction } from "./chain.ts";

/**
 * One cubic, fitted to the points `a` to `b` of a chain by least squares. Scratch, used for one curve after another.
 * Source: Schneider (1990), see fit-curve.ts.
 */
export class Cubic {
  /** The handles; the ends are the chain's own points. */
  handle1x = 0;
  handle1y = 0;
  handle2x = 0;
  handle2y = 0;
  /** The point that the last `farthest` found farthest off. */
  farthestAt = 0;

  /** Sets where on the curve each point lies by its share of the chain's length. */
  placeByLength({ x, y, place }: Chain, a: number, b: number): void {
    place[a] = 0;
    for (let i = a + 1; i <= b; i++) {
      const dx = x[i] - x[i - 1];
      const dy = y[i] - y[i - 1];
      place[i] = place[i - 1] + Math.sqrt(dx * dx + dy * dy);
    }
    const total = place[b] || 1;
    for (let i = a + 1; i <= b; i++) place[i] /= total;
  }

  /** Finds the two handle lengths along the given tangents. */
  solve({ x, y, place }: Chain, a: number, b: number, start: Direction, end: Direction): void {
    const [fromX, fromY, toX, toY] = [x[a], y[a], x[b], y[b]];
    const { x: startX, y: startY } = start;
    const { x: endX, y: endY } = end;
    let c00 = 0;
    let c01 = 0;
    let c11 = 0;
    let right0 = 0;
    let right1 = 0;
    for (let i = a + 1; i < b; i++) {
      const u = place[i];
      const v = 1 - u;
      const b1 = 3 * u * v * v;
      const b2 = 3 * u * u * v;
      const shareOfStart = v * v * v + b1;
      const shareOfEnd = u * u * u + b2;
      const rx = x[i] - fromX * shareOfStart - toX * shareOfEnd;
      const ry = y[i] - fromY * shareOfStart - toY * shareOfEnd;
      c00 += b1 * b1;
      c01 += b1 * b2;
      c11 += b2 * b2;
      right0 += b1 * (rx * startX + ry * startY);
      right1 += b2 * (rx * endX + ry * endY);
    }
    c01 *= startX * endX + startY * endY;
    const det = c00 * c11 - c01 * c01;
    const length = Math.sqrt((toX - fromX) ** 2 + (toY - fromY) ** 2);
    let first = det !== 0 ? (right0 * c11 - right1 * c01) / det : 0;
    let second = det !== 0 ? (c00 * right1 - c01 * right0) / det : 0;
    const least = 0.01 * length;
    if (!(first > least && second > least && first < 3 * length + 2 && second < 3 * length + 2)) {
      first = length / 3;
      second = first;
    }
    this.handle1x = fromX + startX * first;
    this.handle1y = fromY + startY * first;
    this.handle2x = toX + endX * second;
    this.handle2y = toY + endY * second;
  }

  /** The greatest distance from a point to its place on the curve, in tolerances; remembers where. */
  farthest({ x, y, tolerance, place }: Chain, a: number, b: number): number {
    const [p0x, p0y, p3x, p3y] = [x[a], y[a], x[b], y[b]];
    const { handle1x: p1x, handle1y: p1y, handle2x: p2x, handle2y: p2y } = this;
    let worst = 0;
    let worstAt = (a + b) >> 1;
    for (let i = a + 1; i < b; i++) {
      const u = place[i];
      const v = 1 - u;
      const b0 = v * v * v;
      const b1 = 3 * u * v * v;
      const b2 = 3 * u * u * v;
      const b3 = u * u * u;
      const dx = p0x * b0 + p1x * b1 + p2x * b2 + p3x * b3 - x[i];
      const dy = p0y * b0 + p1y * b1 + p2y * b2 + p3y * b3 - y[i];
      const off = (dx * dx + dy * dy) / (tolerance[i] * tolerance[i]);
      if (off > worst) {
        worst = off;
        worstAt = i;
      }
    }
    this.farthestAt = worstAt;
    return Math.sqrt(worst);
  }

  /** One Newton step per point towards the nearest place on the curve. */
  reparametrize({ x, y, place }: Chain, a: number, b: number): void {
    const [p0x, p0y, p3x, p3y] = [x[a], y[a], x[b], y[b]];
    const { handle1x: p1x, handle1y: p1y, handle2x: p2x, handle2y: p2y } = this;
    for (let i = a + 1; i < b; i++) {
      const u = place[i];
      const v = 1 - u;
      const qx = v * v * v * p0x + 3 * u * v * v * p1x + 3 * u * u * v * p2x + u * u * u * p3x - x[i];
      const qy = v * v * v * p0y + 3 * u * v * v * p1y + 3 * u * u * v * p2y + u * u * u * p3y - y[i];
      const d1x = 3 * (v * v * (p1x - p0x) + 2 * u * v * (p2x - p1x) + u * u * (p3x - p2x));
      const d1y = 3 * (v * v * (p1y - p0y) + 2 * u * v * (p2y - p1y) + u * u * (p3y - p2y));
      const d2x = 6 * (v * (p2x - 2 * p1x + p0x) + u * (p3x - 2 * p2x + p1x));
      const d2y = 6 * (v * (p2y - 2 * p1y + p0y) + u * (p3y - 2 * p2y + p1y));
      const slope = d1x * d1x + d1y * d1y + qx * d2x + qy * d2y;
      if (slope === 0) continue;
      const next = u - (qx * d1x + qy * d1y) / slope;
      place[i] = Math.min(1, Math.max(0, next));
    }
  }
}
