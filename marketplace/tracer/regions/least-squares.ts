/** Where a spline's stops are: `count` of them, evenly from one distance to another. */
interface Knots {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Least-squares linear spline of colour (four channels) over distance; the stops' offsets are shares of `whole`. */
export function spline(
  distance: Float64Array,
  colours: Float64Array,
  { from, to, count: knots }: Knots,
  whole: number,
): { stops: Float64Array; error: number } {
  const normal = new Float64Array(knots * knots);
  const right = new Float64Array(knots * 4);
  let squares = 0;
  const step = (to - from) / (knots - 1) || 1;
  const place = (d: number) => Math.min(knots - 1.000001, (d - from) / step);
  for (let i = 0; i < distance.length; i++) {
    const at = place(distance[i]);
    const k = Math.floor(at);
    const far = at - k;
    const near = 1 - far;
    normal[k * knots + k] += near * near;
    normal[k * knots + k + 1] += near * far;
    normal[(k + 1) * knots + k] += near * far;
    normal[(k + 1) * knots + k + 1] += far * far;
    const r = colours[i * 4];
    const g = colours[i * 4 + 1];
    const b = colours[i * 4 + 2];
    const a = colours[i * 4 + 3];
    squares += r * r + g * g + b * b + a * a;
    const of = k * 4;
    right[of] += near * r;
    right[of + 1] += near * g;
    right[of + 2] += near * b;
    right[of + 3] += near * a;
    right[of + 4] += far * r;
    right[of + 5] += far * g;
    right[of + 6] += far * b;
    right[of + 7] += far * a;
  }
  const sums = { normal: normal.slice(), right: right.slice(), squares };
  // A knot that no sample is near must not run away.
  for (let k = 0; k < knots; k++) normal[k * knots + k] += 1e-3;
  const stops = new Float64Array(knots * 5);
  if (!solve(normal, right, knots, 4)) return { stops, error: Number.POSITIVE_INFINITY };
  for (let k = 0; k < knots; k++) {
    stops[k * 5] = (from + k * step) / whole;
    for (let c = 0; c < 4; c++) stops[k * 5 + 1 + c] = Math.max(0, Math.min(255, right[k * 4 + c]));
  }
  return { stops, error: missed(stops, knots, sums) };
}

/** The squared error that these stops leave, from the sums they were found by. */
function missed(stops: Float64Array, knots: number, { normal, right, squares }: Sums): number {
  let error = squares;
  for (let c = 0; c < 4; c++) {
    for (let k = 0; k < knots; k++) {
      const here = stops[k * 5 + 1 + c];
      // Only neighbouring knots share samples.
      const next = k + 1 < knots ? 2 * normal[k * knots + k + 1] * stops[k * 5 + 6 + c] : 0;
      error += here * (normal[k * knots + k] * here + next - 2 * right[k * 4 + c]);
    }
  }
  return Math.max(0, error);
}

interface Sums {
  readonly normal: Float64Array;
  readonly right: Float64Array;
  /** Squares of the samples' own levels. */
  readonly squares: number;
}

/** Solves A·X = B by elimination with pivots; X replaces B (`columns` right-hand sides). False when A is singular. */
export function solve(a: Float64Array, b: Float64Array, n: number, columns: number): boolean {
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(a[i * n + k]) > Math.abs(a[pivot * n + k])) pivot = i;
    if (Math.abs(a[pivot * n + k]) < 1e-9) return false;
    if (pivot !== k) {
      for (let j = 0; j < n; j++) swap(a, k * n + j, pivot * n + j);
      for (let j = 0; j < columns; j++) swap(b, k * columns + j, pivot * columns + j);
    }
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const f = a[i * n + k] / a[k * n + k];
      if (f === 0) continue;
      for (let j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
      for (let j = 0; j < columns; j++) b[i * columns + j] -= f * b[k * columns + j];
    }
  }
  for (let k = 0; k < n; k++) for (let j = 0; j < columns; j++) b[k * columns + j] /= a[k * n + k];
  return true;
}

function swap(numbers: Float64Array, i: number, j: number): void {
  const kept = numbers[i];
  numbers[i] = numbers[j];
  numbers[j] = kept;
}
