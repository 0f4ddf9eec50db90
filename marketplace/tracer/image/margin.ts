/** Px of nothing around a picture in which what fades out at its borders is seen to end. */
export const margin = 1;

/**
 * Whether something is cut off in its anti-aliasing: a circle as wide as the picture leaves half-clear pixels at its borders,
 * which are the last of it and no things of their own. A shadow that goes on beyond a border is half-clear further in, too.
 */
export function fadesAtBorders(pixels: Uint8Array, width: number, height: number): boolean {
  const alpha = (p: number) => pixels[p * 4 + 3];
  const last = (height - 1) * width;
  let ending = 0;
  let soft = 0;
  const look = (p: number, inward: number) => {
    if (alpha(p) <= clearMax || alpha(p) >= solidMin) return;
    if (alpha(p + inward) >= solidMin) ending++;
    else if (alpha(p + inward) > clearMax) soft++;
  };
  for (let x = 0; x < width; x++) {
    look(x, width);
    look(last + x, -width);
  }
  for (let row = 0; row <= last; row += width) {
    look(row, 1);
    look(row + width - 1, -1);
  }
  return ending > soft;
}

const clearMax = 8;
const solidMin = 247;

/** Premultiplied RGBA with a margin of nothing around it. */
export function withMargin(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const wide = width + 2 * margin;
  const out = new Uint8Array(wide * (height + 2 * margin) * 4);
  for (let y = 0; y < height; y++) {
    out.set(pixels.subarray(y * width * 4, (y + 1) * width * 4), ((y + margin) * wide + margin) * 4);
  }
  return out;
}
