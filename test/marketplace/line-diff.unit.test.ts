import fc from "fast-check";
import { expect, test } from "vitest";
import { lineDiff, nearChanges } from "../../marketplace/drafts/line-diff.ts";

const texts = fc
  .array(fc.constantFrom("a", "b", "c", ""), { maxLength: 30 })
  .map((lines) => lines.map((l) => `${l}\n`).join(""));

test("a diff holds both texts, whole and in order", () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = lineDiff(before, after);
      const side = (without: "+" | "-") =>
        lines
          .filter(({ sign }) => sign !== without)
          .map(({ text }) => `${text}\n`)
          .join("");
      expect(side("+")).toBe(before);
      expect(side("-")).toBe(after);
    }),
  );
});

test("a line that changed is taken away and put there, and all else stays", () => {
  const signs = lineDiff("a\nb\nc\n", "a\nB\nc\nd\n").map(({ sign, text }) => sign + text);
  expect(signs).toEqual([" a", "-b", "+B", " c", "+d"]);
});

test("texts that are too long to compare are shown whole, at once", () => {
  const long = (word: string) => Array.from({ length: 5_000 }, (_, n) => `${word}${n}`).join("\n");
  expect(lineDiff(long("a"), long("b"))).toHaveLength(10_000);
});

test("only the lines near a change are shown, in groups", () => {
  const before = Array.from({ length: 30 }, (_, n) => String(n)).join("\n");
  const groups = nearChanges(lineDiff(before, before.replace("\n3\n", "\nthree\n").replace("\n25\n", "\n")));
  expect(groups.map((group) => group.map(({ sign, text }) => sign + text))).toEqual([
    [" 1", " 2", "-3", "+three", " 4", " 5"],
    [" 23", " 24", "-25", " 26", " 27"],
  ]);
});
