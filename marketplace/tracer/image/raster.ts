import { asWords } from "./runs.ts";

/** A decoded bitmap: 8-bit RGBA, straight (not premultiplied) alpha, row by row from the top left, no padding. */
export interface Raster {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8Array;
}

/**
 * RGBA with colour multiplied by alpha: what the picture is on black, plus its alpha. Distances between such pixels are
 * distances between what is seen; a transparent pixel's hidden colour no longer counts. Where nothing is see-through it is
 * the picture's own pixels.
 */
export function premultiply({ rgba }: Raster): Uint8Array {
  if (isOpaque(rgba)) return rgba;
  const out = new Uint8Array(rgba);
  const words = asWords(out);
  for (let i = 3, p = 0; i < out.length; i += 4, p++) {
    const alpha = out[i];
    if (alpha === 255) continue;
    if (alpha === 0) {
      words[p] = 0;
      continue;
    }
    out[i - 3] = Math.round((out[i - 3] * alpha) / 255);
    out[i - 2] = Math.round((out[i - 2] * alpha) / 255);
    out[i - 1] = Math.round((out[i - 1] * alpha) / 255);
  }
  return out;
}

/** Whether nothing of a picture is see-through. */
export function isOpaque(rgba: Uint8Array): boolean {
  const words = asWords(rgba);
  const { length } = words;
  let all = -1;
  let p = 0;
  for (; p + 3 < length && all >> 24 === -1; p += 4) all &= words[p] & words[p + 1] & words[p + 2] & words[p + 3];
  for (; p < length && all >> 24 === -1; p++) all &= words[p];
  return all >> 24 === -1;
}

/** Area-averaged reduction to `width` × `height`, each at most the source's; averages premultiplied, so edges keep no halo. */
export function reduce(source: Raster, width: number, height: number): Raster {
  const pixels = premultiply(source);
  const rows = new Float32Array(width * source.height * 4);
  shorten(
    { samples: pixels, length: source.width, step: 4, lineStep: source.width * 4 },
    { samples: rows, length: width, step: 4, lineStep: width * 4 },
    source.height,
  );
  const both = new Float32Array(width * height * 4);
  shorten(
    { samples: rows, length: source.height, step: width * 4, lineStep: 4 },
    { samples: both, length: height, step: width * 4, lineStep: 4 },
    width,
  );
  const rgba = new Uint8Array(width * height * 4);
  for (let i = 0; i < rgba.length; i += 4) {
    const alpha = both[i + 3];
    const scale = alpha > 0 ? 255 / alpha : 0;
    for (let c = 0; c < 3; c++) rgba[i + c] = Math.min(255, Math.round(both[i + c] * scale));
    rgba[i + 3] = Math.round(alpha);
  }
  return { width, height, rgba };
}

/** Lines of `length` samples of four channels: rows or columns of a picture. */
interface Lines<Samples extends ArrayLike<number>> {
  readonly samples: Samples;
  readonly length: number;
  /** From one sample of a line to the next, and from one line to the next. */
  readonly step: number;
  readonly lineStep: number;
}

/** Shortens each of `count` lines, by coverage: a few at a time, so that what lies side by side in memory is read together. */
function shorten(source: Lines<ArrayLike<number>>, target: Lines<Float32Array>, count: number): void {
  for (let first = 0; first < count; first += linesAtOnce)
    shortenSome(source, target, first, Math.min(count, first + linesAtOnce));
}

const linesAtOnce = 64;

function shortenSome(
  source: Lines<ArrayLike<number>>,
  target: Lines<Float32Array>,
  firstLine: number,
  endLine: number,
): void {
  const { samples: from, length, step, lineStep } = source;
  const { samples: to } = target;
  const ratio = length / target.length;
  for (let t = 0; t < target.length; t++) {
    const begin = t * ratio;
    const end = Math.min(length, begin + ratio);
    for (let s = Math.floor(begin); s < end; s++) {
      const weight = (Math.min(end, s + 1) - Math.max(begin, s)) / ratio;
      for (let line = firstLine; line < endLine; line++) {
        const a = line * lineStep + s * step;
        const b = line * target.lineStep + t * target.step;
        to[b] += from[a] * weight;
        to[b + 1] += from[a + 1] * weight;
        to[b + 2] += from[a + 2] * weight;
        to[b + 3] += from[a + 3] * weight;
      }
    }
  }
}
