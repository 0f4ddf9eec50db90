/**
 * Wears a shape down to its middle lines, one pixel wide. `on` has 1 for the shape's pixels, with a border of 0 around the
 * picture, and keeps it for those that are left, which are returned; null, and nothing kept, for a shape more than about
 * twice `rounds` pixels wide. Source: Guo & Hall, "Parallel Thinning with
 * Two-Subiteration Algorithms" (1989).
 */
export function thin(pixels: Int32Array, on: Uint8Array, stride: number, rounds: number): Int32Array | null {
  // Only pixels at the edge can go.
  let edge: Int32Array = pixels.filter((q) => codeOf(on, q, stride) !== 255);
  for (let changed = true, round = 0; changed; round++) {
    changed = false;
    for (const table of goes) {
      const gone = edge.filter((q) => table[codeOf(on, q, stride)] === 1);
      if (gone.length === 0) continue;
      changed = true;
      for (const q of gone) on[q] = 0;
      edge = nextEdge(edge, gone, on, stride);
    }
    if (changed && round >= rounds) {
      for (const q of pixels) on[q] = 0;
      return null;
    }
  }
  return pixels.filter((q) => on[q] === 1);
}

/** The edge after some of it has gone: what is left of it, and what lay behind. */
function nextEdge(edge: Int32Array, gone: Int32Array, on: Uint8Array, stride: number): Int32Array {
  const next: number[] = [];
  for (const q of edge) {
    if (on[q] !== 1) continue;
    on[q] = 2;
    next.push(q);
  }
  for (const q of gone) {
    for (let row = q - stride; row <= q + stride; row += stride) {
      for (let p = row - 1; p <= row + 1; p++) {
        if (on[p] !== 1) continue;
        on[p] = 2;
        next.push(p);
      }
    }
  }
  for (const q of next) on[q] = 1;
  return Int32Array.from(next);
}

/** Steps to the eight neighbours, clockwise from above. */
export function neighboursOf(stride: number): readonly number[] {
  return [-stride, 1 - stride, 1, 1 + stride, stride, stride - 1, -1, -1 - stride];
}

function codeOf(on: Uint8Array, q: number, stride: number): number {
  const [above, below] = [q - stride, q + stride];
  return (
    on[above] |
    (on[above + 1] << 1) |
    (on[q + 1] << 2) |
    (on[below + 1] << 3) |
    (on[below] << 4) |
    (on[below - 1] << 5) |
    (on[q - 1] << 6) |
    (on[above - 1] << 7)
  );
}

/** How often a walk round the pixel steps onto the line: 1 at an end, 2 along it, more where lines meet. */
export function crossings(on: Uint8Array, q: number, around: readonly number[]): number {
  let n = 0;
  for (let k = 0; k < 8; k++) if (on[q + around[k]] === 0 && on[q + around[(k + 1) & 7]] === 1) n++;
  return n;
}

/** Which pixels go, by their neighbours, in each of the two turns. */
const goes = [0, 1].map((turn) => Uint8Array.from({ length: 256 }, (_, code) => (isSpare(code, turn) ? 1 : 0)));

function isSpare(code: number, turn: number): boolean {
  const [p2, p3, p4, p5, p6, p7, p8, p9] = Array.from({ length: 8 }, (_, k) => ((code >> k) & 1) === 1);
  const count = (...all: boolean[]) => all.filter(Boolean).length;
  const parts = count(!p2 && (p3 || p4), !p4 && (p5 || p6), !p6 && (p7 || p8), !p8 && (p9 || p2));
  const n = Math.min(count(p9 || p2, p3 || p4, p5 || p6, p7 || p8), count(p2 || p3, p4 || p5, p6 || p7, p8 || p9));
  const kept = turn === 0 ? (p6 || p7 || !p9) && p8 : (p2 || p3 || !p5) && p4;
  return parts === 1 && n >= 2 && n <= 3 && !kept;
}
