import { lengthOf } from "./length.ts";
import type { Points } from "./points.ts";

/** A unit vector. */
export interface Direction {
  readonly x: number;
  readonly y: number;
}

/** How many points on each side a tangent is taken from. */
const tangentReach = 3;

/** A closed chain of points, unrolled: its first point stands again at the end. Scratch, used for one outline after another. */
export class Chain {
  x = new Float64Array(4097);
  y = new Float64Array(4097);
  /** How far a curve may miss each point, px. */
  tolerance = new Float64Array(4097);
  corner = new Uint8Array(4097);
  /** How far each point lies from the first along the chain, px. */
  along = new Float64Array(4097);
  /** Where on its curve each point lies, 0..1. */
  place = new Float64Array(4097);

  load(points: Points, first: number): void {
    const n = points.count;
    if (this.x.length <= n) this.grow(n * 2 + 1);
    const { x, y, tolerance, corner, along } = this;
    for (let i = 0, j = first; i <= n; i++, j++) {
      if (j >= n) j -= n;
      x[i] = points.x[j];
      y[i] = points.y[j];
      tolerance[i] = points.tolerance[j];
      corner[i] = points.corner[j];
      along[i] = i === 0 ? 0 : along[i - 1] + lengthOf(x[i] - x[i - 1], y[i] - y[i - 1]);
    }
  }

  /** Tangent leaving an end of an open piece, towards `to`. */
  tangentFrom(from: number, to: number): Direction {
    const { x, y } = this;
    const step = to > from ? 1 : -1;
    const reach = Math.min(tangentReach, Math.abs(to - from));
    let dx = 0;
    let dy = 0;
    for (let k = 1; k <= reach; k++) {
      dx += (x[from + k * step] - x[from]) / k;
      dy += (y[from + k * step] - y[from]) / k;
    }
    return unit(dx, dy);
  }

  /** Tangent at an inner point of the open piece from `a` to `b`. */
  tangentBetween(at: number, a: number, b: number): Direction {
    const { x, y } = this;
    const reach = Math.min(tangentReach, at - a, b - at);
    let dx = 0;
    let dy = 0;
    for (let k = 1; k <= reach; k++) {
      dx += (x[at + k] - x[at - k]) / k;
      dy += (y[at + k] - y[at - k]) / k;
    }
    return unit(dx, dy);
  }

  /** Tangent at any point of a closed chain of n points. */
  tangentAround(at: number, n: number): Direction {
    const { x, y } = this;
    const reach = Math.max(1, Math.min(tangentReach, n >> 3));
    let dx = 0;
    let dy = 0;
    for (let k = 1; k <= reach; k++) {
      const after = (at + k) % n;
      const before = (at - k + n) % n;
      dx += (x[after] - x[before]) / k;
      dy += (y[after] - y[before]) / k;
    }
    return unit(dx, dy);
  }

  private grow(capacity: number): void {
    this.x = new Float64Array(capacity);
    this.y = new Float64Array(capacity);
    this.tolerance = new Float64Array(capacity);
    this.corner = new Uint8Array(capacity);
    this.along = new Float64Array(capacity);
    this.place = new Float64Array(capacity);
  }
}

function unit(dx: number, dy: number): Direction {
  const length = Math.sqrt(dx * dx + dy * dy);
  return length > 0 ? { x: dx / length, y: dy / length } : { x: 1, y: 0 };
}

/** The other way along the same line. */
export function reversed({ x, y }: Direction): Direction {
  return { x: -x, y: -y };
}
