import { stride } from "./colour-model.ts";
import type { Colour } from "./drawing.ts";
import type { Settings } from "./options.ts";

/** The only colours to be used. The entry after the last stands for transparent. */
export interface Palette {
  readonly colours: readonly Colour[];
}

/**
 * The palette asked for, or the best `colors` colours for these areas. Source: greedy pairwise merging (Ward 1963) of the
 * areas' colours, then Lloyd's iteration (1982); no random start, so the same picture gives the same palette.
 */
export function paletteOf(sums: Float64Array, count: number, { palette, colors }: Settings): Palette {
  if (palette) return { colours: palette.map(parseColour) };
  const clusters = bins(sums, count);
  const wanted = colors ?? 256;
  while (clusters.length > wanted) joinNearest(clusters);
  const centres = clusters.map(({ n, r, g, b }) => ({ r: r / n, g: g / n, b: b / n, opacity: 1 }));
  return { colours: lloyd(sums, count, centres) };
}

/** The palette entry nearest to each area's mean colour; the entry after the last for areas mostly transparent. */
export function assignPalette(sums: Float64Array, count: number, { colours }: Palette): Int32Array {
  const entries = new Int32Array(count);
  for (let a = 0; a < count; a++) {
    const { r, g, b, alpha } = meanOf(sums, a);
    entries[a] = alpha < 128 ? colours.length : nearestColour(colours, r, g, b);
  }
  return entries;
}

interface Cluster {
  n: number;
  r: number;
  g: number;
  b: number;
}

function meanOf(sums: Float64Array, a: number) {
  const o = a * stride;
  const alpha = sums[o + 15]!;
  const scale = alpha > 0 ? 255 / alpha : 0;
  return { r: sums[o + 6]! * scale, g: sums[o + 9]! * scale, b: sums[o + 12]! * scale, alpha: alpha / sums[o]! };
}

/** Area colours gathered in bins of 16 levels: at most a few hundred clusters to begin with. */
function bins(sums: Float64Array, count: number): Cluster[] {
  const found = new Map<number, Cluster>();
  for (let a = 0; a < count; a++) {
    const { r, g, b, alpha } = meanOf(sums, a);
    if (alpha < 128) continue;
    const n = sums[a * stride]!;
    const key = ((r >> 4) << 8) | ((g >> 4) << 4) | (b >> 4);
    const bin = found.get(key);
    if (bin) {
      bin.n += n;
      bin.r += r * n;
      bin.g += g * n;
      bin.b += b * n;
    } else found.set(key, { n, r: r * n, g: g * n, b: b * n });
  }
  const all = [...found.values()].sort((x, y) => y.n - x.n || x.r - y.r || x.g - y.g || x.b - y.b);
  return all.slice(0, 512);
}

function joinNearest(clusters: Cluster[]): void {
  let least = Number.POSITIVE_INFINITY;
  let keep = 0;
  let drop = 1;
  for (let i = 0; i < clusters.length; i++) {
    const a = clusters[i]!;
    for (let j = i + 1; j < clusters.length; j++) {
      const b = clusters[j]!;
      const distance = (a.r / a.n - b.r / b.n) ** 2 + (a.g / a.n - b.g / b.n) ** 2 + (a.b / a.n - b.b / b.n) ** 2;
      const cost = (distance * a.n * b.n) / (a.n + b.n);
      if (cost < least) {
        least = cost;
        keep = i;
        drop = j;
      }
    }
  }
  const a = clusters[keep]!;
  const b = clusters[drop]!;
  clusters[keep] = { n: a.n + b.n, r: a.r + b.r, g: a.g + b.g, b: a.b + b.b };
  clusters.splice(drop, 1);
}

function lloyd(sums: Float64Array, count: number, centres: Colour[]): Colour[] {
  let colours = centres;
  for (let round = 0; round < 8; round++) {
    const next: Cluster[] = colours.map(() => ({ n: 0, r: 0, g: 0, b: 0 }));
    for (let a = 0; a < count; a++) {
      const { r, g, b, alpha } = meanOf(sums, a);
      if (alpha < 128) continue;
      const n = sums[a * stride]!;
      const cluster = next[nearestColour(colours, r, g, b)]!;
      cluster.n += n;
      cluster.r += r * n;
      cluster.g += g * n;
      cluster.b += b * n;
    }
    colours = next.map(({ n, r, g, b }, i) => (n > 0 ? { r: r / n, g: g / n, b: b / n, opacity: 1 } : colours[i]!));
  }
  return colours.map(({ r, g, b }) => ({ r: Math.round(r), g: Math.round(g), b: Math.round(b), opacity: 1 }));
}

/** The index of the colour nearest to one. */
export function nearestColour(colours: readonly Colour[], r: number, g: number, b: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < colours.length; i++) {
    const colour = colours[i]!;
    const distance = (colour.r - r) ** 2 + (colour.g - g) ** 2 + (colour.b - b) ** 2;
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

/** `#rrggbb` as a colour. */
export function parseColour(text: string): Colour {
  const value = Number.parseInt(text.slice(1), 16);
  return { r: value >> 16, g: (value >> 8) & 255, b: value & 255, opacity: 1 };
}
