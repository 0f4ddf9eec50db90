import { expect, test } from "vitest";
import { jsonShown, jsonWritten } from "../../../marketplace/web/console/build/json-setting.ts";
import { processorMs } from "../../support/processor-time.ts";

test("whatever a setting holds stands in its box so that the same is read from it", () => {
  const texts = [
    "",
    "hello {{text}}",
    '"{{text}}"',
    "42",
    "true",
    "null",
    "12345678901234567890",
    " 42 ",
    '"42"',
    '"a',
  ];
  const odd = ["\nfirst", "a\rb", '{"a":"{{text}}"}', "[1]", "[12345678901234567890]", '"\\"42\\""', '"', '""', "{"];
  const others = [42, -0.5, 1e21, true, false, null, [], {}, [null, "42"], { a: { b: ["\n", 12.5] } }];
  for (const value of [...texts, ...odd, ...odd.map((text) => JSON.stringify(text)), ...others]) {
    expect(jsonWritten(jsonShown(value)), JSON.stringify(value)).toEqual(value);
  }
  expect(jsonShown(undefined)).toBe("");
});

test("what is JSON is taken for it, unless a number of it would change: that stays as it was written", () => {
  expect(jsonWritten('{"a": [1.50, 1e3, -2E-2, 0.1, "9007199254740993"]}')).toEqual({
    a: [1.5, 1000, -0.02, 0.1, "9007199254740993"],
  });
  expect([jsonWritten("42"), jsonWritten(" true ")]).toEqual([42, true]);
  for (const text of ["12345678901234567890", '{"id": 9007199254740993}', "[1e999]", "0.12345678901234567890"]) {
    expect(jsonWritten(text)).toBe(text);
  }
});

test("a quoted text keeps its quotes, and is shown as it was written", () => {
  expect(jsonWritten('"{{text}}"')).toBe('"{{text}}"');
  expect(jsonShown('"{{text}}"')).toBe('"{{text}}"');
});

test("a number of as many digits as a form has room for is read at once", () => {
  const written = `1${"0".repeat(200_000)}1`;
  expect(processorMs(() => expect(jsonWritten(written)).toBe(written))).toBeLessThan(2_000);
});
