import type { Colour } from "../drawing.ts";
import type { Settings } from "../settings.ts";

/** A straight colour of the picture and how much of it there is, px times squared opacity: as much as an error in it counts. */
export interface Sample {
  readonly n: number;
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

/**
 * The palette asked for, or the best `colors` colours for these samples. It is of colours alone: how see-through a place
 * is stays as it was, so that a shadow is the palette's dark, and as faint. Source: greedy pairwise merging (Ward 1963) of
 * the colours, then Lloyd's iteration (1982); no random start, so the same picture gives the same palette.
 */
export function paletteOf(samples: readonly Sample[], { palette, colors }: Settings): readonly Colour[] {
  if (palette) return palette.map(parseColour);
  const clusters = clustersOf(samples);
  const wanted = colors ?? 256;
  while (clusters.length > wanted) joinNearest(clusters);
  return lloyd(
    samples,
    clusters.map(({ n, r, g, b }) => ({ r: r / n, g: g / n, b: b / n, opacity: 1 })),
  );
}

/** Sums of colour, each times how much of it there is. */
interface Cluster {
  n: number;
  r: number;
  g: number;
  b: number;
}

function add(to: Cluster, { n, r, g, b }: Sample): void {
  to.n += n;
  to.r += r * n;
  to.g += g * n;
  to.b += b * n;
}

/** At most a few hundred clusters to begin with: samples of one level each, or gathered in bins of as few as will do. */
function clustersOf(samples: readonly Sample[]): Cluster[] {
  let clusters = binned(samples, 0);
  for (let bits = 1; bits <= 4 && clusters.length > clustersMax; bits++) clusters = binned(samples, bits);
  return clusters.sort((x, y) => y.n - x.n || x.r - y.r || x.g - y.g || x.b - y.b).slice(0, clustersMax);
}

const clustersMax = 512;

/** Joins samples that are equal without their lowest `bits`. */
function binned(samples: readonly Sample[], bits: number): Cluster[] {
  const found = new Map<number, Cluster>();
  for (const sample of samples) {
    const key = ((sample.r >> bits) << 16) | ((sample.g >> bits) << 8) | (sample.b >> bits);
    const bin = found.get(key) ?? { n: 0, r: 0, g: 0, b: 0 };
    add(bin, sample);
    found.set(key, bin);
  }
  return [...found.values()];
}

function joinNearest(clusters: Cluster[]): void {
  let least = Number.POSITIVE_INFINITY;
  let keep = 0;
  let drop = 1;
  for (let i = 0; i < clusters.length; i++) {
    const a = clusters[i];
    for (let j = i + 1; j < clusters.length; j++) {
      const b = clusters[j];
      const distance = (a.r / a.n - b.r / b.n) ** 2 + (a.g / a.n - b.g / b.n) ** 2 + (a.b / a.n - b.b / b.n) ** 2;
      const cost = (distance * a.n * b.n) / (a.n + b.n);
      if (cost < least) {
        least = cost;
        keep = i;
        drop = j;
      }
    }
  }
  const a = clusters[keep];
  const b = clusters[drop];
  clusters[keep] = { n: a.n + b.n, r: a.r + b.r, g: a.g + b.g, b: a.b + b.b };
  clusters.splice(drop, 1);
}

function lloyd(samples: readonly Sample[], centres: Colour[]): Colour[] {
  let colours = centres;
  for (let round = 0; round < 8; round++) {
    const next: Cluster[] = colours.map(() => ({ n: 0, r: 0, g: 0, b: 0 }));
    for (const sample of samples) add(next[nearestColour(colours, sample.r, sample.g, sample.b)], sample);
    colours = next.map(({ n, r, g, b }, i) => (n > 0 ? { r: r / n, g: g / n, b: b / n, opacity: 1 } : colours[i]));
  }
  return mainColours(samples, colours);
}

/** Where most of what a colour stands for has one colour already, that one: white paper stays white. */
function mainColours(samples: readonly Sample[], centres: readonly Colour[]): Colour[] {
  const totals = new Float64Array(centres.length);
  const uses = centres.map(() => new Map<number, number>());
  for (const { n, ...sample } of samples) {
    const centre = nearestColour(centres, sample.r, sample.g, sample.b);
    const level = levelOf(sample);
    totals[centre] += n;
    uses[centre].set(level, (uses[centre].get(level) ?? 0) + n);
  }
  return centres.map((centre, i) => {
    const main = [...uses[i]].find(([, n]) => n > totals[i] / 2);
    return atLevel(main ? main[0] : levelOf(centre));
  });
}

const levelOf = ({ r, g, b }: Omit<Sample, "n">) => (Math.round(r) << 16) | (Math.round(g) << 8) | Math.round(b);
const atLevel = (level: number) => ({ r: level >> 16, g: (level >> 8) & 255, b: level & 255, opacity: 1 });

/** The index of the colour nearest to one. */
export function nearestColour(colours: readonly Colour[], r: number, g: number, b: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < colours.length; i++) {
    const colour = colours[i];
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
  return atLevel(Number.parseInt(text.slice(1), 16));
}
