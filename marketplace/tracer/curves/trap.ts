import type { Points } from "./points.ts";

/**
 * A trap: moves hidden points outwards, under the neighbour drawn later, across the general run of the outline rather
 * than across their own step. `evened` are points that still lie on the steps of pixels: each takes the middle of those
 * around it.
 */
export function pushOut({ x, y, tolerance, push, corner, count: n }: Points, evened: boolean): void {
  if (n < 3) return;
  if (pushedX.length < n) {
    pushedX = new Float64Array(n * 2);
    pushedY = new Float64Array(n * 2);
  }
  for (let i = 0, last = 9; i < 2 * n; i++) {
    const j = i < n ? i : i - n;
    last = push[j] = Math.min(push[j], last + deepening);
  }
  for (let i = 2 * n - 1, last = 9; i >= 0; i--) {
    const j = i < n ? i : i - n;
    last = push[j] = Math.min(push[j], last + deepening);
    if (last > 0) tolerance[j] = Math.max(0.3, last * stray);
  }
  const reach = Math.min(3, (n - 1) >> 1);
  for (let i = 0; i < n; i++) {
    pushedX[i] = x[i];
    pushedY[i] = y[i];
    if (push[i] === 0) continue;
    let sx = x[i];
    let sy = y[i];
    let dx = 0;
    let dy = 0;
    let count = 1;
    let smooth = evened;
    for (let k = 1; k <= reach; k++) {
      const a = i - k < 0 ? i - k + n : i - k;
      const b = i + k >= n ? i + k - n : i + k;
      if (corner[a] === 1 || corner[b] === 1) break;
      dx += x[b] - x[a];
      dy += y[b] - y[a];
      // Averaged with the hidden only: a short hidden end must not be drawn back from under its neighbour.
      smooth &&= push[a] > 0 && push[b] > 0;
      if (!smooth) continue;
      sx += x[a] + x[b];
      sy += y[a] + y[b];
      count += 2;
    }
    const length = Math.sqrt(dx * dx + dy * dy);
    if (length === 0) continue;
    const [outX, outY] = [dy / length, -dx / length];
    // The middle of those around a corner lies inside it: a shallow trap must not end there.
    const inwards = (x[i] - sx / count) * outX + (y[i] - sy / count) * outY;
    const by = Math.max(push[i], inwards + Math.min(push[i], leastOut));
    pushedX[i] = sx / count + outX * by;
    pushedY[i] = sy / count + outY * by;
  }
  for (let i = 0; i < n; i++) {
    x[i] = pushedX[i];
    y[i] = pushedY[i];
  }
}

let pushedX = new Float64Array(4096);
let pushedY = new Float64Array(4096);

/** How far a hidden edge lies beyond its own step at least, px, where it is covered that far. */
const leastOut = 0.5;
/** Share of its depth by which a hidden edge may stray. */
const stray = 0.65;
/** A trap begins this shallow where an edge goes out of sight, and deepens by as much per step. */
const deepening = 0.6;
