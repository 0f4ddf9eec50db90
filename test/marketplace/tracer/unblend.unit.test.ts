import { describe, expect, test } from "vitest";
import { unblend } from "../../../marketplace/tracer/image/unblend.ts";

/** A picture of equal rows, grey, of 12 rows. */
function rows(values: readonly number[]) {
  const height = 12;
  const pixels = new Uint8Array(values.length * height * 4).fill(255);
  for (let p = 0; p < values.length * height; p++) pixels.fill(values[p % values.length]!, p * 4, p * 4 + 3);
  return { pixels, width: values.length, height };
}

function unblended(values: readonly number[]): number[] {
  const { pixels, width, height } = rows(values);
  const row = unblend(pixels, width, height).subarray(6 * width * 4, 7 * width * 4);
  return values.map((_, x) => row[x * 4]!);
}

describe("a blend of two colours becomes one of them", () => {
  test("where an edge is one pixel wide, or three", () => {
    expect(unblended([20, 20, 20, 20, 120, 220, 220, 220, 220])).toEqual([20, 20, 20, 20, 20, 220, 220, 220, 220]);
    const blurred = unblended([20, 20, 20, 20, 70, 120, 170, 220, 220, 220, 220]);
    expect(new Set(blurred)).toEqual(new Set([20, 220]));
  });

  test("beside a thin line", () => {
    expect(new Set(unblended([250, 250, 250, 250, 140, 30, 30, 140, 250, 250, 250, 250]))).toEqual(new Set([250, 30]));
  });
});

test("a blend is one at the borders of the picture, too", () => {
  const { pixels, width, height } = rows([20, 20, 20, 20, 120, 220, 220, 220, 220]);
  const clean = unblend(pixels, width, height);
  for (const row of [0, height - 1]) {
    const values = Array.from({ length: width }, (_, x) => clean[(row * width + x) * 4]);
    expect(values).toEqual([20, 20, 20, 20, 20, 220, 220, 220, 220]);
  }
});

test("shading that goes on stays as it is", () => {
  const shaded = [20, 20, 20, 20, 50, 80, 110, 140, 170, 200, 230, 230, 230, 230];
  expect(unblended(shaded).slice(5, 9)).toEqual(shaded.slice(5, 9));
});
