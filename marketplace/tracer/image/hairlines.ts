import { asWords } from "./runs.ts";

/**
 * Step 1b: gives a thin line the one colour it was drawn in. Anti-aliasing leaves a line of about one pixel as a row of
 * stronger and paler pixels, or as two rows of half-tones where it runs between them; each takes the colour of the
 * strongest beside it along the line, and its paleness is read as thinness later (snap.ts). Without this, thin lines
 * come out as dashes.
 *
 * In: premultiplied RGBA after `unblend`; changed in place. Source: ridge test as in Steger, "An Unbiased Detector of
 * Curvilinear Structures" (1998), cut down to the pixel's four opposite pairs.
 */
export function strengthenHairlines(pixels: Uint8Array, width: number, height: number): void {
  const words = asWords(pixels);
  const links = findLinks(pixels, words, width, height);
  if (links.length === 0) return;
  // The pass before which something near each pixel changed last: else it is as it was.
  const changed = new Uint8Array(width * height);
  for (let pass = 0; pass < passesMax; pass++) {
    const changes: number[] = [];
    for (let i = 0; i < links.length; i += 3) {
      const p = links[i];
      if (changed[p] !== pass) continue;
      const across = links[i + 1];
      const span = links[i + 2];
      const q = strongest(pixels, p, across, span, width);
      if (q >= 0) changes.push(p, words[q], across, span);
    }
    for (let i = 0; i < changes.length; i += 4) {
      const p = changes[i];
      words[p] = changes[i + 1];
      if (changes[i + 3] === 2) settleTwin(pixels, words, p, changes[i + 2]);
      for (let row = p - reach * (width + 1); row <= p + reach * (width - 1); row += width)
        for (let q = row; q <= row + 2 * reach; q++) changed[q] = pass + 1;
    }
    if (changes.length === 0) return;
  }
}

const passesMax = 24;
/** How far from a link the pixels that decide about it and those that it changes may lie, together, px. */
const reach = 3;
/** Where more of the picture than this would be thin lines, it is texture. */
const linkShareMax = 0.12;
const contrastSquaredMin = 40 * 40;
/** How unlike the grounds on the two sides of a line may be, squared, as a share of its contrast squared. */
const unlikeMax = 0.1;

/** Triples (pixel, step across the line, width 1 or 2) of pixels in thin lines. */
function findLinks(pixels: Uint8Array, words: Int32Array, width: number, height: number): number[] {
  const links: number[] = [];
  const linksMax = Math.max(3000, linkShareMax * 3 * width * height);
  for (let y = 2; y < height - 2; y++) {
    const end = (y + 1) * width - 2;
    let left = words[y * width + 1];
    let here = words[y * width + 2];
    let right = here;
    for (let p = y * width + 2; p < end; p++, left = here, here = right) {
      right = words[p + 1];
      if (here === left && here === right) continue;
      if (here === words[p - width] && here === words[p + width]) continue;
      if (!stands(pixels, p, p - 1) && !stands(pixels, p, p + 1) && !stands(pixels, p, p - width)) {
        if (!stands(pixels, p, p + width)) continue;
      }
      findRidge(pixels, p, width);
      if (ridge.across === 0) continue;
      links.push(p, ridge.across, ridge.span);
      if (links.length > linksMax) return [];
    }
  }
  return links;
}

/** The step across the line a pixel is in, 0 for none, and how many pixels wide that is. Scratch of `findRidge`. */
const ridge = { across: 0, span: 1, strength: 0 };

function findRidge(pixels: Uint8Array, p: number, width: number): void {
  ridge.across = 0;
  ridge.span = 1;
  ridge.strength = contrastSquaredMin;
  for (let k = 0; k < 6; k++) {
    const step = k === 0 || k === 4 ? 1 : k === 5 ? width : width + k - 2;
    considerRidge(pixels, p, step, k < 4 ? 1 : 2);
    if (k >= 4) considerRidge(pixels, p, -step, 2);
  }
}

function considerRidge(pixels: Uint8Array, p: number, step: number, span: number): void {
  const strength = standing(pixels, p, p - step, p + span * step);
  if (strength <= ridge.strength) return;
  ridge.strength = strength;
  ridge.across = step;
  ridge.span = span;
}

/** Whether two pixels differ enough in any channel for one to be line and the other ground. */
function stands(pixels: Uint8Array, p: number, q: number): boolean {
  const i = p * 4;
  const j = q * 4;
  return (
    Math.abs(pixels[i] - pixels[j]) >= 20 ||
    Math.abs(pixels[i + 1] - pixels[j + 1]) >= 20 ||
    Math.abs(pixels[i + 2] - pixels[j + 2]) >= 20 ||
    Math.abs(pixels[i + 3] - pixels[j + 3]) >= 20
  );
}

/** How far `p` stands out from two like grounds, squared; 0 when they are not alike. */
function standing(pixels: Uint8Array, p: number, one: number, other: number): number {
  let dot = 0;
  let unlike = 0;
  for (let c = 0, i = p * 4, a = one * 4, b = other * 4; c < 4; c++, i++, a++, b++) {
    const u = pixels[i] - pixels[a];
    const v = pixels[i] - pixels[b];
    dot += u * v;
    unlike += (u - v) * (u - v);
  }
  return unlike < dot * unlikeMax ? dot : 0;
}

/**
 * The neighbour along the line that lies farthest beyond `p` on the same colour line; -1 if none clearly does, or if the
 * line does not go on to both sides (then `p` is the tip of something, not a link of a line).
 */
function strongest(pixels: Uint8Array, p: number, across: number, span: number, width: number): number {
  const step = Math.abs(across);
  const ax = step === 1 ? 1 : step - width;
  const ay = step === 1 ? 0 : 1;
  const one = p - across;
  const other = p + span * across;
  let best = -1;
  let most = 1.04;
  let ahead = 0;
  let behind = 0;
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) {
      const side = dx * ay - dy * ax;
      if (side === 0) continue;
      const q = p + dy * width + dx;
      let along = 0;
      let square = 0;
      let length = 0;
      for (let c = 0; c < 4; c++) {
        const ground = (pixels[one * 4 + c] + pixels[other * 4 + c]) / 2;
        const v = pixels[p * 4 + c] - ground;
        const w = pixels[q * 4 + c] - ground;
        along += v * w;
        square += v * v;
        length += w * w;
      }
      if (length - (along * along) / square > 0.05 * length) continue;
      const t = along / square;
      if (side > 0) ahead = Math.max(ahead, t);
      else behind = Math.max(behind, t);
      if (t > most) {
        most = t;
        best = q;
      }
    }
  }
  return Math.min(ahead, behind) > 0.6 ? best : -1;
}

/** The second half-tone of a pair whose first became the line: ground, unless it is mostly line itself. */
function settleTwin(pixels: Uint8Array, words: Int32Array, p: number, across: number): void {
  const twin = p + across;
  const ground = p + 2 * across;
  let along = 0;
  let square = 0;
  for (let c = 0; c < 4; c++) {
    const v = pixels[p * 4 + c] - pixels[ground * 4 + c];
    along += v * (pixels[twin * 4 + c] - pixels[ground * 4 + c]);
    square += v * v;
  }
  words[twin] = along > 0.62 * square ? words[p] : words[ground];
}
