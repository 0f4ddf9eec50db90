import type { Outline } from "../drawing.ts";

type Mutable = { -readonly [Key in keyof Outline]: Outline[Key] };

interface Arc {
  readonly r: number;
  readonly large: boolean;
  readonly clockwise: boolean;
  readonly dx: number;
  readonly dy: number;
}

/** The point in the middle of an arc from (x, y). */
function halfWay(x: number, y: number, { r, large, clockwise, dx, dy }: Arc): [number, number] {
  const chord = Math.hypot(dx, dy);
  const rest = Math.sqrt(Math.max(0, r * r - (chord * chord) / 4));
  const height = (large ? r + rest : r - rest) * (clockwise ? 1 : -1);
  return [x + dx / 2 + (dy / chord) * height, y + dy / 2 - (dx / chord) * height];
}

/** Path data in the commands that `writeSvg` uses. */
export function outlinesOf(d: string): Outline[] {
  const outlines: Mutable[] = [];
  const pen = { x: 0, y: 0 };
  let handle = { x: 0, y: 0 };
  let [kinds, points]: [number[], number[]] = [[], []];
  const to = (kind: 1 | 2 | 3, ...more: number[]) => {
    kinds.push(kind);
    points.push(...more);
    [pen.x, pen.y] = more.slice(-2);
  };
  for (const [, command, text] of d.matchAll(/([MmLlHhVvCcSsQqTtAaZz])([^a-zA-Z]*)/g)) {
    const values = (text.match(/-?\d+/g) ?? []).map(Number);
    const steps = { M: 2, m: 2, l: 2, h: 1, v: 1, c: 6, s: 4, q: 4, t: 2, a: 7 }[command] ?? 0;
    if (command === "z") {
      const last = outlines.at(-1)!;
      [pen.x, pen.y] = [last.x, last.y];
      delete last.open;
    }
    for (let i = 0; steps > 0 && i + steps <= values.length; i += steps) {
      const [a, b, c, e, f, g, h] = values.slice(i, i + steps);
      const { x, y } = pen;
      if (command === "M" || command === "m") {
        [pen.x, pen.y] = command === "M" ? [a, b] : [x + a, y + b];
        [kinds, points] = [[], []];
        outlines.push({ x: pen.x, y: pen.y, kinds, points, open: true });
      } else if (command === "l") to(1, x + a, y + b);
      else if (command === "h") to(1, x + a, y);
      else if (command === "v") to(1, x, y + a);
      else if (command === "a")
        to(2, ...halfWay(x, y, { r: a, large: e === 1, clockwise: f === 1, dx: g, dy: h }), x + g, y + h);
      else if (command === "q" || command === "t") {
        const [qx, qy] = command === "q" ? [x + a, y + b] : [2 * x - handle.x, 2 * y - handle.y];
        const [ex, ey] = command === "q" ? [x + c, y + e] : [x + a, y + b];
        handle = { x: qx, y: qy };
        to(3, (x + 2 * qx) / 3, (y + 2 * qy) / 3, (ex + 2 * qx) / 3, (ey + 2 * qy) / 3, ex, ey);
      } else {
        const smooth = command === "s";
        const [bx, by, ex, ey] = smooth ? [a, b, c, e] : [c, e, f, g];
        const first = smooth ? [2 * x - handle.x, 2 * y - handle.y] : [x + a, y + b];
        handle = { x: x + bx, y: y + by };
        to(3, ...first, handle.x, handle.y, x + ex, y + ey);
      }
    }
  }
  return outlines;
}
