import { lengthOf } from "../curves/length.ts";
import type { Outline } from "../drawing.ts";
import { inParts } from "./long-arc.ts";

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
  const pen = new Pen(startX, startY);
  const at = (i: number) => Math.round(points[i] * unit);
  const lineEnd = (i: number, fromX: number, fromY: number) =>
    i + 2 === points.length
      ? [at(i), at(i + 1)]
      : [rounded(points[i] * unit, fromX), rounded(points[i + 1] * unit, fromY)];
  for (let k = 0, i = 0; k < kinds.length; k++) {
    if (kinds[k] === 1) {
      const [x, y] = lineEnd(i, pen.x, pen.y);
      i += 2;
      let [nextX, nextY] = [x, y];
      for (let ahead = 1, j = i; kinds[k + ahead] === 1 && nextX === x && nextY === y; ahead++, j += 2) {
        [nextX, nextY] = lineEnd(j, x, y);
      }
      // Segments in one direction are one line.
      if (!goesOn(x - pen.x, y - pen.y, nextX - x, nextY - y)) pen.line(x, y);
    } else if (kinds[k] === 2) {
      pen.arc(points[i] * unit, points[i + 1] * unit, at(i + 2), at(i + 3));
      i += 4;
    } else {
      const handle = (j: number) => [points[j] * unit - pen.x, points[j + 1] * unit - pen.y] as const;
      pen.cubic([...handle(i), ...handle(i + 2)], at(i + 4), at(i + 5));
      i += 6;
    }
  }
  return open ? pen.text : pen.closed(startX, startY);
}

/** Writes one segment after another, each as the command with the fewest numbers that draws it. */
class Pen {
  text = "";
  x: number;
  y: number;
  private last = "M";
  /** What was written before the last segment, where that is a line. */
  private beforeLine: string | null = null;
  /** From the pen: the last curve's handle, mirrored. */
  private hx = 0;
  private hy = 0;

  constructor(x: number, y: number) {
    this.x = x;
    this.y = y;
  }

  line(x: number, y: number): void {
    const dx = x - this.x;
    const dy = y - this.y;
    if (dx === 0 && dy === 0) return;
    const before = this.text;
    if (dy === 0) this.write("h", [dx], x, y);
    else if (dx === 0) this.write("v", [dy], x, y);
    else this.write("l", [dx, dy], x, y);
    this.beforeLine = before;
  }

  /** All that was written, closed: a line back to the start need not be written. */
  closed(startX: number, startY: number): string {
    const back = this.x === startX && this.y === startY;
    return `${(back ? this.beforeLine : null) ?? this.text}z`;
  }

  /** The arc to (x, y) by way of (mx, my). */
  arc(mx: number, my: number, x: number, y: number): void {
    const { x: fromX, y: fromY } = this;
    for (const part of inParts({ mx: mx - fromX, my: my - fromY, x: x - fromX, y: y - fromY })) {
      const [toX, toY] = [fromX + part.x, fromY + part.y];
      const text = arc(toX - this.x, toY - this.y, fromX + part.mx - this.x, fromY + part.my - this.y);
      this.text += text;
      [this.last, this.x, this.y] = [text[0], toX, toY];
      this.beforeLine = null;
    }
  }

  /**
   * The cubic with these handles, seen from the pen, to (x, y); a quadratic where that is as good. What was read as a
   * quadratic, or would be, is that one, so that a drawing read and written again is the same text.
   */
  cubic(handles: Handles, x: number, y: number): void {
    const [dx, dy] = [x - this.x, y - this.y];
    const { hx, hy, last } = this;
    const whole: Handles = [
      Math.round(handles[0]),
      Math.round(handles[1]),
      Math.round(handles[2]),
      Math.round(handles[3]),
    ];
    const exact = quadraticOf(handles, dx, dy) ?? quadraticOf(whole, dx, dy);
    const [qx, qy] = exact ?? controlOf(whole, dx, dy);
    const isNear = (others: Handles) => strayOf(whole, others) <= strayMax;
    const [, , bx, by] = whole;
    const smooth: Handles = [hx, hy, bx, by];
    if ("qt".includes(last) && (exact ? qx === hx && qy === hy : isNear(elevated(hx, hy, dx, dy)))) {
      this.write("t", [dx, dy], x, y);
      this.mirror(dx - hx, dy - hy);
    } else if (!exact && "cs".includes(last) && isNear(smooth) && !quadraticOf(smooth, dx, dy)) {
      this.write("s", [bx, by, dx, dy], x, y);
      this.mirror(dx - bx, dy - by);
    } else if (exact || isNear(elevated(qx, qy, dx, dy))) {
      this.write("q", [qx, qy, dx, dy], x, y);
      this.mirror(dx - qx, dy - qy);
    } else {
      this.write("c", [...whole, dx, dy], x, y);
      this.mirror(dx - bx, dy - by);
    }
  }

  private mirror(x: number, y: number): void {
    [this.hx, this.hy] = [x, y];
  }

  private write(command: string, numbers: readonly number[], x: number, y: number): void {
    const text = numbers.map(glue).join("");
    this.text += this.last === command ? text : command + text.trimStart();
    [this.last, this.x, this.y] = [command, x, y];
    this.beforeLine = null;
  }
}

/** A cubic's handles, x and y in turn, seen from its beginning. */
type Handles = readonly [number, number, number, number];

/** The control point of the quadratic that comes nearest to a cubic which ends at (dx, dy), in whole units. */
function controlOf(handles: Handles, dx: number, dy: number): [number, number] {
  return [Math.round((3 * (handles[0] + handles[2]) - dx) / 4), Math.round((3 * (handles[1] + handles[3]) - dy) / 4)];
}

/** The control point of what is a quadratic of whole units; null where it is none. */
function quadraticOf(handles: Handles, dx: number, dy: number): [number, number] | null {
  const control = controlOf(handles, dx, dy);
  return strayOf(handles, elevated(control[0], control[1], dx, dy)) < 1e-6 ? control : null;
}

/** A quadratic as a cubic. */
function elevated(qx: number, qy: number, dx: number, dy: number): Handles {
  return [(2 * qx) / 3, (2 * qy) / 3, (dx + 2 * qx) / 3, (dy + 2 * qy) / 3];
}

/** How far a cubic strays when it gets other handles. */
function strayOf(handles: Handles, others: Handles): number {
  const ax = handles[0] - others[0];
  const ay = handles[1] - others[1];
  const bx = handles[2] - others[2];
  const by = handles[3] - others[3];
  const off = (first: number, second: number) => lengthOf(first * ax + second * bx, first * ay + second * by);
  return Math.max(off(27 / 64, 9 / 64), off(3 / 8, 3 / 8), off(9 / 64, 27 / 64));
}

/** Most a curve may stray to be written in fewer numbers, in units of the file. */
const strayMax = 0.42;

/** A coordinate in whole units: the pen's own where it is that but for less than a unit, for such a line is shorter to write. */
function rounded(v: number, pen: number): number {
  return Math.abs(v - pen) <= levelMax ? pen : Math.round(v);
}

/** Under 1, so that what was read in whole units is written as it was. */
const levelMax = 0.9;

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
