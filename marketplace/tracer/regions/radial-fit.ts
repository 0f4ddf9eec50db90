import { opaqueMin } from "../drawing.ts";
import { solve, spline } from "./least-squares.ts";

/** A radial gradient of premultiplied colours: px of the picture, stops at rising offsets from the centre, 0..1 of `r`. */
export interface Radial {
  readonly cx: number;
  readonly cy: number;
  readonly r: number;
  /** A linear gradient instead, from (cx, cy) this way. */
  readonly towards?: { readonly dx: number; readonly dy: number };
  /** Per stop: offset, then four channels. */
  readonly stops: Float64Array;
}

/** The cost of one more stop, in lambdas (merge.ts): its bytes, at the price of a pixel of outline. */
const stopWorth = 25;
/** How many stops, and where the last is, as a share of the way out: beyond it the colour stays. */
const knotPlaces = [
  ...[1, 0.88, 0.76, 0.6].flatMap((end) => [2, 3].map((knots) => [knots, end] as const)),
  [5, 1] as const,
];
const bins = 12;

/** How many stops for a linear gradient that is not a single plane. */
const straightKnots = [3, 4, 5, 7];

/** Sampled pixels: their middles, px, and colours. */
export interface Samples {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Four channels each. */
  readonly colours: Float64Array;
}

interface Fit {
  readonly radial: Radial;
  readonly cost: number;
}

/**
 * The radial gradient, or the linear one of several stops, nearest to sampled pixels, and its cost: squared error over
 * `total` pixels, its stops counted in. Null where the colours neither bend round a centre near by nor change in one
 * direction. The centre comes from a least-squares paraboloid and is bettered by pattern search (Hooke & Jeeves 1961) on the
 * spread of colours within rings; the colours are a least-squares linear spline of the distance.
 */
export function fitRadial(
  places: Int32Array,
  pixels: Uint8Array,
  width: number,
  total: number,
  lambda: number,
): Fit | null {
  // What fades away is a shadow's or a glow's, which have a middle.
  const isOpaque = places.every((p) => pixels[p * 4 + 3] >= opaqueMin);
  return fitSamples(samplesAt(places, pixels, width), isOpaque, total, lambda);
}

export function samplesAt(places: Int32Array, pixels: Uint8Array, width: number): Samples {
  const n = places.length;
  const samples = { x: new Float64Array(n), y: new Float64Array(n), colours: new Float64Array(n * 4) };
  for (let i = 0; i < n; i++) {
    const p = places[i];
    samples.x[i] = (p % width) + 0.5;
    samples.y[i] = Math.floor(p / width) + 0.5;
    for (let c = 0; c < 4; c++) samples.colours[i * 4 + c] = pixels[p * 4 + c];
  }
  return samples;
}

/** As `fitRadial`; a linear gradient is looked for where `mayBeLinear`. */
export function fitSamples(samples: Samples, mayBeLinear: boolean, total: number, lambda: number): Fit | null {
  const cost = (error: number, knots: number) => (error * total) / samples.x.length + knots * stopWorth * lambda;
  const round = fitRound(samples, cost);
  return (mayBeLinear ? fitStraight(samples, cost, round?.cost ?? Number.POSITIVE_INFINITY) : null) ?? round;
}

/** The linear gradient of two stops nearest to sampled pixels; null where they hardly change in one direction. */
export function fitPlain(samples: Samples): Radial | null {
  const angle = steepest(samples);
  return angle === null ? null : alongWay(samples, angle, (error) => error, [2]).radial;
}

function fitRound({ x, y, colours }: Samples, costOf: (error: number, knots: number) => number): Fit | null {
  const start = paraboloidCentre(x, y, colours);
  if (!start) return null;
  const { cx, cy } = bestCentre(start, x, y, colours);
  const distance = new Float64Array(x.length);
  let r = 1;
  for (let i = 0; i < distance.length; i++) {
    const u = x[i] - cx;
    const v = y[i] - cy;
    distance[i] = Math.sqrt(u * u + v * v);
    if (distance[i] > r) r = distance[i];
  }
  let inner = r;
  for (let i = 0; i < distance.length; i++) if (distance[i] < inner) inner = distance[i];
  let best: Fit | null = null;
  for (const [knots, end] of knotPlaces) {
    const { stops, error } = spline(distance, colours, { from: inner, to: inner + (r - inner) * end, count: knots }, r);
    const cost = costOf(error, knots);
    if (!best || cost < best.cost) best = { radial: { cx, cy, r, stops }, cost };
  }
  return best;
}

function fitStraight(samples: Samples, costOf: (error: number, knots: number) => number, least: number): Fit | null {
  const angle = steepest(samples);
  if (angle === null) return null;
  const near = alongWay(samples, angle, costOf);
  if (near.cost >= farMax * least) return null;
  // The means of channels that rise and fall again point elsewhere.
  const knots = near.radial.stops.length / 5;
  let best = near;
  for (let step = turnMax, at = angle; step >= turnMin; step /= 2) {
    for (const turned of [at - step, at + step]) {
      const found = alongWay(samples, turned, costOf, [knots]);
      if (found.cost >= best.cost) continue;
      best = found;
      at = turned;
    }
  }
  const { dx, dy } = best.radial.towards!;
  const found = best === near ? near : alongWay(samples, Math.atan2(dy, dx), costOf);
  return found.cost < least ? found : null;
}

/** How much dearer than a radial gradient one may be before its direction is bettered. */
const farMax = 4;

/** How far the direction may be turned, and how finely it is told, radians. */
const turnMax = 0.32;
const turnMin = 0.01;

/** The best linear gradient in one direction. */
function alongWay(
  { x, y, colours }: Samples,
  angle: number,
  costOf: (error: number, knots: number) => number,
  counts: readonly number[] = straightKnots,
): Fit {
  const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
  const along = new Float64Array(x.length);
  let from = Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let i = 0; i < along.length; i++) {
    along[i] = x[i] * dx + y[i] * dy;
    sum = sum + x[i] * dy - y[i] * dx;
    if (along[i] < from) from = along[i];
  }
  let to = from + 1;
  for (let i = 0; i < along.length; i++) if (along[i] > to) to = along[i];
  const r = to - from;
  for (let i = 0; i < along.length; i++) along[i] -= from;
  // On the line through the middle of the samples.
  const aside = sum / x.length;
  const [cx, cy] = [from * dx + aside * dy, from * dy - aside * dx];
  const fits = counts.map((knots): Fit => {
    const { stops, error } = spline(along, colours, { from: 0, to: r, count: knots }, r);
    return { radial: { cx, cy, r, stops, towards: { dx, dy } }, cost: costOf(error, knots) };
  });
  return fits.reduce((best, fit) => (fit.cost < best.cost ? fit : best));
}

/** The direction in which the channels together change most, radians; null where they hardly do. */
function steepest({ x, y, colours }: Samples): number | null {
  const n = x.length;
  let mx = 0;
  let my = 0;
  for (let i = 0; i < n; i++) {
    mx += x[i];
    my += y[i];
  }
  mx /= n;
  my /= n;
  let [xx, xy, yy] = [1, 0, 1];
  const [cx, cy] = [new Float64Array(4), new Float64Array(4)];
  for (let i = 0; i < n; i++) {
    const u = x[i] - mx;
    const v = y[i] - my;
    xx += u * u;
    xy += u * v;
    yy += v * v;
    for (let c = 0; c < 4; c++) {
      cx[c] += u * colours[i * 4 + c];
      cy[c] += v * colours[i * 4 + c];
    }
  }
  const inverse = 1 / (xx * yy - xy * xy);
  let gxx = 0;
  let gxy = 0;
  let gyy = 0;
  for (let c = 0; c < 4; c++) {
    const gx = (cx[c] * yy - cy[c] * xy) * inverse;
    const gy = (cy[c] * xx - cx[c] * xy) * inverse;
    gxx += gx * gx;
    gxy += gx * gy;
    gyy += gy * gy;
  }
  if ((gxx * xx + gyy * yy) / n < bendMin) return null;
  return 0.5 * Math.atan2(2 * gxy, gxx - gyy);
}

/** Squared error a radial gradient leaves over sampled pixels. */
export function radialError(radial: Radial, samples: Int32Array, pixels: Uint8Array, width: number): number {
  let sum = 0;
  for (const p of samples) {
    radialColour(radial, (p % width) + 0.5, Math.floor(p / width) + 0.5, colour);
    for (let c = 0; c < 4; c++) {
      const off = colour[c] - pixels[p * 4 + c];
      sum += off * off;
    }
  }
  return sum;
}

const colour = new Float64Array(4);

/** The four channels of a radial gradient at a place, into `out`. */
export function radialColour({ cx, cy, r, stops, towards }: Radial, x: number, y: number, out: Float64Array): void {
  const far = towards ? (x - cx) * towards.dx + (y - cy) * towards.dy : Math.sqrt((x - cx) ** 2 + (y - cy) ** 2);
  const t = far / r;
  let at = 0;
  while (at + 10 < stops.length && stops[at + 5] < t) at += 5;
  const from = stops[at];
  const share = Math.max(0, Math.min(1, (t - from) / (stops[at + 5] - from)));
  for (let c = 1; c <= 4; c++) out[c - 1] = stops[at + c] * (1 - share) + stops[at + 5 + c] * share;
}

/** Where c = c0 + bx·x + by·y + d·(x² + y²), fitted to all channels, has its common middle. */
function paraboloidCentre(x: Float64Array, y: Float64Array, colours: Float64Array): { cx: number; cy: number } | null {
  const n = x.length;
  let mx = 0;
  let my = 0;
  for (let i = 0; i < n; i++) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  const normal = new Float64Array(16);
  const right = new Float64Array(16);
  const basis = new Float64Array(4);
  let spread = 0;
  for (let i = 0; i < n; i++) spread += (x[i] - mx) ** 2 + (y[i] - my) ** 2;
  const scale = Math.sqrt(spread / n) || 1;
  for (let i = 0; i < n; i++) {
    const u = (x[i] - mx) / scale;
    const v = (y[i] - my) / scale;
    basis[0] = 1;
    basis[1] = u;
    basis[2] = v;
    basis[3] = u * u + v * v;
    for (let a = 0; a < 4; a++) {
      for (let b = 0; b < 4; b++) normal[a * 4 + b] += basis[a] * basis[b];
      for (let c = 0; c < 4; c++) right[a * 4 + c] += basis[a] * colours[i * 4 + c];
    }
  }
  if (!solve(normal, right, 4, 4)) return null;
  let bend = 0;
  let bx = 0;
  let by = 0;
  for (let c = 0; c < 4; c++) {
    const d = right[12 + c];
    bend += d * d;
    bx += right[4 + c] * d;
    by += right[8 + c] * d;
  }
  if (bend < bendMin) return null;
  const cx = -bx / (2 * bend);
  const cy = -by / (2 * bend);
  // A centre far outside is a plane in all but name.
  if (cx * cx + cy * cy > centreMax * centreMax) return null;
  return { cx: mx + cx * scale, cy: my + cy * scale };
}

/** Least bend, squared levels over the samples' own spread. */
const bendMin = 4;
/** Farthest centre, in standard deviations of the samples. */
const centreMax = 4;

function bestCentre(start: { cx: number; cy: number }, x: Float64Array, y: Float64Array, colours: Float64Array) {
  let { cx, cy } = start;
  const reach = x.reduce((most, px, i) => Math.max(most, Math.abs(px - cx), Math.abs(y[i] - cy)), 1);
  let least = ringSpread(cx, cy, x, y, colours);
  for (let step = reach / 8; step > reach / 150; step /= 2) {
    for (let moved = true, moves = 0; moved && moves < 4; moves++) {
      moved = false;
      for (const [dx, dy] of [
        [step, 0],
        [-step, 0],
        [0, step],
        [0, -step],
      ] as const) {
        const spread = ringSpread(cx + dx, cy + dy, x, y, colours);
        if (spread >= least) continue;
        least = spread;
        cx += dx;
        cy += dy;
        moved = true;
      }
    }
  }
  return { cx, cy };
}

const ring = new Float64Array(bins * 9);

/** Squared error of the samples about a line through each ring of equal width: small when the rings are round theirs. */
function ringSpread(cx: number, cy: number, x: Float64Array, y: Float64Array, colours: Float64Array): number {
  const n = x.length;
  let most = 1;
  for (let i = 0; i < n; i++) {
    const u = x[i] - cx;
    const v = y[i] - cy;
    most = Math.max(most, u * u + v * v);
  }
  const scale = bins / (Math.sqrt(most) * 1.0001);
  ring.fill(0);
  let squares = 0;
  for (let i = 0; i < n; i++) {
    const u = x[i] - cx;
    const v = y[i] - cy;
    const at = Math.floor(Math.sqrt(u * u + v * v) * scale) * 9;
    ring[at] += 1;
    for (let c = 0; c < 4; c++) {
      const v = colours[i * 4 + c];
      ring[at + 1 + c] += v;
      squares += v * v;
    }
  }
  let explained = 0;
  for (let at = 0; at < ring.length; at += 9) {
    if (ring[at] === 0) continue;
    for (let c = 1; c <= 4; c++) explained += ring[at + c] ** 2 / ring[at];
  }
  return squares - explained;
}
