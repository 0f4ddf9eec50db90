/**
 * A photograph as few areas of even colour with clear edges, those that stand out in more detail than the rest: every
 * pixel takes the mean of the most even of the four squares it is a corner of, and the squares are small where the
 * picture is salient. In and out: premultiplied RGBA.
 *
 * Sources: Kuwahara et al., "Processing of RI-angiocardiographic images" (1976); salience as the distance of the blurred
 * picture from its mean colour, Achanta et al., "Frequency-tuned Salient Region Detection" (2009).
 */
export function posterised(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const sums = new Sums(pixels, width, height);
  const salient = salience(sums, width, height);
  const out = new Uint8Array(pixels.length);
  const best = new Float64Array(4);
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      const side = salient[p] >= salientMin ? finest : coarsest;
      let least = Number.POSITIVE_INFINITY;
      for (let corner = 0; corner < 4; corner++) {
        const left = corner % 2 === 0 ? x - side : x;
        const top = corner < 2 ? y - side : y;
        sums.read(left, top, left + side, top + side);
        if (sums.unevenness >= least) continue;
        least = sums.unevenness;
        best.set(sums.mean);
      }
      for (let c = 0; c < 4; c++) out[p * 4 + c] = Math.round(best[c]);
    }
  }
  return out;
}

/** Sides of the squares, px, less one. */
const finest = 2;
const coarsest = 5;
/** From what share of the greatest salience on. */
const salientMin = 0.35;

/** How far the colour around each pixel lies from the picture's mean, as a share of the most. */
function salience(sums: Sums, width: number, height: number): Float32Array {
  const reach = Math.max(2, Math.round(Math.min(width, height) / 40));
  const found = new Float32Array(width * height);
  sums.read(0, 0, width - 1, height - 1);
  const all = Float64Array.from(sums.mean);
  let most = 1;
  for (let y = 0, p = 0; y < height; y++) {
    for (let x = 0; x < width; x++, p++) {
      sums.read(x - reach, y - reach, x + reach, y + reach);
      let distance = 0;
      for (let c = 0; c < 4; c++) distance += (sums.mean[c] - all[c]) ** 2;
      found[p] = Math.sqrt(distance);
      most = Math.max(most, found[p]);
    }
  }
  return found.map((distance) => distance / most);
}

/** Sums of colours and of their squares, over any upright rectangle in one step (Crow 1984). */
class Sums {
  readonly mean = new Float64Array(4);
  /** Squared error of the last rectangle's pixels from their mean, per pixel. */
  unevenness = 0;
  private readonly width: number;
  private readonly height: number;
  private readonly plain: Float64Array;
  private readonly squares: Float64Array;

  constructor(pixels: Uint8Array, width: number, height: number) {
    this.width = width;
    this.height = height;
    const row = width + 1;
    this.plain = new Float64Array(row * (height + 1) * 4);
    this.squares = new Float64Array(row * (height + 1));
    for (let y = 0, i = 0; y < height; y++) {
      for (let x = 0; x < width; x++, i += 4) {
        const at = (y + 1) * row + x + 1;
        let square = 0;
        for (let c = 0; c < 4; c++) {
          const level = pixels[i + c];
          square += level * level;
          this.plain[at * 4 + c] =
            level + this.plain[(at - 1) * 4 + c] + this.plain[(at - row) * 4 + c] - this.plain[(at - row - 1) * 4 + c];
        }
        this.squares[at] = square + this.squares[at - 1] + this.squares[at - row] - this.squares[at - row - 1];
      }
    }
  }

  /** Reads what of a rectangle, its last column and row included, lies in the picture. */
  read(left: number, top: number, right: number, bottom: number): void {
    const { width, height, plain, squares, mean } = this;
    const row = width + 1;
    const x0 = Math.max(0, left);
    const y0 = Math.max(0, top);
    const x1 = Math.min(width, right + 1);
    const y1 = Math.min(height, bottom + 1);
    const n = (x1 - x0) * (y1 - y0);
    const a = y0 * row + x0;
    const b = y0 * row + x1;
    const c = y1 * row + x0;
    const d = y1 * row + x1;
    let square = (squares[d] - squares[b] - squares[c] + squares[a]) / n;
    for (let k = 0; k < 4; k++) {
      mean[k] = (plain[d * 4 + k] - plain[b * 4 + k] - plain[c * 4 + k] + plain[a * 4 + k]) / n;
      square -= mean[k] * mean[k];
    }
    this.unevenness = square;
  }
}
