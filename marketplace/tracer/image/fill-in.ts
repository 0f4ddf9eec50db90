/**
 * Smooth values where none are known. Source: push-pull, Gortler, Grzeszczuk, Szeliski & Cohen, "The Lumigraph" (1996)
 * §3.3.
 */
export function fillIn(values: Float32Array, known: Uint8Array, width: number, height: number): void {
  if (width <= 1 && height <= 1) return;
  const w = (width + 1) >> 1;
  const h = (height + 1) >> 1;
  const sum = new Float32Array(w * h);
  const n = new Uint8Array(w * h);
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (known[i] === 0) continue;
      const half = (y >> 1) * w + (x >> 1);
      sum[half] += values[i];
      n[half] = 1 + n[half];
    }
  }
  let open = 0;
  for (let i = 0; i < sum.length; i++) {
    if (n[i] > 0) sum[i] /= n[i];
    else open++;
    n[i] = Math.min(1, n[i]);
  }
  if (open > 0) fillIn(sum, n, w, h);
  for (let y = 0, i = 0; y < height; y++) {
    const v = Math.max(0, Math.min(h - 1, (y - 0.5) / 2));
    const y0 = Math.floor(v);
    const y1 = Math.min(h - 1, y0 + 1);
    for (let x = 0; x < width; x++, i++) {
      if (known[i] === 1) continue;
      const u = Math.max(0, Math.min(w - 1, (x - 0.5) / 2));
      const x0 = Math.floor(u);
      const x1 = Math.min(w - 1, x0 + 1);
      const upper = sum[y0 * w + x0] * (1 - u + x0) + sum[y0 * w + x1] * (u - x0);
      const lower = sum[y1 * w + x0] * (1 - u + x0) + sum[y1 * w + x1] * (u - x0);
      values[i] = upper * (1 - v + y0) + lower * (v - y0);
    }
  }
}
