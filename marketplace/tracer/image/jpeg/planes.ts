import type { Raster } from "../raster.ts";

/**
 * A picture as JPEG holds it: luma and two of colour, its sides filled up to whole units with the last pixel, and one sample
 * more all around, so that every sample has four neighbours.
 */
export interface Planes {
  readonly channels: readonly [Float32Array, Float32Array, Float32Array];
  /** Side of a unit, px: 8, or 16 where colour is kept at half size. */
  readonly unit: number;
  readonly across: number;
  readonly down: number;
  /** Samples from one row to the next. */
  readonly stride: number;
}

export function toPlanes({ width, height, rgba }: Raster, unit: number): Planes {
  const across = Math.ceil(width / unit);
  const down = Math.ceil(height / unit);
  const stride = across * unit + 2;
  const size = stride * (down * unit + 2);
  const channels = [new Float32Array(size), new Float32Array(size), new Float32Array(size)] as const;
  for (let row = 0, p = 0; row < down * unit + 2; row++) {
    const line = Math.min(height - 1, Math.max(0, row - 1)) * width;
    for (let column = 0; column < stride; column++, p++) {
      const i = (line + Math.min(width - 1, Math.max(0, column - 1))) * 4;
      const r = rgba[i];
      const g = rgba[i + 1];
      const b = rgba[i + 2];
      channels[0][p] = 0.299 * r + 0.587 * g + 0.114 * b;
      channels[1][p] = -0.168736 * r - 0.331264 * g + 0.5 * b;
      channels[2][p] = 0.5 * r - 0.418688 * g - 0.081312 * b;
    }
  }
  return { channels: [...channels], unit, across, down, stride };
}

/** A square of the planes with something on it. */
export interface Unit {
  readonly x: number;
  readonly y: number;
  /** Its first sample. */
  readonly first: number;
  /** The unit is lettering or texture: much of it is edge. */
  readonly dense: boolean;
  /** The unit's colour varies, not its luma alone. */
  readonly coloured: boolean;
}

/** The units that are not, with the samples around them, of one colour. */
export function unevenUnits(planes: Planes): Unit[] {
  const { channels, unit, across, down, stride } = planes;
  const units: Unit[] = [];
  for (let y = 0; y < down * unit; y += unit) {
    for (let x = 0; x < across * unit; x += unit) {
      const first = (1 + y) * stride + 1 + x;
      const [uneven, ...colours] = channels.map((channel) => isUneven(channel, first, unit, stride));
      const coloured = colours.includes(true);
      if (!uneven && !coloured) continue;
      const dense = edgesOf(channels[0], first, unit, stride) > denseMin * unit * unit;
      units.push({ x, y, first, dense, coloured });
    }
  }
  return units;
}

function isUneven(channel: Float32Array, first: number, unit: number, stride: number): boolean {
  const level = channel[first];
  for (let y = -1; y <= unit; y++) {
    for (let p = first + y * stride - 1, end = p + unit + 2; p < end; p++) {
      if (Math.abs(channel[p] - level) > sameMax) return true;
    }
  }
  return false;
}

/** What the sums of a grey of equal channels may be off. */
const sameMax = 1e-3;

/** How many samples of a unit an edge begins at. */
function edgesOf(luma: Float32Array, first: number, unit: number, stride: number): number {
  let edges = 0;
  for (let y = 0; y < unit; y++) {
    for (let p = first + y * stride, end = p + unit; p < end; p++) {
      if (Math.abs(luma[p] - luma[p + 1]) > edgeMin || Math.abs(luma[p] - luma[p + stride]) > edgeMin) edges++;
    }
  }
  return edges;
}

const edgeMin = 40;
const denseMin = 0.35;

/** The picture with the given units taken from the planes. */
export function withUnits(image: Raster, { channels, unit, stride }: Planes, units: readonly Unit[]): Raster {
  const [luma, blue, red] = channels;
  const out = new Uint8ClampedArray(image.rgba);
  for (const { x, y, first } of units) {
    const right = Math.min(image.width, x + unit);
    const bottom = Math.min(image.height, y + unit);
    for (let row = y; row < bottom; row++) {
      for (
        let p = first + (row - y) * stride, i = (row * image.width + x) * 4;
        i < (row * image.width + right) * 4;
        i += 4
      ) {
        out[i] = luma[p] + 1.402 * red[p];
        out[i + 1] = luma[p] - 0.344136 * blue[p] - 0.714136 * red[p];
        out[i + 2] = luma[p] + 1.772 * blue[p];
        p++;
      }
    }
    for (let c = 0; c < 3; c++) backToEnds(image, out, c, { left: x, top: y, right, bottom });
  }
  return { ...image, rgba: new Uint8Array(out.buffer) };
}

/** What swung beyond black or white was cut off there, so the mean of a unit that touches them is off: undone. */
function backToEnds(
  { width, rgba }: Raster,
  out: Uint8ClampedArray,
  channel: number,
  { left, top, right, bottom }: { left: number; top: number; right: number; bottom: number },
): void {
  let low = 255;
  let high = 0;
  const each = (visit: (i: number) => void) => {
    for (let y = top; y < bottom; y++) for (let x = left; x < right; x++) visit((y * width + x) * 4 + channel);
  };
  each((i) => {
    low = Math.min(low, rgba[i]);
    high = Math.max(high, rgba[i]);
  });
  each((i) => {
    if (high === 255 && out[i] >= 255 - endsWidth) out[i] = 255;
    else if (low === 0 && out[i] <= endsWidth) out[i] = 0;
  });
}

const endsWidth = 5;
