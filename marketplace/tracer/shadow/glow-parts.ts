/** A premultiplied picture. */
export interface Picture {
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Fewest pixels of a part, and most levels between neighbours. */
const sizeMin = 60;
const stepMax = 64;

/** The pixels of each part that has nothing around it and no edge, the largest part first. */
export function softParts({ pixels, width, height }: Picture): Int32Array[] {
  const seen = new Uint8Array(width * height);
  const found = new Int32Array(width * height);
  const parts: Int32Array[] = [];
  for (let first = 0, from = 0, to = 0; first < seen.length; first++, from = to) {
    if (seen[first] === 1 || pixels[first * 4 + 3] === 0) continue;
    let soft = true;
    seen[first] = 1;
    found[to++] = first;
    for (let i = from; i < to; i++) {
      const p = found[i];
      const x = p % width;
      for (const q of [x > 0 ? p - 1 : -1, x + 1 < width ? p + 1 : -1, p - width, p + width]) {
        if (q < 0 || q >= seen.length) continue;
        if (soft && stepBetween(pixels, p, q) > stepMax) soft = false;
        if (seen[q] === 1 || pixels[q * 4 + 3] === 0) continue;
        seen[q] = 1;
        found[to++] = q;
      }
    }
    if (soft && to - from >= sizeMin) parts.push(found.slice(from, to));
  }
  return parts.sort((a, b) => b.length - a.length || a[0] - b[0]);
}

function stepBetween(pixels: Uint8Array, p: number, q: number): number {
  let most = 0;
  for (let c = 0; c < 4; c++) most = Math.max(most, Math.abs(pixels[p * 4 + c] - pixels[q * 4 + c]));
  return most;
}

/** How opaque parts may be where they touch, levels, and how far from there that shows, px. */
const faintest = [6, 12, 24, 48];
const seamWidth = 3;
/** Most parts one is taken apart into, and the fewest pixels at the middle of each. */
const coresMax = 16;
const coreMin = 12;

/** Takes a part of a picture apart where it is faint between middles that are less so. */
export class Separation {
  private readonly picture: Picture;
  /** Per pixel: which middle it lies nearest to, `open` until that is known, `outside` beyond the part. */
  private readonly owner: Int32Array;

  constructor(picture: Picture) {
    this.picture = picture;
    this.owner = new Int32Array(picture.width * picture.height).fill(outside);
  }

  /** The pixels that lie nearest to each middle, and those at which two of them meet; null where there is one middle. */
  of(part: Int32Array): { parts: Int32Array[]; seam: number[] } | null {
    const { owner } = this;
    let front: number[] = [];
    let count = 0;
    for (const alpha of faintest) {
      for (const p of part) owner[p] = open;
      [front, count] = this.cores(part, alpha);
      if (count > 1) break;
    }
    const isApart = count > 1 && count <= coresMax;
    if (isApart) this.grow(front);
    const parts = Array.from({ length: isApart ? count : 0 }, (_, k) => part.filter((p) => owner[p] === k));
    const seam = isApart ? this.seam(part) : [];
    for (const p of part) owner[p] = outside;
    return isApart ? { parts, seam } : null;
  }

  /** Numbers what hangs together of pixels that are at least so opaque; all of these pixels, and how many middles there are. */
  private cores(part: Int32Array, alpha: number): [number[], number] {
    const { owner, picture } = this;
    const all: number[] = [];
    let count = 0;
    for (const first of part) {
      if (owner[first] !== open || picture.pixels[first * 4 + 3] < alpha) continue;
      const from = all.push(first) - 1;
      owner[first] = count;
      for (let i = from; i < all.length; i++) {
        for (const q of this.beside(all[i])) {
          if (owner[q] !== open || picture.pixels[q * 4 + 3] < alpha) continue;
          owner[q] = count;
          all.push(q);
        }
      }
      if (all.length - from >= coreMin) count++;
      else for (const p of all.splice(from)) owner[p] = open;
    }
    return [all, count];
  }

  private grow(front: number[]): void {
    const { owner } = this;
    for (let i = 0; i < front.length; i++) {
      for (const q of this.beside(front[i])) {
        if (owner[q] !== open) continue;
        owner[q] = owner[front[i]];
        front.push(q);
      }
    }
  }

  private seam(part: Int32Array): number[] {
    const { owner, picture } = this;
    const found = new Set<number>();
    for (const p of part) {
      if (!this.beside(p).some((q) => owner[q] >= 0 && owner[q] !== owner[p])) continue;
      for (let dy = -seamWidth; dy <= seamWidth; dy++)
        for (let dx = -seamWidth; dx <= seamWidth; dx++) found.add(p + dy * picture.width + dx);
    }
    return [...found];
  }

  private beside(p: number): number[] {
    const { width } = this.picture;
    const x = p % width;
    return [...(x > 0 ? [p - 1] : []), ...(x + 1 < width ? [p + 1] : []), p - width, p + width];
  }
}

const outside = -2;
const open = -1;
