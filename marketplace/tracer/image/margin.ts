import { asWords } from "./runs.ts";
import { contrastSquaredMin, squaredDistance } from "./unblend.ts";

/** Px of ground around a picture in which what ends at its borders is seen to end. */
export const margin = 1;

/**
 * What a picture goes on with beyond its borders, if something is cut off there in its anti-aliasing: a circle as wide as the
 * picture leaves blends with the ground at its borders, which are the last of it and no things of their own. What goes on beyond
 * a border, such as a shadow, is blended further in, too. A word of `pixels`, premultiplied RGBA; null where nothing ends so.
 */
export function groundBeyond(pixels: Uint8Array, width: number, height: number): number | null {
  if (endsAtBorders(width, height, (p) => pixels[p * 4 + 3] / 255)) return 0;
  const words = asWords(pixels);
  const corners = [0, width - 1, words.length - width, words.length - 1];
  const alike = (p: number) => corners.filter((q) => squaredDistance(pixels, p * 4, q * 4) <= alikeSquaredMax).length;
  const ground = corners.find((p) => alike(p) >= cornersMin);
  if (ground === undefined || Math.min(width, height) < sideMin) return null;
  return endsAtBorders(width, height, (p, thing) => shareOf(pixels, p, ground, thing)) ? words[ground] : null;
}

const sideMin = 8;
/** The others may lie under what is at a border. */
const cornersMin = 3;
const alikeSquaredMax = 200;

/** `share`: of pixel p, how much of it is not ground, where what is next to it is `thing`. */
function endsAtBorders(width: number, height: number, share: (p: number, thing: number) => number): boolean {
  const last = (height - 1) * width;
  let ending = 0;
  let soft = 0;
  let things = 0;
  let isGround = true;
  const look = (p: number, inward: number) => {
    const thing = p + 2 * inward;
    const here = share(p, thing);
    if (isGround && here > groundMax) things++;
    isGround = here <= groundMax;
    if (isGround || here >= thingMin) return;
    const next = share(p + inward, thing);
    if (next >= thingMin) ending++;
    else if (next > groundMax) soft++;
  };
  for (let x = 0; x < width; x++) look(x, width);
  for (let row = 0; row <= last; row += width) look(row + width - 1, -1);
  for (let x = width - 1; x >= 0; x--) look(last + x, -width);
  for (let row = last; row >= 0; row -= width) look(row, 1);
  return ending > soft && things <= thingsMax;
}

/** A pattern goes on beyond the borders. */
const thingsMax = 16;
const groundMax = 0.032;
const thingMin = 0.968;

/** How far pixel `p` is on the way from the colour of `ground` to that of `thing`; 1 where it is not between them. */
function shareOf(pixels: Uint8Array, p: number, ground: number, thing: number): number {
  let along = 0;
  let span = 0;
  let length = 0;
  for (let c = 0; c < 4; c++) {
    const whole = pixels[thing * 4 + c] - pixels[ground * 4 + c];
    const part = pixels[p * 4 + c] - pixels[ground * 4 + c];
    along += part * whole;
    span += whole * whole;
    length += part * part;
  }
  if (length <= alikeSquaredMax) return 0;
  return span < contrastSquaredMin || length - (along * along) / span > 0.02 * span + 40 ? 1 : along / span;
}

/** A picture with a margin of `ground` around it. */
export function withMargin(pixels: Uint8Array, width: number, height: number, ground: number): Uint8Array {
  const wide = width + 2 * margin;
  const out = new Uint8Array(wide * (height + 2 * margin) * 4);
  asWords(out).fill(ground);
  for (let y = 0; y < height; y++) {
    out.set(pixels.subarray(y * width * 4, (y + 1) * width * 4), ((y + margin) * wide + margin) * 4);
  }
  return out;
}
