import type { Colour, Stop } from "../drawing.ts";
import { spline } from "../regions/least-squares.ts";
import { type Box, distance } from "./box-fit.ts";
import type { Shadow } from "./field.ts";

/** Pixels of a glow: how far out each lies, 1 at the rim, and its four premultiplied channels. */
export interface GlowSamples {
  readonly distance: Float64Array;
  readonly colours: Float64Array;
}

/** Some of a window's pixels, as seen from the box that the glow is of. */
export function samplesOf({ x, y, width, bare }: Shadow, box: Box, pixels: Uint8Array, across: number): GlowSamples {
  const places: number[] = [];
  const every = Math.max(1, Math.floor(bare.length / samplesMax)) | 1;
  for (let i = 0; i < bare.length; i += every) if (bare[i] === 1) places.push(i);
  const samples = { distance: new Float64Array(places.length), colours: new Float64Array(places.length * 4) };
  places.forEach((i, k) => {
    const [column, row] = [x + (i % width), y + Math.floor(i / width)];
    samples.distance[k] = distance(box, column + 0.5, row + 0.5);
    const p = (row * across + column) * 4;
    for (let c = 0; c < 4; c++) samples.colours[k * 4 + c] = pixels[p + c];
  });
  return samples;
}

const samplesMax = 1500;

/** The fewest stops that give a glow its colours, from its middle to its rim; null where no few do. */
export function stopsFor(samples: GlowSamples): Stop[] | null {
  const from = samples.distance.reduce((least, d) => Math.min(least, d), 1);
  const inside = samples.distance.map((d) => Math.min(1, d));
  let best = { stops: [] as Stop[], cost: Number.POSITIVE_INFINITY };
  for (let count = 2; count <= stopsMax; count++) {
    const { stops } = spline(inside, samples.colours, { from, to: 1, count }, 1);
    const found = withoutIdle(asStops(stops), samples);
    if (found.cost < best.cost) best = found;
  }
  return missedBy(best.stops, samples) <= offMax ? best.stops : null;
}

const stopsMax = 12;
/** Most the stops may miss the samples by, `missedBy`; and what one more must take off. */
const offMax = 8;
const stopGain = 0.5;

/** The stops without those that take off too little. */
function withoutIdle(stops: Stop[], samples: GlowSamples): { stops: Stop[]; cost: number } {
  const costOf = (some: Stop[]) => missedBy(some, samples) + stopGain * some.length;
  let best = { stops, cost: costOf(stops) };
  for (let fewer = true; fewer; ) {
    fewer = false;
    const { stops: kept } = best;
    for (let k = 1; k + 1 < kept.length; k++) {
      const some = kept.toSpliced(k, 1);
      const cost = costOf(some);
      if (cost >= best.cost) continue;
      best = { stops: some, cost };
      fewer = true;
    }
  }
  return best;
}

/**
 * What stops that fill `size` times a glow's box miss its samples by, as seen on white and on black: root mean square over
 * the three colours together, levels.
 */
export function missedBy(stops: readonly Stop[], { distance: distances, colours }: GlowSamples, size = 1): number {
  let sum = 0;
  for (let i = 0; i < distances.length; i++) {
    const along = distances[i] / size;
    let k = 1;
    while (k + 1 < stops.length && stops[k].offset < along) k++;
    const [one, other] = [stops[k - 1].colour, stops[k].colour];
    const share = Math.max(0, Math.min(1, (along - stops[k - 1].offset) / (stops[k].offset - stops[k - 1].offset)));
    const mixed = (a: number, b: number) => a + (b - a) * share;
    const opacity = mixed(one.opacity, other.opacity);
    const alphaOff = 255 * opacity - colours[i * 4 + 3];
    for (let c = 0; c < 3; c++) {
      const off = opacity * mixed(level(one, c), level(other, c)) - colours[i * 4 + c];
      sum += (off ** 2 + (off - alphaOff) ** 2) / 2;
    }
  }
  return Math.sqrt(sum / distances.length);
}

/** Of how many times a glow's box these stops are the colours, about: the one that misses least. */
export function sizeFor(stops: readonly Stop[], samples: GlowSamples): number {
  let best = { size: 1, off: missedBy(stops, samples) };
  for (let step = largestStep; step >= smallestStep; step /= 2) {
    for (const size of [best.size / (1 + step), best.size * (1 + step)]) {
      const off = missedBy(stops, samples, size);
      if (off < best.off) best = { size, off };
    }
  }
  return best.size;
}

const largestStep = 0.32;
const smallestStep = 0.01;

function level({ r, g, b }: Colour, channel: number): number {
  return channel === 0 ? r : channel === 1 ? g : b;
}

/** Premultiplied places of a spline as stops of straight colours; the last is the rim's, where nothing is left. */
function asStops(places: Float64Array): Stop[] {
  const stops: Stop[] = [];
  for (let at = 0; at < places.length; at += 5) {
    const alpha = Math.max(0, Math.min(255, places[at + 4]));
    const isRim = at + 5 === places.length;
    const before = stops.at(-1)?.colour;
    const level = (c: number) => Math.round(Math.max(0, Math.min(255, (places[at + 1 + c] / alpha) * 255)));
    const own = isRim || alpha < tellingMin ? before : { r: level(0), g: level(1), b: level(2) };
    const opacity = isRim ? 0 : Math.round((alpha / 255) * 1000) / 1000;
    stops.push({ offset: places[at], colour: { r: 0, g: 0, b: 0, ...own, opacity } });
  }
  return inOneColour(stops);
}

/** Less opaque, a place's colour is not told. */
const tellingMin = 12;

/** The stops in their mean colour, where all are nearly that. */
function inOneColour(stops: Stop[]): Stop[] {
  const total = stops.reduce((sum, { colour }) => sum + colour.opacity, 0);
  const mean = (c: "r" | "g" | "b") =>
    Math.round(stops.reduce((sum, { colour }) => sum + colour[c] * colour.opacity, 0) / total);
  const one = { r: mean("r"), g: mean("g"), b: mean("b") };
  const isNear = ({ r, g, b }: Colour) => Math.max(Math.abs(r - one.r), Math.abs(g - one.g), Math.abs(b - one.b)) <= 10;
  if (!stops.every(({ colour }) => isNear(colour))) return stops;
  return stops.map(({ offset, colour }) => ({ offset, colour: { ...one, opacity: colour.opacity } }));
}
