import { expect, test } from "vitest";
import { Passages } from "../../../marketplace/tracer/regions/passages.ts";
import { noise } from "./pictures.ts";

const values = Float64Array.from(noise(16, 4, 5).rgba.subarray(0, 61));
const places = [0, 7, 8, 30, 60];

/** How far straight passages between values at the places miss the row, squared. */
function missed(at: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 1; i < places.length; i++) {
    const [from, to] = [places[i - 1]!, places[i]!];
    for (let k = i === 1 ? from : from + 1; k <= to; k++) {
      const t = (k - from) / (to - from);
      sum += (values[k]! - at[i - 1]! * (1 - t) - at[i]! * t) ** 2;
    }
  }
  return sum;
}

test("passages miss a row least, in squares: any other values at their places miss it by more", () => {
  const fitted = new Passages(places).fit(values, 0, 1);
  const least = missed(fitted);
  expect(least).toBeLessThan(missed(places.map((k) => values[k]!)));
  for (let i = 0; i < places.length; i++) {
    for (const by of [-0.5, 0.5]) expect(missed(fitted.map((v, k) => (k === i ? v + by : v)))).toBeGreaterThan(least);
  }
});

test("a row that is straight between its places is met exactly, also as a column among others", () => {
  const row = Array.from({ length: 61 }, (_, k) => (k < 30 ? 2 * k : 60 - 3 * (k - 30)));
  const columns = new Float32Array(row.flatMap((v) => [v, 99, 7]));
  const ends = [0, 30, 60];
  for (const fitted of [new Passages(ends).fit(row, 0, 1), new Passages(ends).fit(columns, 0, 3)]) {
    for (const [i, k] of ends.entries()) expect(fitted[i]).toBeCloseTo(row[k]!, 3);
  }
});
