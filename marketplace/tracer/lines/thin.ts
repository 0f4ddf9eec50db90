/**
 * Wears a shape down to its middle lines, one pixel wide. `on` has 1 for the shape's pixels, with a border of 0 around the
 * picture, and keeps it for those that are left, which are returned; null, and nothing kept, for a shape more than about
 * twice `rounds` pixels wide. Source: Guo & Hall, "Parallel Thinning with
 * Two-Subiteration Algorithms" (1989).
 */
export function thin(pixels: Int32Array, on: Uint8Array, stride: number, rounds: number): Int32Array | null {
  const layer = new Layer(pixels, on, stride);
  for (let changed = true, round = 0; changed; round++) {
    changed = false;
    for (const table of goes) if (layer.wear(table)) changed = true;
    if (changed && round >= rounds) {
      for (const q of pixels) on[q] = 0;
      return null;
    }
  }
  return pixels.filter((q) => on[q] === 1);
}

/** The pixels at a shape's edge: only these can go. */
class Layer {
  private readonly on: Uint8Array;
  private readonly stride: number;
  private edge: Int32Array;
  private next: Int32Array;
  private readonly gone: Int32Array;
  private count = 0;

  constructor(pixels: Int32Array, on: Uint8Array, stride: number) {
    this.on = on;
    this.stride = stride;
    this.edge = new Int32Array(pixels.length);
    this.next = new Int32Array(pixels.length);
    this.gone = new Int32Array(pixels.length);
    for (const q of pixels) if (codeOf(on, q, stride) !== 255) this.edge[this.count++] = q;
  }

  /** Takes away the pixels that a table says, all at once; false where there are none. */
  wear(table: Uint8Array): boolean {
    const { on, stride, edge, gone } = this;
    let lost = 0;
    for (let i = 0; i < this.count; i++) if (table[codeOf(on, edge[i], stride)] === 1) gone[lost++] = edge[i];
    if (lost === 0) return false;
    for (let i = 0; i < lost; i++) on[gone[i]] = 0;
    this.advance(lost);
    return true;
  }

  /** The next edge, after `lost` pixels have gone: the rest of this one, and the pixels behind the lost ones. */
  private advance(lost: number): void {
    const { on, stride, edge, next, gone } = this;
    let count = 0;
    for (let i = 0; i < this.count; i++) {
      if (on[edge[i]] !== 1) continue;
      on[edge[i]] = 2;
      next[count++] = edge[i];
    }
    for (let i = 0; i < lost; i++) {
      for (let row = gone[i] - stride, last = gone[i] + stride; row <= last; row += stride) {
        for (let p = row - 1; p <= row + 1; p++) {
          if (on[p] !== 1) continue;
          on[p] = 2;
          next[count++] = p;
        }
      }
    }
    for (let i = 0; i < count; i++) on[next[i]] = 1;
    this.edge = next;
    this.next = edge;
    this.count = count;
  }
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
