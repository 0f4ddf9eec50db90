export interface Place {
  readonly x: number;
  readonly y: number;
}

/** A point of a line and its direction. */
export interface StraightLine extends Place {
  readonly dx: number;
  readonly dy: number;
}

/** The least-squares line through points: it begins beside the first and points towards the last. */
export function lineThrough(points: readonly Place[]): StraightLine {
  let mx = 0;
  let my = 0;
  for (const { x, y } of points) {
    mx += x;
    my += y;
  }
  mx /= points.length;
  my /= points.length;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (const { x, y } of points) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  const angle = 0.5 * Math.atan2(2 * xy, xx - yy);
  const first = points[0];
  const last = points[points.length - 1];
  const ahead = (last.x - first.x) * Math.cos(angle) + (last.y - first.y) * Math.sin(angle) >= 0 ? 1 : -1;
  const [dx, dy] = [Math.cos(angle) * ahead, Math.sin(angle) * ahead];
  const back = (first.x - mx) * dx + (first.y - my) * dy;
  return { x: mx + dx * back, y: my + dy * back, dx, dy };
}

/** Where two lines meet; null where they hardly do. */
export function crossing(a: StraightLine, b: StraightLine): Place | null {
  const cross = a.dx * b.dy - a.dy * b.dx;
  if (Math.abs(cross) < 0.15) return null;
  const s = ((b.x - a.x) * b.dy - (b.y - a.y) * b.dx) / cross;
  return { x: a.x + a.dx * s, y: a.y + a.dy * s };
}

export function distanceTo({ x, y, dx, dy }: StraightLine, point: Place): number {
  return Math.abs((point.x - x) * dy - (point.y - y) * dx);
}

/** The point of a line nearest to one. */
export function onto({ x, y, dx, dy }: StraightLine, point: Place): Place {
  const s = (point.x - x) * dx + (point.y - y) * dy;
  return { x: x + dx * s, y: y + dy * s };
}
