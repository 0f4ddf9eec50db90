import type { Raster } from "./raster.ts";

/**
 * Ink on white paper: a page as it would be under even light. The light on the paper is the picture with all strokes
 * taken off, and every pixel is seen against it, so that a page in half shadow has one threshold. Null where the picture
 * is ink on white paper already, or has no paper: it is see-through, mostly dark, or drawn in light lines, as a blueprint
 * is. Source: background normalisation as in Gatos et al., "Adaptive degraded document image binarization" (2006), the
 * background by a grey closing.
 */
export function inkOnPaper(image: Raster): Raster | null {
  const { width, height, rgba } = image;
  const luma = new Uint8Array(width * height);
  for (let p = 0, i = 0; p < luma.length; p++, i += 4) {
    if (rgba[i + 3] !== 255) return null;
    luma[p] = Math.round(0.299 * rgba[i] + 0.587 * rgba[i + 1] + 0.114 * rgba[i + 2]);
  }
  if (isLightOnDark(luma, width, height)) return null;
  const reach = Math.max(12, Math.round(Math.min(width, height) / 24));
  const light = closed(luma, width, height, reach);
  const paper = brightest(light);
  fillInk(light, width, height, paper);
  const darkest = light.reduce((least, level) => Math.min(least, level), 255);
  if (paper >= whiteMin && darkest >= evenMin * paper) return null;
  return inOneInk(image, luma, light);
}

/** Paper from this level on is white, and light is even if nowhere less than this share of the most. */
const whiteMin = 250;
const evenMin = 0.94;
/** Seen against the paper, what is at least so light is paper too. */
const paperMin = 0.88;
/** Least share of the picture that is paper. */
const paperShareMin = 0.6;
/** A dark place is in shadow if it is so large, as a share of the picture, and so light, as a share of the paper. */
const shadowShareMin = 0.06;
const shadowMin = 0.18;
const darkMax = 0.75;
const cell = 8;

/** A grey closing: the most within reach, then the least of that, so that dark strokes go and the edges of shadows stay. */
function closed(luma: Uint8Array, width: number, height: number, reach: number): Uint8Array {
  const most = extreme(luma, width, height, reach, 1);
  return extreme(most, width, height, reach, -1);
}

/** Whether more stands out of what is around it by its light than by its darkness: each block is seen against its median. */
function isLightOnDark(luma: Uint8Array, width: number, height: number): boolean {
  const side = Math.max(32, Math.round(Math.min(width, height) / 8));
  let lighter = 0;
  for (let top = 0; top < height; top += side) {
    for (let left = 0; left < width; left += side) {
      const counts = new Int32Array(256);
      const right = Math.min(width, left + side);
      for (let y = top; y < Math.min(height, top + side); y++) {
        for (let p = y * width + left; p < y * width + right; p++) counts[luma[p]]++;
      }
      lighter += lighterIn(counts);
    }
  }
  return lighter > 0;
}

/** Pixels that are clearly lighter than the median, less those that are clearly darker. */
function lighterIn(counts: Int32Array): number {
  const half = counts.reduce((sum, n) => sum + n, 0) / 2;
  let median = 0;
  for (let seen = counts[0]; seen < half; seen += counts[median]) median++;
  const off = (n: number, level: number) =>
    Math.abs(level - median) < clearLevels ? 0 : Math.sign(level - median) * n;
  return counts.reduce((sum, n, level) => sum + off(n, level), 0);
}

const clearLevels = 24;

/** The most (`sign` 1) or the least (-1) of the square around each pixel: along rows, then along columns. */
function extreme(levels: Uint8Array, width: number, height: number, reach: number, sign: 1 | -1): Uint8Array {
  const across = new Uint8Array(levels.length);
  const both = new Uint8Array(levels.length);
  for (let y = 0; y < height; y++) slide(levels, across, { at: y * width, step: 1, count: width }, reach, sign);
  for (let x = 0; x < width; x++) slide(across, both, { at: x, step: width, count: height }, reach, sign);
  return both;
}

interface Line {
  readonly at: number;
  readonly step: number;
  readonly count: number;
}

/** Along one line; the queue holds the places that may yet be the extreme (Lemire 2006). */
function slide(from: Uint8Array, to: Uint8Array, { at, step, count }: Line, reach: number, sign: 1 | -1): void {
  const queue = new Int32Array(count);
  let head = 0;
  let tail = 0;
  for (let i = 0; i < count + reach; i++) {
    if (i < count) {
      const level = sign * from[at + i * step];
      while (tail > head && sign * from[at + queue[tail - 1] * step] <= level) tail--;
      queue[tail++] = i;
    }
    const middle = i - reach;
    if (middle < 0) continue;
    while (queue[head] < middle - reach) head++;
    to[at + middle * step] = from[at + queue[head] * step];
  }
}

/** The level that one pixel in twenty reaches. */
function brightest(levels: Uint8Array): number {
  const counts = new Int32Array(256);
  for (const level of levels) counts[level]++;
  let seen = 0;
  for (let level = 255; level > 0; level--) {
    seen += counts[level];
    if (seen >= levels.length / 20) return level;
  }
  return 0;
}

/** Dark places that are no shadow are ink too wide to be closed: the paper goes on beneath them. */
function fillInk(light: Uint8Array, width: number, height: number, paper: number): void {
  const across = Math.ceil(width / cell);
  const down = Math.ceil(height / cell);
  const at = (c: number) =>
    Math.min(height - 1, Math.floor(c / across) * cell + cell / 2) * width +
    Math.min(width - 1, (c % across) * cell + cell / 2);
  const isDark = (c: number) => light[at(c)] < darkMax * paper;
  const seen = new Uint8Array(across * down);
  for (let first = 0; first < seen.length; first++) {
    if (seen[first] === 1 || !isDark(first)) continue;
    const place = [first];
    seen[first] = 1;
    let sum = 0;
    for (let i = 0; i < place.length; i++) {
      const c = place[i];
      sum += light[at(c)];
      const x = c % across;
      for (const next of [x > 0 ? c - 1 : -1, x < across - 1 ? c + 1 : -1, c - across, c + across]) {
        if (next < 0 || next >= seen.length || seen[next] === 1 || !isDark(next)) continue;
        seen[next] = 1;
        place.push(next);
      }
    }
    const inShadow = place.length >= shadowShareMin * seen.length && sum >= shadowMin * paper * place.length;
    if (!inShadow) for (const c of place) fillCell(light, width, height, c, paper);
  }
}

/** With a cell on each side, as ink ends anywhere in the next. */
function fillCell(light: Uint8Array, width: number, height: number, c: number, paper: number): void {
  const across = Math.ceil(width / cell);
  const left = (c % across) * cell;
  const top = Math.floor(c / across) * cell;
  for (let y = Math.max(0, top - cell); y < Math.min(height, top + 2 * cell); y++) {
    light.fill(paper, y * width + Math.max(0, left - cell), y * width + Math.min(width, left + 2 * cell));
  }
}

/** White paper, and the ink in the one colour it has on the mean; what is half covered stays so. */
function inOneInk({ width, height, rgba }: Raster, luma: Uint8Array, light: Uint8Array): Raster | null {
  const shares = new Float32Array(luma.length);
  const counts = new Int32Array(256);
  let bright = 0;
  for (let p = 0; p < luma.length; p++) {
    shares[p] = Math.min(1, luma[p] / Math.max(1, light[p]));
    if (shares[p] > 0.5) bright++;
    if (shares[p] < paperMin) counts[Math.floor(shares[p] * 255)]++;
  }
  if (bright < paperShareMin * luma.length || bright === luma.length) return null;
  const full = inkShare(counts);
  const ink = [0, 0, 0];
  let n = 0;
  for (let p = 0; p < luma.length; p++) {
    if (shares[p] > full) continue;
    for (let c = 0; c < 3; c++) ink[c] += Math.min(255, (rgba[p * 4 + c] * 255) / Math.max(1, light[p]));
    n++;
  }
  const drawn = new Uint8Array(rgba.length).fill(255);
  for (let p = 0, i = 0; p < luma.length; p++, i += 4) {
    if (shares[p] >= paperMin) continue;
    const covered = Math.min(1, (1 - shares[p]) / (1 - full));
    for (let c = 0; c < 3; c++) drawn[i + c] = Math.round(255 + (ink[c] / n - 255) * covered);
  }
  return { width, height, rgba: drawn };
}

/** The share of the paper's light that full ink has: a fifth of what is inked is as dark. */
function inkShare(counts: Int32Array): number {
  const total = counts.reduce((sum, n) => sum + n, 0);
  let seen = 0;
  for (let level = 0; level < 255; level++) {
    seen += counts[level];
    if (seen >= total / 5) return (level + 1) / 255;
  }
  return 0.5;
}
