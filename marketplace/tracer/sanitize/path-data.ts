import { BadMarkupError } from "./markup.ts";
import { numbersOf } from "./numbers.ts";

/** A curve of lines (2 numbers) and cubics (6 numbers), open or closed. */
export interface Curve {
  readonly x: number;
  readonly y: number;
  /** 1 line, 3 cubic. */
  readonly kinds: number[];
  readonly points: number[];
  closed: boolean;
}

/** How many numbers each command takes. */
const counts: Partial<Record<string, number>> = { M: 2, L: 2, H: 1, V: 1, C: 6, S: 4, Q: 4, T: 2, A: 7, Z: 0 };
const segmentsMax = 5_000;

/** The `d` of a path: every command of SVG 1.1, arcs and quadratics as cubics. */
export function readPath(d: string): Curve[] {
  const curves: Curve[] = [];
  const pen = new Pen(curves);
  for (const [, command = "", text = ""] of d.matchAll(/([a-zA-Z])([^a-zA-Z]*(?:[eE][+-]?\d[^a-zA-Z]*)*)/g)) {
    const kind = command.toUpperCase();
    const count = counts[kind];
    if (count === undefined) throw new BadMarkupError(`path command ${command} is unknown`);
    const values = kind === "A" ? arcNumbers(text) : numbersOf(text);
    if (count === 0 ? values.length > 0 : values.length === 0 || values.length % count !== 0) {
      throw new BadMarkupError(`path command ${command} has ${values.length} numbers`);
    }
    if (count === 0) pen.close();
    for (let i = 0; i < values.length; i += count) {
      pen.draw(kind === "M" && i > 0 ? "L" : kind, command !== kind, values.slice(i, i + count));
    }
    if (curves.reduce((sum, { kinds }) => sum + kinds.length, 0) > segmentsMax) {
      throw new BadMarkupError(`a path has over ${segmentsMax} segments`);
    }
  }
  if (!/^\s*[mM]/.test(d)) throw new BadMarkupError("a path does not begin with M");
  return curves.filter(({ kinds }) => kinds.length > 0);
}

/** Flags of an arc may stand without anything between them. */
function arcNumbers(text: string): number[] {
  const number = "([+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?)";
  const arc = new RegExp(
    `\\s*,?\\s*${number}[\\s,]*${number}[\\s,]*${number}[\\s,]*([01])[\\s,]*([01])[\\s,]*${number}[\\s,]*${number}`,
    "giy",
  );
  const values: number[] = [];
  let end = 0;
  for (const match of text.matchAll(arc)) {
    values.push(...match.slice(1).flatMap((word) => numbersOf(word)));
    end = match.index + match[0].length;
  }
  if (text.slice(end).trim()) throw new BadMarkupError("an arc cannot be read");
  return values;
}

type Point = readonly [number, number];

class Pen {
  private readonly curves: Curve[];
  private x = 0;
  private y = 0;
  /** The last handle, for the smooth commands, and what kind it was. */
  private hx = 0;
  private hy = 0;
  private handle = "";

  constructor(curves: Curve[]) {
    this.curves = curves;
  }

  close(): void {
    const curve = this.curves.at(-1);
    if (!curve) throw new BadMarkupError("a path does not begin with M");
    curve.closed = true;
    [this.x, this.y] = [curve.x, curve.y];
    this.handle = "";
  }

  draw(kind: string, relative: boolean, values: readonly number[]): void {
    const [ox, oy] = relative ? [this.x, this.y] : [0, 0];
    const at = (i: number): [number, number] => [values[i] + ox, values[i + 1] + oy];
    const last = this.handle;
    this.handle = "";
    if (kind === "M") {
      [this.x, this.y] = at(0);
      this.curves.push({ x: this.x, y: this.y, kinds: [], points: [], closed: false });
    } else if (kind === "L") this.line(...at(0));
    else if (kind === "H") this.line(values[0] + ox, this.y);
    else if (kind === "V") this.line(this.x, values[0] + oy);
    else if (kind === "C") this.cubic(at(0), at(2), at(4));
    else if (kind === "S") this.cubic(this.mirrored(last === "C"), at(0), at(2));
    else if (kind === "Q") this.quadratic(...at(0), ...at(2));
    else if (kind === "T") this.quadratic(...this.mirrored(last === "Q"), ...at(0));
    else this.arc(values, ...at(5));
  }

  private curve(): Curve {
    const curve = this.curves.at(-1);
    if (!curve) throw new BadMarkupError("a path does not begin with M");
    if (!curve.closed) return curve;
    const next = { x: this.x, y: this.y, kinds: [], points: [], closed: false };
    this.curves.push(next);
    return next;
  }

  private mirrored(smooth: boolean): [number, number] {
    return smooth ? [2 * this.x - this.hx, 2 * this.y - this.hy] : [this.x, this.y];
  }

  private line(x: number, y: number): void {
    const { kinds, points } = this.curve();
    kinds.push(1);
    points.push(x, y);
    [this.x, this.y] = [x, y];
  }

  private cubic([ax, ay]: Point, [bx, by]: Point, [x, y]: Point): void {
    const { kinds, points } = this.curve();
    kinds.push(3);
    points.push(ax, ay, bx, by, x, y);
    [this.x, this.y, this.hx, this.hy, this.handle] = [x, y, bx, by, "C"];
  }

  private quadratic(qx: number, qy: number, x: number, y: number): void {
    const [fx, fy] = [this.x, this.y];
    this.cubic(
      [fx + ((qx - fx) * 2) / 3, fy + ((qy - fy) * 2) / 3],
      [x + ((qx - x) * 2) / 3, y + ((qy - y) * 2) / 3],
      [x, y],
    );
    [this.hx, this.hy, this.handle] = [qx, qy, "Q"];
  }

  /** Source: SVG 1.1 appendix F.6, endpoint to centre; a cubic per quarter turn. */
  private arc([rx = 0, ry = 0, degrees = 0, large, sweep]: readonly number[], x: number, y: number): void {
    let [a, b] = [Math.abs(rx), Math.abs(ry)];
    if (a === 0 || b === 0) {
      this.line(x, y);
      return;
    }
    const turn = (degrees * Math.PI) / 180;
    const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
    const [hx, hy] = [(this.x - x) / 2, (this.y - y) / 2];
    const [u, v] = [cos * hx + sin * hy, cos * hy - sin * hx];
    if (u === 0 && v === 0) return;
    const short = Math.sqrt((u / a) ** 2 + (v / b) ** 2);
    if (short > 1) [a, b] = [a * short, b * short];
    const left = (a * b) ** 2 / ((a * v) ** 2 + (b * u) ** 2) - 1;
    const k = Math.sqrt(Math.max(0, left)) * (large === sweep ? -1 : 1);
    const [cu, cv] = [(k * a * v) / b, (-k * b * u) / a];
    const [cx, cy] = [cos * cu - sin * cv + (this.x + x) / 2, sin * cu + cos * cv + (this.y + y) / 2];
    const from = Math.atan2((v - cv) / b, (u - cu) / a);
    let angle = Math.atan2((-v - cv) / b, (-u - cu) / a) - from;
    if (sweep && angle < 0) angle += 2 * Math.PI;
    if (!sweep && angle > 0) angle -= 2 * Math.PI;
    const pieces = Math.max(1, Math.ceil(Math.abs(angle) / (Math.PI / 2) - 1e-9));
    const step = angle / pieces;
    const reach = (4 / 3) * Math.tan(step / 4);
    const place = (p: number, q: number): [number, number] => [
      cx + cos * a * p - sin * b * q,
      cy + sin * a * p + cos * b * q,
    ];
    for (let i = 0; i < pieces; i++) {
      const [s, t] = [from + i * step, from + (i + 1) * step];
      const one = place(Math.cos(s) - reach * Math.sin(s), Math.sin(s) + reach * Math.cos(s));
      const two = place(Math.cos(t) + reach * Math.sin(t), Math.sin(t) - reach * Math.cos(t));
      this.cubic(one, two, i === pieces - 1 ? [x, y] : place(Math.cos(t), Math.sin(t)));
    }
    this.handle = "";
  }
}
