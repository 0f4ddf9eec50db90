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
    const c = i * 4;
    const of = k * 4;
    right[of] += near * colours[c];
    right[of + 1] += near * colours[c + 1];
    right[of + 2] += near * colours[c + 2];
    right[of + 3] += near * colours[c + 3];
    right[of + 4] += far * colours[c];
    right[of + 5] += far * colours[c + 1];
    right[of + 6] += far * colours[c + 2];
    right[of + 7] += far * colours[c + 3];
  }
  // A knot that no sample is near must not run away.
  for (let k = 0; k < knots; k++) normal[k * knots + k] += 1e-3;
  const stops = new Float64Array(knots * 5);
  if (!solve(normal, right, knots, 4)) return { stops, error: Number.POSITIVE_INFINITY };
  for (let k = 0; k < knots; k++) {
    stops[k * 5] = (from + k * step) / whole;
    for (let c = 0; c < 4; c++) stops[k * 5 + 1 + c] = Math.max(0, Math.min(255, right[k * 4 + c]));
  }
  let error = 0;
  for (let i = 0; i < distance.length; i++) {
    const at = place(distance[i]);
    const k = Math.floor(at);
    const far = at - k;
    const near = 1 - far;
    const c = i * 4;
    const of = k * 5;
    const r = stops[of + 1] * near + stops[of + 6] * far - colours[c];
    const g = stops[of + 2] * near + stops[of + 7] * far - colours[c + 1];
    const b = stops[of + 3] * near + stops[of + 8] * far - colours[c + 2];
    const a = stops[of + 4] * near + stops[of + 9] * far - colours[c + 3];
    error = error + r * r + g * g + b * b + a * a;
  }
  return { stops, error };
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
