import { forward, inverse } from "./dct.ts";
import type { Planes, Unit } from "./planes.ts";
import { steps } from "./tables.ts";

/**
 * Takes out of some units what JPEG put in: of all pictures that would have been rounded to what is there, nearly that of least
 * total variation, which has neither blocks nor rings. The three channels vary together, so that colour kept at half size
 * gets its edges back from luma.
 *
 * Source: Bredies & Holler, "A Total Variation-Based JPEG Decompression Model" (2012), solved as in Chambolle & Pock, "A
 * First-Order Primal-Dual Algorithm for Convex Problems" (2011). The planes are changed in place.
 */
export function restore(planes: Planes, units: readonly Unit[], quality: number, rounds: number): void {
  const used = units.some(({ coloured }) => coloured) ? 3 : 1;
  const channels = planes.channels.slice(0, used);
  const source = channels.map((channel) => channel.slice());
  const ahead = channels.map((channel) => channel.slice());
  const dual = Array.from({ length: 2 * used }, () => new Float32Array(source[0].length));
  const tables = (["luma", "chroma"] as const).map((of) => steps(quality, of));
  const leeways = [leewayPlain, leewayDense].map((share) =>
    tables.map((table) => table.map((step) => share * step + rounding)),
  );
  for (let round = 0; round < rounds; round++) {
    for (const { first, coloured } of units) {
      if (coloured) climbColours(ahead, dual, first, planes);
      else climb(ahead[0], dual[0], dual[1], first, planes);
    }
    for (const { first, dense, coloured } of units) {
      for (let c = 0; c < (coloured ? 3 : 1); c++) {
        const most = leeways[dense ? 1 : 0][c === 0 ? 0 : 1];
        const channel = { now: channels[c], source: source[c], most };
        descend(channel.now, ahead[c], dual[2 * c], dual[2 * c + 1], first, planes);
        keepLikely(channel, first, planes, c === 0 ? 1 : planes.unit / 8);
        lookAhead(channel.now, ahead[c], first, planes);
      }
    }
  }
}

/** Steps of the descent, levels; that of the ascent is as large as it may be. */
const tau = 4;
const sigma = 1 / (8 * tau);
/**
 * How far a frequency may move, as a share of its step. Half a step is what rounding may have done; that much of it in every
 * frequency at once is not likely, and would take their contrast from thin lines.
 */
const leewayPlain = 0.3;
const leewayDense = 0.12;
/** What the rounding of colours to whole levels does to a frequency, levels. */
const rounding = 0.5;

function climb(
  ahead: Float32Array,
  across: Float32Array,
  down: Float32Array,
  first: number,
  { unit, stride }: Planes,
): void {
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) {
      const u = across[p] + sigma * (ahead[p + 1] - ahead[p]);
      const v = down[p] + sigma * (ahead[p + stride] - ahead[p]);
      const square = u * u + v * v;
      const scale = square > 1 ? 1 / Math.sqrt(square) : 1;
      across[p] = u * scale;
      down[p] = v * scale;
    }
  }
}

/** The same for three channels, which vary together. */
function climbColours(ahead: readonly Float32Array[], dual: readonly Float32Array[], first: number, at: Planes): void {
  const { unit, stride } = at;
  const [a, b, c] = ahead;
  const [ax, ay, bx, by, cx, cy] = dual;
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) {
      const ux = ax[p] + sigma * (a[p + 1] - a[p]);
      const uy = ay[p] + sigma * (a[p + stride] - a[p]);
      const vx = bx[p] + sigma * (b[p + 1] - b[p]);
      const vy = by[p] + sigma * (b[p + stride] - b[p]);
      const wx = cx[p] + sigma * (c[p + 1] - c[p]);
      const wy = cy[p] + sigma * (c[p + stride] - c[p]);
      const square = ux * ux + uy * uy + vx * vx + vy * vy + wx * wx + wy * wy;
      const scale = square > 1 ? 1 / Math.sqrt(square) : 1;
      ax[p] = ux * scale;
      ay[p] = uy * scale;
      bx[p] = vx * scale;
      by[p] = vy * scale;
      cx[p] = wx * scale;
      cy[p] = wy * scale;
    }
  }
}

function descend(
  now: Float32Array,
  ahead: Float32Array,
  across: Float32Array,
  down: Float32Array,
  first: number,
  { unit, stride }: Planes,
): void {
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) {
      ahead[p] = now[p];
      now[p] += tau * (across[p] - across[p - 1] + down[p] - down[p - stride]);
    }
  }
}

function lookAhead(now: Float32Array, ahead: Float32Array, first: number, { unit, stride }: Planes): void {
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) ahead[p] = 2 * now[p] - ahead[p];
  }
}

interface Channel {
  readonly now: Float32Array;
  readonly source: Float32Array;
  /** How far each frequency may be from the source's. */
  readonly most: Float32Array;
}

/** Brings a unit back to the nearest that the source may have come from; its samples are `size` × `size` pixels each. */
function keepLikely(channel: Channel, first: number, { unit, stride }: Planes, size: number): void {
  const step = 8 * size;
  for (let y = 0; y < unit; y += step) {
    for (let x = 0; x < unit; x += step) keepBlock(channel, first + y * stride + x, stride, size);
  }
}

const block = new Float32Array(64);

function keepBlock({ now, source, most }: Channel, first: number, stride: number, size: number): void {
  for (let k = 0; k < 64; k++) {
    const p = first + ((k >> 3) * stride + (k & 7)) * size;
    let sum = now[p] - source[p];
    if (size === 2) {
      const q = p + stride;
      sum = (sum + now[p + 1] - source[p + 1] + now[q] - source[q] + now[q + 1] - source[q + 1]) / 4;
    }
    block[k] = sum;
  }
  forward(block);
  let beyond = 0;
  for (let k = 0; k < 64; k++) {
    const off = block[k];
    const kept = Math.max(-most[k], Math.min(most[k], off));
    block[k] = off - kept;
    beyond += Math.abs(block[k]);
  }
  if (beyond < 0.5) return;
  inverse(block);
  for (let k = 0; k < 64; k++) {
    const p = first + ((k >> 3) * stride + (k & 7)) * size;
    now[p] -= block[k];
    if (size === 1) continue;
    now[p + 1] -= block[k];
    now[p + stride] -= block[k];
    now[p + stride + 1] -= block[k];
  }
}
