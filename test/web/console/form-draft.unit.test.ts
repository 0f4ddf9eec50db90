import { expect, test } from "vitest";
import { draftOfForm } from "../../../marketplace/web/console/build/form-draft.ts";

const ruleOf = (max: string) => {
  const row = { "f.count": "1", "f.0.name": "amount", "f.0.type": "number", "f.0.max": max };
  return draftOfForm(new URLSearchParams({ connector: "llm", ...row })).definition.fields[0]?.max;
};

test("a number that JavaScript keeps is read as one, however it is written", () => {
  const numbers = ["9007199254740991", "-1000000000000000000", "1e-7", "1E21", "0.1234567890123456", "007", "-1.50"];
  expect(numbers.map(ruleOf)).toEqual(numbers.map(Number));
});

test("what is no number, or would lose digits, stays as it was typed", () => {
  for (const text of ["twelve", "1,5", "0x10", "1e", ".5", "9007199254740993", "1e999", "Infinity", "1 000"]) {
    expect(ruleOf(text)).toBe(text);
  }
});
