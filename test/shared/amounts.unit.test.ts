import fc from "fast-check";
import { expect, test } from "vitest";
import { formatUnits, toSafeNumber } from "../../shared/amounts.ts";

test.each([
  [1_234_567n, 6, "1.234567"],
  [50_000n, 6, "0.05"],
  [1_000_000n, 6, "1"],
  [0n, 6, "0"],
  [-1n, 2, "-0.01"],
  [7n, 0, "7"],
])("%s base units with %s decimals read %s", (value, decimals, text) => {
  expect(formatUnits(value, decimals)).toBe(text);
});

test("no base unit is lost or gained by formatting", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
      fc.integer({ min: 0, max: 30 }),
      (value, decimals) => {
        const [whole = "", fraction = ""] = formatUnits(value, decimals).split(".");
        expect(BigInt(whole + fraction.padEnd(decimals, "0"))).toBe(value);
      },
    ),
  );
});

test("a number that JSON would round is refused", () => {
  expect(() => toSafeNumber(2n ** 53n)).toThrow(RangeError);
  expect(toSafeNumber(2n ** 53n - 1n)).toBe(9_007_199_254_740_991);
});
