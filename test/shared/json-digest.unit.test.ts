import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { canonicalJson, membersByName } from "../../shared/json.ts";
import { digestOfJson } from "../../shared/json-digest.ts";

test.each([0, 1, 1_000_000, 1_000_001])(
  "a value with %i characters has one digest, in pieces or not",
  async (length) => {
    const most = Math.max(0, length - 1);
    for (const text of [`${"x".repeat(most)}😀é`, '\n"\\😀'.repeat(length / 5)]) {
      const value = { z: [{ text, small: "ü" }], halves: `${"y".repeat(most)}\ud800`, n: 1, none: null };
      expect((await digestOfJson(value)).toString("hex")).toBe(hash("sha256", JSON.stringify(value)));
    }
  },
);

test("a value with long texts has the digest of its canonical JSON, where that is asked for", async () => {
  const text = "😀".repeat(600_000);
  const value = { z: text, a: { c: 1, b: text } };
  expect((await digestOfJson(value, membersByName)).toString("hex")).toBe(hash("sha256", canonicalJson(value)));
});
