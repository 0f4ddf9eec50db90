import fc from "fast-check";
import { expect, test } from "vitest";
import { lineDiff, nearChanges } from "../../marketplace/drafts/line-diff.ts";
import { processorMs } from "../support/processor-time.ts";

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

test("as many lines stay as can", () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const kept = lineDiff(before, after).filter(({ sign }) => sign === " ").length;
      expect(kept).toBe(longestCommon(before.split("\n").slice(0, -1), after.split("\n").slice(0, -1)));
    }),
  );
});

/** By comparing every line with every other. */
function longestCommon(old: readonly string[], now: readonly string[]): number {
  let row = new Array<number>(now.length + 1).fill(0);
  for (const line of old) {
    const next = [0];
    now.forEach((other, at) => {
      next.push(line === other ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!));
    });
    row = next;
  }
  return row.at(-1)!;
}

/** Of the least of many times: the processor's caches, which others use too, and the collector make some of them longer. */
function leastMs(work: () => unknown): number {
  return Math.min(...Array.from({ length: 20 }, () => processorMs(work)));
}

test("texts that differ a great deal still hold both, whole and in order, and take little time", () => {
  const random = fc.sample(fc.nat(40), { seed: 7, numRuns: 8_000 }).map(String);
  for (const count of [1_900, 4_000]) {
    const [before, after] = [random.slice(0, count), random.slice(count, 2 * count)].map(
      (lines) => `${lines.join("\n")}\n`,
    );
    const compared = leastMs(() => lineDiff(before!, after!));
    const yardstick = leastMs(() => longestCommon(random.slice(0, 500), random.slice(500, 1_000)));
    expect(compared).toBeLessThan(2 * yardstick);
    const lines = lineDiff(before!, after!);
    const side = (without: string) => lines.filter(({ sign }) => sign !== without).map(({ text }) => `${text}\n`);
    expect(side("+").join("")).toBe(before);
    expect(side("-").join("")).toBe(after);
    // The search found what stays in the first part of both.
    expect(lines.some(({ sign }) => sign === " ")).toBe(true);
  }
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

test("of very many changes the first are shown", () => {
  const lines = lineDiff("a\n".repeat(5_000), "b\n".repeat(5_000));
  expect(nearChanges(lines).flat()).toEqual(lines.slice(0, 2_000));
});
