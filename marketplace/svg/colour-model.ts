/**
 * The colour of an area as a plane: c(x, y) = c0 + gx·x + gy·y for each of four premultiplied channels, so that a smooth
 * gradient is one area. An area is known by its moments alone, and moments of a union are sums.
 *
 * Layout of one area's moments, `stride` doubles: n, Σx, Σy, Σxx, Σxy, Σyy, then Σc, Σcx, Σcy per channel, then Σcc.
 * Source: piecewise-affine Mumford-Shah, e.g. Kiefer, Storath & Weinmann (2020), with the normal equations in closed form.
 */
export const stride = 19;

/** Slopes cost as if the area had this much more variance in x and in y (px²): a thin sliver is flat, not a steep ramp. */
const slopeRidge = 3;

/** Adds up the moments of every area. `labels` may hold -1 for pixels of no area. */
export function moments(pixels: Uint8Array, width: number, height: number, labels: Int32Array, count: number) {
  const sums = new Float64Array(count * stride);
  const words = new Uint32Array(pixels.buffer, pixels.byteOffset, width * height);
  const cx = width / 2;
  const cy = height / 2;
  for (let row = 0; row < height; row++) {
    const y = row + 0.5 - cy;
    const end = (row + 1) * width;
    for (let p = row * width; p < end; ) {
      const label = labels[p]!;
      const first = p;
      let r = 0;
      let g = 0;
      let b = 0;
      let alpha = 0;
      let rx = 0;
      let gx = 0;
      let bx = 0;
      let ax = 0;
      let squares = 0;
      do {
        const word = words[p]!;
        const begun = p;
        do p++;
        while (p < end && words[p] === word && labels[p] === label);
        const n = p - begun;
        const sx = n * ((begun + p) / 2 - row * width - cx);
        const i = begun * 4;
        const vr = pixels[i]!;
        const vg = pixels[i + 1]!;
        const vb = pixels[i + 2]!;
        const va = pixels[i + 3]!;
        r += vr * n;
        g += vg * n;
        b += vb * n;
        alpha += va * n;
        rx += vr * sx;
        gx += vg * sx;
        bx += vb * sx;
        ax += va * sx;
        squares += (vr * vr + vg * vg + vb * vb + va * va) * n;
      } while (p < end && labels[p] === label);
      if (label < 0) continue;
      const n = p - first;
      const x = (first + p) / 2 - row * width - cx;
      const sx = n * x;
      const o = label * stride;
      sums[o] = sums[o]! + n;
      sums[o + 1] = sums[o + 1]! + sx;
      sums[o + 2] = sums[o + 2]! + n * y;
      sums[o + 3] = sums[o + 3]! + sx * x + (n * (n * n - 1)) / 12;
      sums[o + 4] = sums[o + 4]! + sx * y;
      sums[o + 5] = sums[o + 5]! + n * y * y;
      sums[o + 6] = sums[o + 6]! + r;
      sums[o + 7] = sums[o + 7]! + rx;
      sums[o + 8] = sums[o + 8]! + r * y;
      sums[o + 9] = sums[o + 9]! + g;
      sums[o + 10] = sums[o + 10]! + gx;
      sums[o + 11] = sums[o + 11]! + g * y;
      sums[o + 12] = sums[o + 12]! + b;
      sums[o + 13] = sums[o + 13]! + bx;
      sums[o + 14] = sums[o + 14]! + b * y;
      sums[o + 15] = sums[o + 15]! + alpha;
      sums[o + 16] = sums[o + 16]! + ax;
      sums[o + 17] = sums[o + 17]! + alpha * y;
      sums[o + 18] = sums[o + 18]! + squares;
    }
  }
  return sums;
}

/** Squared colour error left by the best plane over one area. */
export function planeError(sums: Float64Array, label: number): number {
  return error(sums, label * stride);
}

/** Squared colour error left by one plane over the union of two areas. */
export function unionError(sums: Float64Array, a: number, b: number): number {
  const i = a * stride;
  const j = b * stride;
  for (let k = 0; k < stride; k++) scratch[k] = sums[i + k]! + sums[j + k]!;
  return error(scratch, 0);
}

const scratch = new Float64Array(stride);

function error(s: Float64Array, o: number): number {
  const n = s[o]!;
  const mx = s[o + 1]! / n;
  const my = s[o + 2]! / n;
  const vxx = s[o + 3]! - s[o + 1]! * mx + n * slopeRidge;
  const vxy = s[o + 4]! - s[o + 1]! * my;
  const vyy = s[o + 5]! - s[o + 2]! * my + n * slopeRidge;
  const inverse = 1 / (vxx * vyy - vxy * vxy);
  let left = s[o + 18]!;
  for (let k = o + 6; k < o + 18; k += 3) {
    const c = s[k]!;
    const bx = s[k + 1]! - mx * c;
    const by = s[k + 2]! - my * c;
    left -= (c * c) / n + (bx * bx * vyy - 2 * bx * by * vxy + by * by * vxx) * inverse;
  }
  return Math.max(left, 0);
}

/**
 * The plane of an area, 12 numbers: per channel the colour at the picture's centre and the slopes per px. Areas whose
 * slopes explain less than `gainMin` of squared error get none; only the channels from `first` on count for that.
 */
export function plane(
  sums: Float64Array,
  label: number,
  gainMin: number,
  out: Float64Array,
  at: number,
  first = 0,
): boolean {
  const o = label * stride;
  const n = sums[o]!;
  const mx = sums[o + 1]! / n;
  const my = sums[o + 2]! / n;
  const vxx = sums[o + 3]! - sums[o + 1]! * mx + n * slopeRidge;
  const vxy = sums[o + 4]! - sums[o + 1]! * my;
  const vyy = sums[o + 5]! - sums[o + 2]! * my + n * slopeRidge;
  const inverse = 1 / (vxx * vyy - vxy * vxy);
  let gain = 0;
  for (let c = 0; c < 4; c++) {
    const k = o + 6 + c * 3;
    const mean = sums[k]! / n;
    const bx = sums[k + 1]! - sums[o + 1]! * mean;
    const by = sums[k + 2]! - sums[o + 2]! * mean;
    const gx = (bx * vyy - by * vxy) * inverse;
    const gy = (by * vxx - bx * vxy) * inverse;
    if (c >= first) gain += gx * bx + gy * by;
    out[at + c * 3] = mean - gx * mx - gy * my;
    out[at + c * 3 + 1] = gx;
    out[at + c * 3 + 2] = gy;
  }
  if (gain >= gainMin) return true;
  for (let c = 0; c < 4; c++) {
    out[at + c * 3] = sums[o + 6 + c * 3]! / n;
    out[at + c * 3 + 1] = 0;
    out[at + c * 3 + 2] = 0;
  }
  return false;
}
