import { expect, test } from "vitest";
import { wholeNumber } from "../../../marketplace/web/console/refusal.ts";

const read = (text: string) => wholeNumber(new URLSearchParams({ credits: text }), "credits");

test.each([
  ["1500", 1_500],
  ["1,500", 1_500],
  ["12 345 678", 12_345_678],
  [" 7 ", 7],
  ["0", 0],
  ["", undefined],
])("a whole number is read as it is usually written: '%s'", (text, value) => {
  expect(read(text)).toBe(value);
});

test.each(["1,5000", "0,500", "1234,567", "1,50", "1.5", "1e3", "-1", "1,,000"])(
  "what is not grouped by thousands is refused, and not taken for another number: '%s'",
  (text) => {
    expect(() => read(text)).toThrow('"credits" must be a whole number.');
  },
);
