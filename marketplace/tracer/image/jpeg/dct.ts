/**
 * The cosine transform of a block of 8 × 8 samples, orthonormal: it keeps lengths. Blocks are 64 numbers, row by row. By even
 * and odd parts, so 32 products an eight samples instead of 64. Source: Rao & Yip, "Discrete Cosine Transform" (1990).
 */
export function forward(block: Float32Array): void {
  for (let i = 0; i < 64; i += 8) forwardEight(block, i, 1);
  for (let i = 0; i < 8; i++) forwardEight(block, i, 8);
}

export function inverse(block: Float32Array): void {
  for (let i = 0; i < 8; i++) inverseEight(block, i, 8);
  for (let i = 0; i < 64; i += 8) inverseEight(block, i, 1);
}

/** cos(kπ/16) / 2, and the share of the mean. */
const [c1, c2, c3, c5, c6, c7] = [1, 2, 3, 5, 6, 7].map((k) => Math.cos((k * Math.PI) / 16) / 2);
const c4 = Math.SQRT1_2 / 2;

function forwardEight(v: Float32Array, at: number, step: number): void {
  const i1 = at + step;
  const i2 = i1 + step;
  const i3 = i2 + step;
  const i4 = i3 + step;
  const i5 = i4 + step;
  const i6 = i5 + step;
  const i7 = i6 + step;
  const s0 = v[at] + v[i7];
  const s1 = v[i1] + v[i6];
  const s2 = v[i2] + v[i5];
  const s3 = v[i3] + v[i4];
  const d0 = v[at] - v[i7];
  const d1 = v[i1] - v[i6];
  const d2 = v[i2] - v[i5];
  const d3 = v[i3] - v[i4];
  v[at] = c4 * (s0 + s1 + s2 + s3);
  v[i4] = c4 * (s0 - s1 - s2 + s3);
  v[i2] = c2 * (s0 - s3) + c6 * (s1 - s2);
  v[i6] = c6 * (s0 - s3) - c2 * (s1 - s2);
  v[i1] = c1 * d0 + c3 * d1 + c5 * d2 + c7 * d3;
  v[i3] = c3 * d0 - c7 * d1 - c1 * d2 - c5 * d3;
  v[i5] = c5 * d0 - c1 * d1 + c7 * d2 + c3 * d3;
  v[i7] = c7 * d0 - c5 * d1 + c3 * d2 - c1 * d3;
}

function inverseEight(v: Float32Array, at: number, step: number): void {
  const i1 = at + step;
  const i2 = i1 + step;
  const i3 = i2 + step;
  const i4 = i3 + step;
  const i5 = i4 + step;
  const i6 = i5 + step;
  const i7 = i6 + step;
  const a = c4 * (v[at] + v[i4]);
  const b = c4 * (v[at] - v[i4]);
  const c = c2 * v[i2] + c6 * v[i6];
  const d = c6 * v[i2] - c2 * v[i6];
  const s0 = a + c;
  const s3 = a - c;
  const s1 = b + d;
  const s2 = b - d;
  const d0 = c1 * v[i1] + c3 * v[i3] + c5 * v[i5] + c7 * v[i7];
  const d1 = c3 * v[i1] - c7 * v[i3] - c1 * v[i5] - c5 * v[i7];
  const d2 = c5 * v[i1] - c1 * v[i3] + c7 * v[i5] + c3 * v[i7];
  const d3 = c7 * v[i1] - c5 * v[i3] + c3 * v[i5] - c1 * v[i7];
  v[at] = s0 + d0;
  v[i7] = s0 - d0;
  v[i1] = s1 + d1;
  v[i6] = s1 - d1;
  v[i2] = s2 + d2;
  v[i5] = s2 - d2;
  v[i3] = s3 + d3;
  v[i4] = s3 - d3;
}
