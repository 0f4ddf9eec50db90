import { lengthOf } from "../curves/length.ts";
import type { EdgePixel } from "./edges.ts";
import type { LiftedStroke } from "./lines.ts";
import { pointsAlong, step } from "./points-along.ts";
import type { Measured } from "./profile.ts";
import type { Place } from "./straight-line.ts";
import type { FoundStroke } from "./strokes-of.ts";

/** How near strokes come to each pixel of a box. */
class Cover {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** From the stroke's edge, px: below 0 inside it. */
  readonly distance: Float32Array;
  readonly nearest: Int32Array;

  constructor(left: number, top: number, width: number, height: number) {
    this.left = left;
    this.top = top;
    this.width = width;
    this.height = height;
    this.distance = new Float32Array(width * height).fill(9);
    this.nearest = new Int32Array(width * height).fill(-1);
  }

  /** A stroke with its joins and ends. */
  draw(
    points: readonly Place[],
    { width, cap, closed }: Pick<FoundStroke, "width" | "cap" | "closed">,
    stroke: number,
  ): void {
    const half = width / 2;
    const n = points.length;
    for (let i = 0; i + (closed ? 0 : 1) < n; i++) {
      const open = { start: !closed && i === 0, end: !closed && i === n - 2 };
      this.add(points[i], points[(i + 1) % n], half, open, stroke);
    }
    for (let i = closed ? 0 : 1; i < (closed ? n : n - 1); i++) this.join(points, i, half, cap, stroke);
    if (cap === "butt" || closed) return;
    for (const end of [points[0], points[n - 1]]) this.disc(end, half, stroke);
  }

  /** Whether a pixel lies in the margin around an area. */
  isAround(x: number, y: number): boolean {
    return Math.min(x, y, this.width - 1 - x, this.height - 1 - y) < around;
  }

  private see(from: Place, to: Place, reach: number, stroke: number, distance: (x: number, y: number) => number): void {
    const toY = Math.min(this.height - 1, Math.ceil(Math.max(from.y, to.y) - this.top + reach));
    const toX = Math.min(this.width - 1, Math.ceil(Math.max(from.x, to.x) - this.left + reach));
    for (let py = Math.max(0, Math.floor(Math.min(from.y, to.y) - this.top - reach)); py <= toY; py++) {
      for (let px = Math.max(0, Math.floor(Math.min(from.x, to.x) - this.left - reach)); px <= toX; px++) {
        const d = distance(px + this.left + 0.5 - from.x, py + this.top + 0.5 - from.y);
        const i = py * this.width + px;
        if (d >= this.distance[i]) continue;
        this.distance[i] = d;
        this.nearest[i] = stroke;
      }
    }
  }

  /** A short straight piece; where it ends the stroke it is cut off square, elsewhere it goes a little beyond its end. */
  private add(
    from: Place,
    to: Place,
    half: number,
    open: { readonly start: boolean; readonly end: boolean },
    stroke: number,
  ): void {
    const length = lengthOf(to.x - from.x, to.y - from.y);
    if (length === 0) return;
    const [dx, dy] = [(to.x - from.x) / length, (to.y - from.y) / length];
    const on = Math.min(1.5, Math.max(0.6, half));
    this.see(from, to, half + 1.5, stroke, (x, y) => {
      const along = x * dx + y * dy;
      const [before, after] = [open.start ? -along : -along - on, along - length - (open.end ? 0 : on)];
      return Math.max(Math.abs(x * dy - y * dx) - half, before, after);
    });
  }

  private disc(at: Place, half: number, stroke: number): void {
    this.see(at, at, half + 1.5, stroke, (x, y) => lengthOf(x, y) - half);
  }

  /** What two pieces leave open where the line bends: a round join, or the wedge to where their edges meet. */
  private join(points: readonly Place[], i: number, half: number, cap: FoundStroke["cap"], stroke: number): void {
    const n = points.length;
    const at = points[i];
    const [ux, uy] = direction(points[(i + n - 1) % n], at);
    const [vx, vy] = direction(at, points[(i + 1) % n]);
    const bend = 1 - ux * vx - uy * vy;
    if (bend < 1e-4) return;
    // Beyond the mitre limit of SVG an edge is cut off.
    if (cap === "round" || bend < 0.01 || bend > 1.87) {
      if (cap === "round" || bend < 0.01) this.disc(at, half, stroke);
      return;
    }
    this.see(at, at, half * 4 + 1, stroke, (x, y) => {
      const [one, other] = [x * ux + y * uy, x * vx + y * vy];
      return Math.max(Math.abs(x * uy - y * ux) - half, Math.abs(x * vy - y * vx) - half, -one, other);
    });
  }
}

function direction(from: Place, to: Place): readonly [number, number] {
  const length = lengthOf(to.x - from.x, to.y - from.y) || 1;
  return [(to.x - from.x) / length, (to.y - from.y) / length];
}

/** How strokes make up an area. */
export interface AreaCover {
  /** The stroke that each of its pixels belongs to. */
  readonly owners: Int32Array;
  /** How far their edges are off, as a share of a pixel. */
  readonly miss: number;
  /** How many pixels are of only one of both, by those of the area. */
  readonly strays: number;
  /** Whether little of the area lies outside the strokes, little of them outside the area, and their edges are its edges. */
  readonly isWhole: boolean;
}

/** Lays strokes over an area; null where they are elsewhere. `pixels`: places in the map; `edges`: those of its edge. */
export function coverArea(
  pixels: Int32Array,
  edges: readonly EdgePixel[],
  strokes: readonly FoundStroke[],
  picture: Measured,
): AreaCover | null {
  const { areas, stride, area } = picture;
  const cover = coverAround(pixels, picture);
  let stray = 0;
  strokes.forEach((found, stroke) => {
    cover.draw(pointsAlong(found.shape, coverStep), found, stroke);
    for (const place of pointsAlong(found.shape)) if (!isNear(place, areas, area, stride)) stray += step * found.width;
  });
  const isEnd = nearCoveredEnds(strokes);
  let beyond = 0;
  for (let y = 0, i = 0; y < cover.height; y++) {
    for (let x = 0; x < cover.width; x++, i++) {
      const inside = areas[(y + cover.top + 1) * stride + x + cover.left + 1] === area;
      if (inside ? cover.distance[i] <= offMax : cover.distance[i] >= -offMax) continue;
      if (cover.isAround(x, y)) beyond++;
      else if (!isEnd(x + cover.left + 0.5, y + cover.top + 0.5)) stray++;
    }
  }
  const strays = (stray - strayMin) / pixels.length;
  if (strays > strayFarMax) return null;
  const miss = edgesMiss(edges, cover, isEnd);
  const owners = pixels.map((q) => {
    const row = Math.floor(q / stride) - 1 - cover.top;
    return Math.max(cover.nearest[row * cover.width + (q % stride) - 1 - cover.left], 0);
  });
  const isWhole = strays <= strayShareMax && miss <= (strokes[0].width < 3 ? thinMissMax : edgeMissMax);
  return { owners, miss, strays: strays + beyond / pixels.length, isWhole };
}

/** Whether a place is near an end where something else begins: that leaves its own blends there. */
export function nearCoveredEnds(strokes: readonly FoundStroke[]): (x: number, y: number) => boolean {
  const ends = strokes.flatMap(({ ends, abuts, width }) =>
    ends.flatMap((end, side) => (end && abuts[side] ? [{ ...end, reach: width + 4 }] : [])),
  );
  return (x, y) => ends.some((end) => lengthOf(end.x - x, end.y - y) <= end.reach);
}

/** For an area's box and a few pixels around it. */
function coverAround(pixels: Int32Array, { stride }: Measured): Cover {
  let [left, top, right, bottom] = [stride, Number.POSITIVE_INFINITY, 0, 0];
  for (const q of pixels) {
    const [x, y] = [(q % stride) - 1, Math.floor(q / stride) - 1];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return new Cover(left - around, top - around, right - left + 1 + 2 * around, bottom - top + 1 + 2 * around);
}

/** Px beyond an area in which its strokes may not be. */
const around = 3;

/** By how much the strokes' edges cover pixels otherwise than the area's do, on the mean. */
function edgesMiss(edges: readonly EdgePixel[], cover: Cover, isEnd: (x: number, y: number) => boolean): number {
  let squares = 0;
  let count = 0;
  for (const { x, y, share, weight } of edges) {
    const [column, row] = [x - 0.5 - cover.left, y - 0.5 - cover.top];
    if (cover.isAround(column, row) || isEnd(x, y)) continue;
    const drawn = Math.max(0, Math.min(1, 0.5 - cover.distance[row * cover.width + column]));
    squares += weight * (drawn - share) ** 2;
    count += weight;
  }
  return count > 0 ? Math.sqrt(squares / count) : 0;
}

/** A renderer draws an arc as a few short lines: in resvg's these cover pixels up to 0.07 otherwise, on the mean. */
const edgeMissMax = 0.075;
const thinMissMax = 0.13;

/** The pixels of a picture that strokes cover. */
export interface Covered {
  /** The stroke that each pixel lies on, or next to; -1 for none. */
  readonly nearest: Int32Array;
  /** From that stroke's edge, px: below 0 inside it. */
  readonly distance: Float32Array;
}

export function coverPicture(strokes: readonly LiftedStroke[], width: number, height: number): Covered {
  const cover = new Cover(0, 0, width, height);
  strokes.forEach(({ shape, stroke, closed }, i) => {
    cover.draw(pointsAlong(shape, coverStep), { ...stroke, closed }, i);
  });
  const { distance } = cover;
  return { nearest: cover.nearest.map((stroke, p) => (distance[p] <= pieceOffMax ? stroke : -1)), distance };
}

/** How far off a stroke's edge a pixel of the area may lie, or one that is not of it inside, px. */
const offMax = 0.85;
const strayMin = 2;
const strayShareMax = 0.02;
/** With more than this the strokes are others. */
const strayFarMax = 0.2;
/** How far off a piece of a stroke a pixel may lie, px: it may be mostly blends. */
const pieceOffMax = 1.2;
/** Length of the straight pieces by which a stroke is laid over pixels, px. */
const coverStep = 1;

function isNear({ x, y }: Place, areas: Int32Array, area: number, stride: number): boolean {
  const q = (Math.floor(y) + 1) * stride + Math.floor(x) + 1;
  for (let dy = -stride; dy <= stride; dy += stride)
    for (let p = q + dy - 1; p <= q + dy + 1; p++) if (areas[p] === area) return true;
  return false;
}
