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
  const channels = planes.channels.slice(0, used).map((now, c): Channel => {
    const table = steps(quality, c === 0 ? "luma" : "chroma");
    const [plain, dense] = [leewayPlain, leewayDense].map((share): Leeway => {
      const most = table.map((step) => share * step + rounding);
      return { most, least: Math.min(...most) };
    });
    const [across, down] = [new Float32Array(now.length), new Float32Array(now.length)];
    return { now, source: now.slice(), ahead: now.slice(), across, down, plain, dense };
  });
  for (let round = 0; round < rounds; round++) {
    for (const { first, coloured } of units) {
      if (coloured) climbColours(channels, first, planes);
      else climb(channels[0], first, planes);
    }
    for (const { first, dense, coloured } of units) {
      for (let c = 0; c < (coloured ? 3 : 1); c++) {
        const channel = channels[c];
        descend(channel, first, planes);
        keepLikely(channel, dense ? channel.dense : channel.plain, first, planes, c === 0 ? 1 : planes.unit / 8);
        lookAhead(channel, first, planes);
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

function climb({ ahead, across, down }: Channel, first: number, { unit, stride }: Planes): void {
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

/** Climbs in three channels, which vary together. */
function climbColours([one, two, three]: readonly Channel[], first: number, { unit, stride }: Planes): void {
  const { ahead: a, across: ax, down: ay } = one;
  const { ahead: b, across: bx, down: by } = two;
  const { ahead: c, across: cx, down: cy } = three;
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

function descend({ now, ahead, across, down }: Channel, first: number, { unit, stride }: Planes): void {
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) {
      ahead[p] = now[p];
      now[p] += tau * (across[p] - across[p - 1] + down[p] - down[p - stride]);
    }
  }
}

function lookAhead({ now, ahead }: Channel, first: number, { unit, stride }: Planes): void {
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) ahead[p] = 2 * now[p] - ahead[p];
  }
}

interface Channel {
  readonly now: Float32Array;
  readonly source: Float32Array;
  /** Where the last step led to, gone on by as much again. */
  readonly ahead: Float32Array;
  /** The dual variable. */
  readonly across: Float32Array;
  readonly down: Float32Array;
  /** In plain units and in dense ones. */
  readonly plain: Leeway;
  readonly dense: Leeway;
}

/** How far each frequency may be from the source's, and the least of these. */
interface Leeway {
  readonly most: Float32Array;
  readonly least: number;
}

/** Brings a unit back to the nearest that the source may have come from; its samples are `size` × `size` pixels each. */
function keepLikely(channel: Channel, leeway: Leeway, first: number, { unit, stride }: Planes, size: number): void {
  const step = 8 * size;
  for (let y = 0; y < unit; y += step) {
    for (let x = 0; x < unit; x += step) keepBlock(channel, leeway, first + y * stride + x, stride, size);
  }
}

const block = new Float32Array(64);

function keepBlock(
  { now, source }: Channel,
  { most, least }: Leeway,
  first: number,
  stride: number,
  size: number,
): void {
  let square = 0;
  for (let k = 0, row = first; k < 64; row += stride * size) {
    for (let p = row, end = row + 8 * size; p < end; p += size) {
      let sum = now[p] - source[p];
      if (size === 2) {
        const q = p + stride;
        sum = (sum + now[p + 1] - source[p + 1] + now[q] - source[q] + now[q + 1] - source[q + 1]) / 4;
      }
      block[k++] = sum;
      square += sum * sum;
    }
  }
  // No frequency is stronger than all samples together.
  if (square < least * least) return;
  forward(block);
  let beyond = 0;
  for (let k = 0; k < 64; k++) {
    const off = block[k];
    const may = most[k];
    block[k] = off > may ? off - may : off < -may ? off + may : 0;
    beyond += Math.abs(block[k]);
  }
  if (beyond < 0.5) return;
  inverse(block);
  for (let k = 0, row = first; k < 64; row += stride * size) {
    for (let p = row, end = row + 8 * size; p < end; p += size) {
      const by = block[k++];
      now[p] -= by;
      if (size === 1) continue;
      now[p + 1] -= by;
      now[p + stride] -= by;
      now[p + stride + 1] -= by;
    }
  }
}
