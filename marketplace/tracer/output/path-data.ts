import type { Outline } from "../drawing.ts";

/** The path data of a shape's outlines, in units of the file. */
export function pathData(outlines: readonly Outline[], unit: number): string {
  const data = new PathData(unit);
  for (const outline of outlines) data.add(outline);
  return data.text;
}

/** Outlines as path data: relative commands, whole numbers, no separator a parser can do without. */
export class PathData {
  text = "";
  private readonly unit: number;
  /** Where the last outline began, and so where the next begins from. */
  private x = 0;
  private y = 0;

  constructor(unit: number) {
    this.unit = unit;
  }

  clear(): void {
    this.text = "";
    this.x = 0;
    this.y = 0;
  }

  add(outline: Outline): void {
    const x = Math.round(outline.x * this.unit);
    const y = Math.round(outline.y * this.unit);
    const absolute = `M${x}${glue(y)}`;
    const relative = `m${x - this.x}${glue(y - this.y)}`;
    this.text +=
      (this.text && relative.length < absolute.length ? relative : absolute) + segments(outline, this.unit, x, y);
    this.x = x;
    this.y = y;
  }
}

function segments({ kinds, points, open }: Outline, unit: number, startX: number, startY: number): string {
  let x = startX;
  let y = startY;
  let text = "";
  let last = "M";
  let hx = 0;
  let hy = 0;
  for (let k = 0, i = 0; k < kinds.length; k++) {
    if (kinds[k] === 1) {
      const nx = Math.round(points[i] * unit);
      const ny = Math.round(points[i + 1] * unit);
      i += 2;
      const dx = nx - x;
      const dy = ny - y;
      if (!open && k === kinds.length - 1 && nx === startX && ny === startY) break;
      if (dx === 0 && dy === 0) continue;
      const next = kinds[k + 1] === 1 ? [points[i] * unit, points[i + 1] * unit].map(Math.round) : null;
      // What goes on in one direction is one line.
      if (next && goesOn(dx, dy, next[0] - nx, next[1] - ny)) continue;
      const kind = dy === 0 ? "h" : dx === 0 ? "v" : "l";
      const way = dy === 0 ? glue(dx) : dx === 0 ? glue(dy) : glue(dx) + glue(dy);
      text += last === kind ? way : kind + way.trimStart();
      last = kind;
      x = nx;
      y = ny;
      continue;
    }
    if (kinds[k] === 2) {
      const nx = Math.round(points[i + 2] * unit);
      const ny = Math.round(points[i + 3] * unit);
      text += arc(nx - x, ny - y, points[i] * unit - x, points[i + 1] * unit - y);
      i += 4;
      last = "a";
      x = nx;
      y = ny;
      continue;
    }
    const ax = Math.round(points[i] * unit) - x;
    const ay = Math.round(points[i + 1] * unit) - y;
    const bx = Math.round(points[i + 2] * unit) - x;
    const by = Math.round(points[i + 3] * unit) - y;
    const dx = Math.round(points[i + 4] * unit) - x;
    const dy = Math.round(points[i + 5] * unit) - y;
    i += 6;
    // A handle that mirrors the last one within a unit need not be written.
    if ((last === "c" || last === "s") && Math.abs(ax - hx) <= 1 && Math.abs(ay - hy) <= 1) {
      text += (last === "s" ? glue(bx) : `s${bx}`) + glue(by) + glue(dx) + glue(dy);
      last = "s";
    } else {
      text += (last === "c" ? glue(ax) : `c${ax}`) + glue(ay) + glue(bx) + glue(by) + glue(dx) + glue(dy);
      last = "c";
    }
    hx = dx - bx;
    hy = dy - by;
    x += dx;
    y += dy;
  }
  return open ? text : `${text}z`;
}

function goesOn(dx: number, dy: number, nextX: number, nextY: number): boolean {
  return dx * nextY === dy * nextX && dx * nextX + dy * nextY > 0;
}

/** The arc from the pen to (x, y) by way of (mx, my), all from the pen. */
function arc(x: number, y: number, mx: number, my: number): string {
  const chord = Math.hypot(x, y);
  const side = x * my - y * mx;
  if (Math.abs(side) <= chord * flatMax) return `l${x}${glue(y)}`;
  const { r, large } = arcOf(chord, Math.abs(side) / chord);
  // A radius under half the chord would be no arc.
  const radius = Math.max(Math.round(r), Math.ceil(chord / 2 - 1e-9));
  return `a${radius} ${radius} 0 ${large ? 1 : 0} ${side < 0 ? 1 : 0}${glue(x)}${glue(y)}`;
}

/** An arc no higher than this, in units of the file, is a line. */
const flatMax = 0.05;

/** The radius of an arc by its chord and height, and whether it is more than half a circle. */
export function arcOf(chord: number, height: number): { r: number; large: boolean } {
  return { r: height / 2 + (chord * chord) / (8 * height), large: height > chord / 2 };
}

function glue(v: number): string {
  return v < 0 ? String(v) : ` ${v}`;
}
