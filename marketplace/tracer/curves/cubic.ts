import type { Chain, Direction } from "./chain.ts";

/** The first and last point of what is fitted, and the tangents there, both inwards. */
export interface Ends {
  readonly a: number;
  readonly b: number;
  readonly start: Direction;
  readonly end: Direction;
}

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

  /** Sets where on the curve each point lies by its share of the chain's length. */
  placeByLength({ along, place }: Chain, a: number, b: number): void {
    const from = along[a];
    const total = along[b] - from || 1;
    for (let i = a; i <= b; i++) place[i] = (along[i] - from) / total;
  }

  /**
   * Finds the two handle lengths along the given tangents. `nearer` first moves each point's place one Newton step towards the
   * nearest on the curve as it is.
   */
  solve(chain: Chain, piece: Ends, nearer: boolean): void {
    const { x, y, place } = chain;
    const { a, b } = piece;
    const { x: startX, y: startY } = piece.start;
    const { x: endX, y: endY } = piece.end;
    const fromX = x[a];
    const fromY = y[a];
    const toX = x[b];
    const toY = y[b];
    if (nearer) this.#expand(fromX, fromY, toX, toY);
    const { x0, x1, x2, x3, y0, y1, y2, y3 } = this.#power;
    let c00 = 0;
    let c01 = 0;
    let c11 = 0;
    let right0 = 0;
    let right1 = 0;
    for (let i = a + 1; i < b; i++) {
      let u = place[i];
      if (nearer) {
        const qx = ((x3 * u + x2) * u + x1) * u + x0 - x[i];
        const qy = ((y3 * u + y2) * u + y1) * u + y0 - y[i];
        const d1x = (3 * x3 * u + 2 * x2) * u + x1;
        const d1y = (3 * y3 * u + 2 * y2) * u + y1;
        const d2x = 6 * x3 * u + 2 * x2;
        const d2y = 6 * y3 * u + 2 * y2;
        const slope = d1x * d1x + d1y * d1y + qx * d2x + qy * d2y;
        if (slope !== 0) {
          u = Math.min(1, Math.max(0, u - (qx * d1x + qy * d1y) / slope));
          place[i] = u;
        }
      }
      const v = 1 - u;
      const b1 = 3 * u * v * v;
      const b2 = 3 * u * u * v;
      const shareOfStart = v * v * (1 + 2 * u);
      const shareOfEnd = u * u * (1 + 2 * v);
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
    if (!(first > least && second > least && first < length && second < length)) {
      first = length / 3;
      second = first;
    }
    this.handle1x = fromX + startX * first;
    this.handle1y = fromY + startY * first;
    this.handle2x = toX + endX * second;
    this.handle2y = toY + endY * second;
  }

  /** The greatest distance from a point to its place on the curve, in tolerances. */
  farthest({ x, y, tolerance, place }: Chain, a: number, b: number): number {
    this.#expand(x[a], y[a], x[b], y[b]);
    const { x0, x1, x2, x3, y0, y1, y2, y3 } = this.#power;
    let worst = 0;
    for (let i = a + 1; i < b; i++) {
      const u = place[i];
      const dx = ((x3 * u + x2) * u + x1) * u + x0 - x[i];
      const dy = ((y3 * u + y2) * u + y1) * u + y0 - y[i];
      const off = (dx * dx + dy * dy) / (tolerance[i] * tolerance[i]);
      if (off > worst) worst = off;
    }
    return Math.sqrt(worst);
  }

  /** Sets the curve's coefficients: x is ((x3·u + x2)·u + x1)·u + x0. */
  #expand(fromX: number, fromY: number, toX: number, toY: number): void {
    const { handle1x, handle1y, handle2x, handle2y } = this;
    const power = this.#power;
    power.x0 = fromX;
    power.x1 = 3 * (handle1x - fromX);
    power.x2 = 3 * (handle2x - handle1x) - power.x1;
    power.x3 = toX - fromX - power.x1 - power.x2;
    power.y0 = fromY;
    power.y1 = 3 * (handle1y - fromY);
    power.y2 = 3 * (handle2y - handle1y) - power.y1;
    power.y3 = toY - fromY - power.y1 - power.y2;
  }

  readonly #power = { x0: 0, x1: 0, x2: 0, x3: 0, y0: 0, y1: 0, y2: 0, y3: 0 };
}
