import fc from "fast-check";
import { expect, test } from "vitest";
import { indentedJson, readableJson } from "../../shared/page/indented-json.ts";

test("is what JSON.stringify writes with indents of two, or the beginning of it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat({ max: 200 }), (value, most) => {
      const whole = JSON.stringify(value, undefined, 2);
      expect(indentedJson(value, most)).toEqual({ text: whole.slice(0, most), isCut: whole.length > most });
      expect(readableJson(value, most)).toBe(whole.length > most ? JSON.stringify(value) : whole);
    }),
  );
});

test("reads no more of a value than it writes", () => {
  let reads = 0;
  const item = () => Object.defineProperty({}, "a", { enumerable: true, get: () => (reads += 1) });
  let value: unknown = Array.from({ length: 10_000 }, item);
  for (let depth = 0; depth < 90; depth += 1) value = [value];
  expect(indentedJson(value, 20_000)).toMatchObject({ isCut: true });
  expect(reads).toBeLessThan(100);
  expect(indentedJson("x".repeat(1_000_000), 5)).toEqual({ text: '"xxxx', isCut: true });
});
