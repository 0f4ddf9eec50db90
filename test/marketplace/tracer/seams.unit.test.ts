import { describe, expect, test } from "vitest";
import { closeSeams } from "../../../marketplace/tracer/image/seams.ts";
import { trace } from "../../../marketplace/tracer/trace.ts";
import { picture } from "./pictures.ts";

const [dark, pale] = ["#1d4ed8", "#bfdbfe"];

/** Two halves, each ending within the same column of pixels. */
const halves = (left: string, right: string) =>
  picture(
    24,
    12,
    `<rect width="12.5" height="12" fill="${left}"/><rect x="12.5" width="11.5" height="12" fill="${right}"/>`,
  );

function column({ rgba }: { rgba: Uint8Array }, x: number): number[] {
  return [...rgba.subarray((6 * 24 + x) * 4, (6 * 24 + x) * 4 + 4)];
}

describe("what shows between two shapes that were drawn side by side", () => {
  test("is no line: it becomes a blend of the two", () => {
    const image = halves(dark, pale);
    expect(column(image, 12)[3]).toBeLessThan(200);
    closeSeams(image.rgba, 24, 12);
    const [red = 0, , , alpha] = column(image, 12);
    expect(alpha).toBe(255);
    expect(red).toBeGreaterThan(0x1d);
    expect(red).toBeLessThan(0xbf);
  });

  test("leaves two shapes that meet, and nothing between them", () => {
    const { svg } = trace(halves(dark, pale));
    expect(svg.match(/<(?:path|rect|polygon)/g)).toHaveLength(2);
  });

  test("stays where it is a gap: in a shape of one colour, or where more than a quarter shows", () => {
    const image = halves(dark, dark);
    const before = column(image, 12);
    closeSeams(image.rgba, 24, 12);
    expect(column(image, 12)).toEqual(before);
    const apart = picture(
      24,
      12,
      `<rect width="12.2" height="12" fill="${dark}"/><rect x="12.8" width="12" height="12" fill="${pale}"/>`,
    );
    const [, , , alpha] = column(apart, 12);
    closeSeams(apart.rgba, 24, 12);
    expect(column(apart, 12)[3]).toBe(alpha);
  });
});
