import { solve } from "./least-squares.ts";
import { fitPlain, fitSamples, type Radial, type Samples } from "./radial-fit.ts";
import { opacityAt, type Spot, type Spotted, spottedColour } from "./spots.ts";

/**
 * The gradient with soft spots on it that is nearest to sampled pixels of an opaque area, and its cost: squared error over `total`
 * pixels, all that is to be written counted in. Null where no spot is worth it, or the cost is `most` at least. A spot lies where
 * the gradient misses most; its place is bettered by pattern search, as a gradient's centre is; then the gradient is fitted again to
 * what lies beneath the spots.
 */
export function fitSpotted(
  samples: Samples,
  total: number,
  lambda: number,
  most: number,
): { fill: Spotted; cost: number } | null {
  if (most <= (spotWorth + 2 * stopWorth) * lambda) return null;
  // A gradient of many stops may have been bent to what is a spot.
  const plain = fitFrom(fitPlain(samples) ?? evenBase(samples), samples, total, lambda, most);
  return fitFrom(baseOf(samples, total, lambda), samples, total, lambda, plain?.cost ?? most) ?? plain;
}

function fitFrom(
  start: Radial,
  samples: Samples,
  total: number,
  lambda: number,
  most: number,
): { fill: Spotted; cost: number } | null {
  const costOf = (error: number, spots: number) => (error * total) / samples.x.length + spots * spotWorth * lambda;
  let base = start;
  let spots: readonly Spot[] = [];
  let best: { fill: Spotted; cost: number } | null = null;
  let least = costOf(errorOf({ base, spots }, samples), 0);
  // No spot saves more than what is missed.
  while (spots.length < spotsMax && least > spotWorth * lambda && spots.length * spotWorth * lambda < most) {
    const found = nextSpot({ base, spots }, samples);
    if (!found) break;
    spots = [...spots, found];
    const refitted = baseOf(beneath(samples, spots), total, lambda);
    if (errorOf({ base: refitted, spots }, samples) < errorOf({ base, spots }, samples)) base = refitted;
    spots = refined({ base, spots }, samples);
    const cost = costOf(errorOf({ base, spots }, samples), spots.length) + (base.stops.length / 5) * stopWorth * lambda;
    if (cost >= least) break;
    least = cost;
    if (cost < most) best = { fill: { base, spots }, cost };
  }
  return best;
}

/** What a spot costs, and a stop of the gradient beneath, in lambdas. */
const spotWorth = 120;
const stopWorth = 25;
const spotsMax = 4;

/** The gradient nearest to the samples; one colour where they hardly differ. */
function baseOf(samples: Samples, total: number, lambda: number): Radial {
  return fitSamples(samples, true, total, lambda)?.radial ?? evenBase(samples);
}

function evenBase({ colours }: Samples): Radial {
  const n = colours.length / 4;
  const mean = [0, 0, 0, 0];
  for (let i = 0; i < colours.length; i++) mean[i & 3] += colours[i] / n;
  return { cx: 0, cy: 0, r: 1, towards: { dx: 1, dy: 0 }, stops: Float64Array.of(0, ...mean, 1, ...mean) };
}

/** The samples as they would be without the spots; those that these hide are left out. */
function beneath({ x, y, colours }: Samples, spots: readonly Spot[]): Samples {
  const kept: number[] = [];
  const bare = colours.slice();
  for (let i = 0; i < x.length; i++) {
    let hidden = 0;
    for (let s = spots.length - 1; s >= 0; s--) {
      const opacity = opacityAt(spots[s], x[i], y[i]);
      hidden = Math.max(hidden, opacity);
      if (opacity > hiddenMax) break;
      for (let c = 0; c < 3; c++) {
        const at = i * 4 + c;
        bare[at] = Math.max(0, Math.min(255, (bare[at] - spots[s].colour[c] * opacity) / (1 - opacity)));
      }
    }
    if (hidden <= hiddenMax) kept.push(i);
  }
  return {
    x: Float64Array.from(kept, (i) => x[i]),
    y: Float64Array.from(kept, (i) => y[i]),
    colours: Float64Array.from({ length: kept.length * 4 }, (_, at) => bare[kept[at >> 2] * 4 + (at & 3)]),
  };
}

const hiddenMax = 0.4;

const colour = new Float64Array(4);

/** What a fill misses each sample by, three channels. */
function missed(fill: Spotted, { x, y, colours }: Samples): Float64Array {
  const off = new Float64Array(x.length * 3);
  for (let i = 0; i < x.length; i++) {
    spottedColour(fill, x[i], y[i], colour);
    for (let c = 0; c < 3; c++) off[i * 3 + c] = colours[i * 4 + c] - colour[c];
  }
  return off;
}

function errorOf(fill: Spotted, samples: Samples): number {
  return missed(fill, samples).reduce((sum, v) => sum + v * v, 0);
}

/** An ellipse as a place to look for a spot. */
type Place = Pick<Spot, "cx" | "cy" | "rx" | "ry">;

/** The spot that takes off most of what is missed; null where nothing stands out. */
function nextSpot(fill: Spotted, samples: Samples): Spot | null {
  const off = missed(fill, samples);
  const start = standingOut(samples, off);
  return start && spotAt(bestPlace(start.place, samples, off, start.way), fill, samples, off, start.way);
}

/** Each spot again, with all the others in place. */
function refined({ base, spots }: Spotted, samples: Samples): readonly Spot[] {
  const kept = [...spots];
  for (let s = 0; s < kept.length; s++) {
    const others = { base, spots: kept.toSpliced(s, 1) };
    const off = missed(others, samples);
    const { cx, cy, rx, ry } = kept[s];
    const way = meanWay(samples, off, { cx, cy, rx, ry });
    const found = way && spotAt(bestPlace({ cx, cy, rx, ry }, samples, off, way), others, samples, off, way);
    if (!found) continue;
    const spotted = { base, spots: kept.toSpliced(s, 1, found) };
    if (errorOf(spotted, samples) < errorOf({ base, spots: kept }, samples)) kept[s] = found;
  }
  return kept;
}

const cellsAcross = 14;

/** Where the samples are most unlike the fill, all in about one way, and that way as a unit vector. */
function standingOut({ x, y }: Samples, off: Float64Array): { place: Place; way: number[] } | null {
  const [left, right, top, bottom] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const size = Math.max(right - left, bottom - top, 1) / cellsAcross;
  const across = Math.floor((right - left) / size) + 1;
  const down = Math.floor((bottom - top) / size) + 1;
  const cellOf = (i: number) => Math.floor((y[i] - top) / size) * across + Math.floor((x[i] - left) / size);
  const sums = new Float64Array(across * down * 4);
  for (let i = 0; i < x.length; i++) {
    const at = cellOf(i) * 4;
    sums[at]++;
    for (let c = 0; c < 3; c++) sums[at + 1 + c] += off[i * 3 + c];
  }
  let seed = -1;
  let most = 0;
  for (let cell = 0; cell < across * down; cell++) {
    const [n, r, g, b] = sums.subarray(cell * 4, cell * 4 + 4);
    const stands = n < 2 ? 0 : (r * r + g * g + b * b) / n;
    if (stands > most) [seed, most] = [cell, stands];
  }
  if (seed < 0) return null;
  const peak = sums.subarray(seed * 4 + 1, seed * 4 + 4).map((v) => v / sums[seed * 4]);
  const length = Math.hypot(...peak);
  if (length < levelsMin) return null;
  const way = Array.from(peak, (v) => v / length);
  const along = (cell: number) =>
    sums[cell * 4] === 0
      ? -1
      : (sums[cell * 4 + 1] * way[0] + sums[cell * 4 + 2] * way[1] + sums[cell * 4 + 3] * way[2]) / sums[cell * 4];
  const cells = new Set([seed]);
  for (const cell of cells) {
    const column = cell % across;
    for (const [next, is] of [
      [cell - 1, column > 0],
      [cell + 1, column < across - 1],
      [cell - across, cell >= across],
      [cell + across, cell < across * (down - 1)],
    ] as const) {
      if (is && along(next) > shareMin * length) cells.add(next);
    }
  }
  return { place: placeOf(cells, cellOf, { x, y }, off, way, size), way };
}

/** What stands out, levels; and how much of its peak belongs to it. */
const levelsMin = 3;
const shareMin = 0.3;

/** The ellipse of a cone that is spread as the cells' samples are. */
function placeOf(
  cells: ReadonlySet<number>,
  cellOf: (i: number) => number,
  { x, y }: Pick<Samples, "x" | "y">,
  off: Float64Array,
  way: readonly number[],
  size: number,
): Place {
  let [n, sx, sy, xx, yy] = [1e-9, 0, 0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    if (!cells.has(cellOf(i))) continue;
    const weight = Math.max(0, off[i * 3] * way[0] + off[i * 3 + 1] * way[1] + off[i * 3 + 2] * way[2]);
    n += weight;
    sx += weight * x[i];
    sy += weight * y[i];
    xx += weight * x[i] * x[i];
    yy += weight * y[i] * y[i];
  }
  const [cx, cy] = [sx / n, sy / n];
  const reach = (squares: number, middle: number) =>
    Math.max(size, coneReach * Math.sqrt(Math.max(0, squares / n - middle * middle)));
  return { cx, cy, rx: reach(xx, cx), ry: reach(yy, cy) };
}

/** A cone's radius, in standard deviations along an axis. */
const coneReach = 2.6;

/** The way in which what lies in a place is missed, as a unit vector. */
function meanWay({ x, y }: Samples, off: Float64Array, place: Place): number[] | null {
  const sum = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    const far = ((x[i] - place.cx) / place.rx) ** 2 + ((y[i] - place.cy) / place.ry) ** 2;
    for (let c = 0; far < 1 && c < 3; c++) sum[c] += off[i * 3 + c] * (1 - far);
  }
  const length = Math.hypot(...sum);
  return length > 0 ? sum.map((v) => v / length) : null;
}

/** The place, near the one given, at which a spot takes off most. */
function bestPlace(start: Place, samples: Samples, off: Float64Array, way: readonly number[]): Place {
  let best = start;
  let gain = profileAt(best, samples, off, way).gain;
  for (let step = 0.4; step > 0.03; step /= 2) {
    for (let moves = 0, moved = true; moved && moves < 4; moves++) {
      moved = false;
      for (const next of around(best, step)) {
        const found = profileAt(next, samples, off, way).gain;
        if (found <= gain) continue;
        [best, gain, moved] = [next, found, true];
      }
    }
  }
  return best;
}

function around({ cx, cy, rx, ry }: Place, step: number): Place[] {
  const wider = 1 + step;
  return [
    { cx: cx + rx * step, cy, rx, ry },
    { cx: cx - rx * step, cy, rx, ry },
    { cx, cy: cy + ry * step, rx, ry },
    { cx, cy: cy - ry * step, rx, ry },
    { cx, cy, rx: rx * wider, ry },
    { cx, cy, rx: rx / wider, ry },
    { cx, cy, rx, ry: ry * wider },
    { cx, cy, rx, ry: ry / wider },
  ];
}

/** Stops of a spot, evenly laid, the rim's left out. */
const knots = 3;

/** How far a spot goes along `way` at each stop, levels, and how much of the squared error that takes off. */
function profileAt(
  { cx, cy, rx, ry }: Place,
  { x, y }: Samples,
  off: Float64Array,
  way: readonly number[],
): { levels: Float64Array; gain: number } {
  const normal = new Float64Array(knots * knots);
  const right = new Float64Array(knots);
  for (let i = 0; i < x.length; i++) {
    const [u, v] = [(x[i] - cx) / rx, (y[i] - cy) / ry];
    const far = u * u + v * v;
    if (far >= 1) continue;
    const along = Math.sqrt(far) * knots;
    const k = Math.floor(along);
    const share = along - k;
    const value = off[i * 3] * way[0] + off[i * 3 + 1] * way[1] + off[i * 3 + 2] * way[2];
    normal[k * knots + k] += (1 - share) ** 2;
    right[k] += (1 - share) * value;
    if (k + 1 === knots) continue;
    normal[k * knots + k + 1] += share * (1 - share);
    normal[(k + 1) * knots + k] += share * (1 - share);
    normal[(k + 1) * knots + k + 1] += share * share;
    right[k + 1] += share * value;
  }
  for (let k = 0; k < knots; k++) normal[k * knots + k] += 1e-3;
  const levels = right.slice();
  if (!solve(normal.slice(), levels, knots, 1)) return { levels, gain: 0 };
  for (let k = 0; k < knots; k++) levels[k] = Math.max(0, levels[k]);
  let gain = 0;
  for (let k = 0; k < knots; k++) {
    gain += 2 * levels[k] * right[k];
    for (let j = 0; j < knots; j++) gain -= levels[k] * normal[k * knots + j] * levels[j];
  }
  return { levels, gain };
}

/** The spot of a place: of several colours, the more opaque the nearer to what it covers, the one that misses least. */
function spotAt(place: Place, fill: Spotted, samples: Samples, off: Float64Array, way: readonly number[]): Spot | null {
  const { levels } = profileAt(place, samples, off, way);
  const most = Math.max(...levels);
  if (most < levelsMin) return null;
  let best: { spot: Spot; error: number } | null = null;
  for (const beyond of [1, 1.4, 2, 3.2]) {
    const opacity = [...levels, 0].map((level) => level / (most * beyond));
    const spot = { ...place, opacity, colour: colourFor({ ...place, opacity, colour: [] }, samples, off) };
    const error = errorOf({ base: fill.base, spots: [...fill.spots, spot] }, samples);
    if (!best || error < best.error) best = { spot, error };
  }
  return best?.spot ?? null;
}

/** The colour that a spot on a fill misses least with. */
function colourFor(spot: Spot, { x, y, colours }: Samples, off: Float64Array): number[] {
  let n = 1e-9;
  const sums = [0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    const opacity = opacityAt(spot, x[i], y[i]);
    if (opacity === 0) continue;
    n += opacity * opacity;
    for (let c = 0; c < 3; c++) {
      const under = colours[i * 4 + c] - off[i * 3 + c];
      sums[c] += opacity * (off[i * 3 + c] + opacity * under);
    }
  }
  return sums.map((sum) => Math.max(0, Math.min(255, sum / n)));
}
